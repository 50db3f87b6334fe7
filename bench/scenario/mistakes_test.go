package scenario

import (
	"strings"
	"testing"
)

// TestMistakes adds a line to the smallest scenario, the seventh, and compares
// the error.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"flows 5", `m.bench:7: "flows": is not a directive; these are: about, proxies, rounds, metric, goal, let, case, vary, server, reflect, client, syn, program, members, copies, loops, network, penstock, haproxy, nginx, without, every, memory, warm, for, settle, allow, ghosts`},
		{"about b", `m.bench:7: about "b": is there already, in line 2`},
		{"vary", `m.bench:7: vary "": must be a text`},
		{"rounds 0", `m.bench:7: rounds "0": must be a number from 1 to 1000`},
		{"rounds three", `m.bench:7: rounds "three": must be a number from 1 to 1000`},
		{"members 1001", `m.bench:7: members "1001": must be a number from 1 to 1000`},
		{"copies 101", `m.bench:7: copies "101": must be a number from 1 to 100`},
		{"loops", `m.bench:7: loops "": must be a number from 1 to 1024`},
		{"warm -1s", `m.bench:7: warm "-1s": must be a time from 0s to 1h0m0s, such as 500ms or 3s`},
		{"for 0s", `m.bench:7: for "0s": must be a time from 1ms to 1h0m0s, such as 500ms or 3s`},
		{"for 3", `m.bench:7: for "3": must be a time from 1ms to 1h0m0s, such as 500ms or 3s`},
		{"settle 2h", `m.bench:7: settle "2h": must be a time from 0s to 1h0m0s, such as 500ms or 3s`},
		{"memory all", `m.bench:7: memory "all": must be parked or pairs, and one more for who comes last, if they are measured`},
		{"every 200ms", `m.bench:7: every "200ms": must be a time, then "reload", then the limits of members that reloads set in turn, if any`},
		{"every soon reload", `m.bench:7: every "soon": must be a time from 1ms to 1h0m0s, such as 500ms or 3s`},
		{"every 1s reload 4 0", `m.bench:7: every "0": must be a number from 1 to 1000000`},
		{"allow served", `m.bench:7: allow "served": must be one of gave-up, reset, empty, truncated, excess, wrong, refused, timeout, overdue, local`},
		{"ghosts some", `m.bench:7: ghosts "some": must be any or a number from 0 to 1000000`},
		{"metric Gb/s", `m.bench:7: metric "Gb/s": is better if more: must be followed by "more"`},
		{"metric p99 ms more", `m.bench:7: metric "p99 ms": is better if less: must not be followed by "more"`},
		{"metric conn/s more", `m.bench:7: metric "conn/s": is there already`},
		{"metric p99 µs", `m.bench:7: metric "p99 µs": must be one of conn/s, req/s, Gb/s, CPU µs/conn, CPU µs/req, CPU s/GB, CPU µs/packet, machine µs/conn, machine µs/req, machine s/GB, p50 ms, p99 ms, p99.9 ms, wait p50 ms, wait p99 ms, handover p50 µs, handover p99 µs, B/client, B/pair, fds/client, fds/pair, served %, carried %, gave up %, of capacity %, ghosts, overtaken %, behind ms, fairness, lag p99 µs, SYN/s, lost %, CPU µs/SYN, SYN-ACK p50 µs, SYN-ACK p99 µs, SYN-ACK p99.9 µs, first byte p50 µs, first byte p99 µs (p99 ms may be followed by a client's name)`},
		{"metric p99 ms heavy", `m.bench: metric p99 ms heavy: "heavy": must be the name of a client`},
		{"goal conn/s > 1", `m.bench:7: goal "conn/s > 1": must be METRIC >= or <= NUMBER, then the proxy to be compared with, if any, and "in" and a case, if not all, or two with a / between, if none is compared with`},
		{"goal conn/s >= 1 nginx or haproxy", `m.bench:7: goal "conn/s >= 1 nginx or haproxy": must be METRIC >= or <= NUMBER, then the proxy to be compared with, if any, and "in" and a case, if not all, or two with a / between, if none is compared with`},
		{"goal conn/s >= NaN", `m.bench:7: goal "NaN": must be a number from 0 to 1e18`},
		{"goal conn/s >= -1", `m.bench:7: goal "-1": must be a number from 0 to 1e18`},
		{"goal p99 ms <= 1", `m.bench: goal "p99 ms": must be one of the metrics of this file`},
		{"goal conn/s >= 1 nginx", `m.bench: goal conn/s: "nginx": must be one of the proxies of this file: penstock`},
		{"goal conn/s >= 1 in 1k", `m.bench: goal conn/s: "1k": must be one of the cases of this file`},
		{"case 1k\ngoal conn/s >= 1 in 1k/2k", `m.bench: goal conn/s: "2k": must be one of the cases of this file`},
		{"goal conn/s >= 1 penstock in 1k/2k", `m.bench:7: goal "conn/s >= 1 penstock in 1k/2k": must be METRIC >= or <= NUMBER, then the proxy to be compared with, if any, and "in" and a case, if not all, or two with a / between, if none is compared with`},
		{"without penstock", `m.bench: without: "penstock": must be one of the proxies of this file, and not the first: penstock`},
		{"without nginx", `m.bench: without: "nginx": must be one of the proxies of this file, and not the first: penstock`},
		{"network tap", `m.bench:7: network "tap": must be loopback, link or links`},
		{"network link\ncopies 2", `m.bench: copies: "2": must be 1 with network link: a link has one proxy at its end`},
		{"syn -work hold", `m.bench: syn needs network link: its clients are no host's of loopback`},
		{"memory parked pairs pairs", `m.bench:7: memory "parked pairs pairs": must be parked or pairs, and one more for who comes last, if they are measured`},
		{"memory pairs parked\nclient b -work keep", `m.bench: memory: "pairs parked": needs a client that holds behind one that does not`},
		{"network links\ncopies 2", `m.bench: copies: "2": must be 1 with network link: a link has one proxy at its end`},
		{"network links\nreflect -then close", `m.bench:8: reflect "-then close": flag provided but not defined: -then`},
		{"network links\nreflect -device tap0", `m.bench:8: reflect "-device": is not for a scenario: it is set when that runs`},
		{"network links\nreflect -request 5 -response 5", `m.bench:8: reflect -response 5: must differ by 2 from that of a request, 5: connections are told by the difference`},
		{"network links\nreflect a b", `m.bench:8: reflect "b": must be a flag of penbench reflect: only one name may come before`},
		{"network link\nreflect a", `m.bench: reflect needs network links: it is no host of loopback`},
		{"network links\nreflect a", `m.bench: reflect must be the only server, with one member: it answers for all that comes`},
		{"network link\nsyn a b", `m.bench:8: syn "b": must be a flag of penbench syn: only one name may come before`},
		{"network link\nsyn -device tap0", `m.bench:8: syn "-device": is not for a scenario: it is set when that runs`},
		{"network link\nsyn -from 8.8.8.0/24", `m.bench:8: syn -from 8.8.8.0/24: must be in 198.18.0.0/15, or private, and have at least 4 addresses`},
		{"let a=1 a=2", `m.bench:7: let "a=2": is there already`},
		{"let a", `m.bench:7: let "a": must be VAR=VALUE, with only letters, digits and _ in VAR`},
		{"let é=1", `m.bench:7: let "é=1": must be VAR=VALUE, with only letters, digits and _ in VAR`},
		{`let a="1`, `m.bench:7: let "a=\"1": has no second "`},
		{"case", `m.bench:7: case "": must begin with a name, which must begin with a letter or a digit, and have only these and . _ - in it`},
		{"case a x=far", `m.bench:7: case "x=far": must be a number from -1e18 to 1e18`},
		{"case a\ncase a", `m.bench:8: case "a": is there already`},
		{"warm $w", `m.bench:7: warm "$w": is not a variable (there are none)`},
		{"let v=1 a=2\nwarm ${w}", `m.bench:8: warm "$w": is not a variable (known: $a, $v)`},
		{"case a w=1s\nrounds $w", `m.bench:8: rounds "$w": is not a variable (there are none)`},
		{"haproxy", `m.bench:7: haproxy "": must be a line for haproxy`},
		{"program core", `m.bench: server and client can't be with program`},
		{"program -waiting 5", `m.bench:7: program "-waiting 5": must be a command of penbench, and its flags`},
		{"server a b -then stay", `m.bench:7: server "b": must be a flag of penbench server: only one name may come before`},
		{"server a\nserver a", `m.bench:8: server "a": is a server already`},
		{"server a/b", `m.bench:7: server "a/b": is a name, which must begin with a letter or a digit, and have only these and . _ - in it`},
		{"server -listen :1", `m.bench:7: server "-listen": is not for a scenario: it is set when that runs`},
		{"client a b", `m.bench:7: client "b": must be a flag of penbench client: only a name and xN may come before`},
		{"client a x0", `m.bench:7: client "x0": must be x and a number from 1 to 1000`},
		{"client a\nclient a", `m.bench:8: client "a": is a client already`},
		{"client --target=:1", `m.bench:7: client "--target=:1": is not for a scenario: it is set when that runs`},
		{`client -work "short`, `m.bench:7: client "-work \"short": has no second "`},
		{"proxies haproxy", `m.bench:7: proxies "haproxy": is there already, in line 3`},
	} {
		if _, err := Parse("m", least+c.line); err == nil || err.Error() != c.want {
			t.Errorf("%s\nsays  %v\nwants %s", c.line, err, c.want)
		}
	}
}

