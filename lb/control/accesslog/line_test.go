package accesslog

import (
	"bytes"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"penstock/stack/proxy"
)

func names() *atomic.Pointer[Names] {
	p := new(atomic.Pointer[Names])
	p.Store(&testNames)
	return p
}

var testNames = Names{
	Virtuals: []string{"web", "mail"}, Pools: []string{"app", "mx"},
	Members: []string{"10.0.0.1:80", "[::1]:25"}, MemberPools: []string{"app", "mx"},
}

var at = time.Date(2026, 1, 2, 15, 4, 5, 678901234, time.FixedZone("", 3600))

// TestLine is what people's scripts take apart: the order and the form of
// every field.
func TestLine(t *testing.T) {
	for _, tt := range []struct {
		name       string
		e          proxy.Ended
		text, json string
	}{
		{
			"served after a wait",
			proxy.Ended{
				Accepted: 1500 * time.Millisecond, Client: netip.MustParseAddrPort("10.1.2.3:4711"),
				Virtual: 0, Member: 0, Wait: 120 * time.Millisecond, Connect: 214123 * time.Nanosecond,
				Up: 312, Down: 10240, Position: 3, Left: "served", Code: proxy.Served, Closer: "client",
			},
			`time=2026-01-02T14:04:05.678Z msg=conn virtual=web client=10.1.2.3:4711 pool=app member=10.0.0.1:80 wait=120ms connect=214µs total=1.5s up=312 down=10240 position=3 left=served code=-- closer=client`,
			`{"time":"2026-01-02T14:04:05.678Z","msg":"conn","virtual":"web","client":"10.1.2.3:4711","pool":"app","member":"10.0.0.1:80","wait_ms":120,"connect_ms":0.214,"total_ms":1500,"up":312,"down":10240,"position":3,"left":"served","code":"--","closer":"client"}`,
		},
		{
			"refused, no server dialled",
			proxy.Ended{
				Accepted: 12345 * time.Nanosecond, Client: netip.MustParseAddrPort("[2001:db8::1]:80"),
				Virtual: 1, Member: -1, Left: "-", Code: proxy.QueueFull, Closer: "proxy",
			},
			`time=2026-01-02T14:04:05.678Z msg=conn virtual=mail client=[2001:db8::1]:80 pool=mx member=- wait=0s connect=0s total=12µs up=0 down=0 position=0 left=- code=QF closer=proxy`,
			`{"time":"2026-01-02T14:04:05.678Z","msg":"conn","virtual":"mail","client":"[2001:db8::1]:80","pool":"mx","member":"-","wait_ms":0,"connect_ms":0,"total_ms":0.012,"up":0,"down":0,"position":0,"left":"-","code":"QF","closer":"proxy"}`,
		},
		{
			"served by the pool that its virtual server had then",
			proxy.Ended{
				Client:  netip.MustParseAddrPort("10.1.2.3:4711"),
				Virtual: 1, Member: 0, Left: "-", Code: proxy.Served, Closer: "client",
			},
			`time=2026-01-02T14:04:05.678Z msg=conn virtual=mail client=10.1.2.3:4711 pool=app member=10.0.0.1:80 wait=0s connect=0s total=0s up=0 down=0 position=0 left=- code=-- closer=client`,
			`{"time":"2026-01-02T14:04:05.678Z","msg":"conn","virtual":"mail","client":"10.1.2.3:4711","pool":"app","member":"10.0.0.1:80","wait_ms":0,"connect_ms":0,"total_ms":0,"up":0,"down":0,"position":0,"left":"-","code":"--","closer":"client"}`,
		},
		{
			"forwarded: packets, too, behind all that others have",
			proxy.Ended{
				Client: netip.MustParseAddrPort("10.1.2.3:4711"), Up: 1, Down: 2,
				Left: "-", Code: proxy.ServerEnd, Closer: "server", PacketsUp: 1<<32 - 1, PacketsDown: 6,
			},
			`time=2026-01-02T14:04:05.678Z msg=conn virtual=web client=10.1.2.3:4711 pool=app member=10.0.0.1:80 wait=0s connect=0s total=0s up=1 down=2 position=0 left=- code=SC closer=server packets_up=4294967295 packets_down=6`,
			`{"time":"2026-01-02T14:04:05.678Z","msg":"conn","virtual":"web","client":"10.1.2.3:4711","pool":"app","member":"10.0.0.1:80","wait_ms":0,"connect_ms":0,"total_ms":0,"up":1,"down":2,"position":0,"left":"-","code":"SC","closer":"server","packets_up":4294967295,"packets_down":6}`,
		},
		{
			"what has no name, words unheard of, a mapped address",
			proxy.Ended{
				Client:  netip.MustParseAddrPort("[::ffff:10.0.0.9]:1"),
				Virtual: 9, Member: 9, Left: "teleported", Code: proxy.Drained, Closer: "fate",
			},
			`time=2026-01-02T14:04:05.678Z msg=conn virtual=- client=10.0.0.9:1 pool=- member=- wait=0s connect=0s total=0s up=0 down=0 position=0 left=unknown code=DR closer=unknown`,
			`{"time":"2026-01-02T14:04:05.678Z","msg":"conn","virtual":"-","client":"10.0.0.9:1","pool":"-","member":"-","wait_ms":0,"connect_ms":0,"total_ms":0,"up":0,"down":0,"position":0,"left":"unknown","code":"DR","closer":"unknown"}`,
		},
	} {
		for format, want := range map[string]string{"text": tt.text, "json": tt.json} {
			var b bytes.Buffer
			f := newLine(&b, format, names())
			r := newRecord(&tt.e, at)
			if err := f.write(&r); err != nil {
				t.Fatal(err)
			}
			if got := b.String(); got != want+"\n" {
				t.Errorf("%s, %s:\n got %swant %s", tt.name, format, got, want)
			}
		}
	}
}

// All words that proxy says today have an index of their own.
func TestWordsKnown(t *testing.T) {
	for _, w := range []string{"-", "served", "expired", "abandoned", "refused", "failed", "cut", "early", "shed", "flushed"} {
		if index(lefts, w) == 0 {
			t.Errorf("left %q is unknown", w)
		}
	}
	for _, w := range []string{"client", "server", "proxy"} {
		if index(closers, w) == 0 {
			t.Errorf("closer %q is unknown", w)
		}
	}
}

func BenchmarkLine(b *testing.B) {
	for _, format := range []string{"text", "json"} {
		b.Run(format, func(b *testing.B) {
			b.ReportAllocs()
			var out bytes.Buffer
			f := newLine(&out, format, names())
			r := newRecord(&proxy.Ended{Client: netip.MustParseAddrPort("10.1.2.3:4711"), Left: "-"}, at)
			for b.Loop() {
				out.Reset()
				f.write(&r)
			}
		})
	}
}