// TestMissing leaves lines of the smallest scenario out.
func TestMissing(t *testing.T) {
	for _, c := range []struct{ without, want string }{
		{"# Why.\n", `m.bench: must begin with a comment that says why`},
		{"about    a\n", `m.bench: about is missing`},
		{"proxies  penstock\n", `m.bench: proxies is missing`},
		{"metric   conn/s more\n", `m.bench: metric is missing`},
		{"server   -then close\n", `m.bench: server is missing`},
		{"client   -work short\n", `m.bench: client is missing`},
		{least, "m.bench: must begin with a comment that says why\nm.bench: about is missing\nm.bench: proxies is missing\nm.bench: metric is missing\nm.bench: server is missing"},
	} {
		if _, err := Parse("m", strings.Replace(least, c.without, "", 1)); err == nil || err.Error() != c.want {
			t.Errorf("without %q\nsays  %v\nwants %s", c.without, err, c.want)
		}
	}
}

// TestAllMistakes are named at once, each once over all cases.
func TestAllMistakes(t *testing.T) {
	_, err := Parse("m", least+"case a\ncase b\nwarm soon\nfor $x\nloops 0\nproxies nginx nginx")
	want := `m.bench:12: proxies "nginx nginx": is there already, in line 3
m.bench:9: warm "soon": must be a time from 0s to 1h0m0s, such as 500ms or 3s
m.bench:10: for "$x": is not a variable (there are none)
m.bench:11: loops "0": must be a number from 1 to 1024`
	if err == nil || err.Error() != want {
		t.Errorf("says\n%v\nwants\n%s", err, want)
	}
}

// FuzzParse holds that no text makes it panic, and that what it takes is within
// bounds and complete.
func FuzzParse(f *testing.F) {
	f.Add(whole, "flows", "7")
	f.Add(least, "", "")
	f.Add("# w\nabout $$ ${ $\nlet a=\"b c\" d=\ncase x a=1\nserver \"\" -\nclient x2 x2\n", "a", "$a")
	f.Fuzz(func(t *testing.T, text, name, value string) {
		given := Variable{name, value}
		s, err := Parse("f", text, given)
		if err != nil {
			for _, l := range strings.Split(err.Error(), "\n") {
				if !strings.HasPrefix(l, "f.bench:") {
					t.Errorf("no file in %q", l)
				}
			}
			return
		}
		if s.Why == "" || s.About == "" || len(s.Metrics) == 0 || len(s.Cases) == 0 {
			t.Errorf("incomplete: %+v", s)
		}
		for _, c := range s.Cases {
			if len(c.Program) == 0 && (len(c.Servers) == 0 || len(c.Clients) == 0) || c.Copies < 1 || c.Members < 1 || c.Loops < 1 || c.For <= 0 {
				t.Errorf("incomplete: %+v", c)
			}
		}
	})
}
