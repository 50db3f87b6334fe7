package config

import (
	"reflect"
	"strings"
	"testing"
)

// tapValues has for each key of the device what it is if nobody sets it, and
// then values, with how they are shown.
var tapValues = []struct {
	key, def string
	values   []string // value>shown, or both at once
}{
	{"address", "none", []string{"none", "198.18.0.1/24", "198.18.0.1/31", "198.18.0.0/31", "198.18.0.0/32", "2001:db8::1/64/10.0.0.1/8",
		"::ffff:10.0.0.1/24>10.0.0.1/24", "fe80::1/64"}},
	{"side", "both", []string{"both", "clients"}},
	{"gateway", "none", []string{"none", "198.18.0.254", "::ffff:198.18.0.254>198.18.0.254", "fe80::1/198.18.0.254"}},
	{"mac", "auto", []string{"auto", "02:00:00:00:00:01", "AA-00-00-00-00-01>aa:00:00:00:00:01", "0200.0000.0001>02:00:00:00:00:01"}},
	{"mtu", "0", []string{"0", "576", "1500", "65521"}},
	{"mss", "0", []string{"0", "88", "1460", "65521"}},
	{"rack", "off", []string{"on", "off"}},
	{"congestion-control", "cubic", []string{"reno", "cubic"}},
	{"time-wait", "1s", []string{"100ms", "5>5s", "1m"}},
	{"receive-buffer", "4M", []string{"4K", "4096>4K", "4097", "64M", "1024K>1M"}},
	{"send-buffer", "4M", []string{"4K", "64M"}},
	{"syn-table", "4M", []string{"1", "4194304>4M", "16M"}},
	{"flow-table", "4M", []string{"1", "64K", "16M"}},
}

func TestTapValues(t *testing.T) {
	tap := func(pairs string) *Tap { return mustParse(t, ok, "-tap=tap0"+pairs).Tap }
	if len(tapValues) != len(tapKeys)-1 {
		t.Errorf("%d keys are tested, of %d besides dev", len(tapValues), len(tapKeys)-1)
	}
	for _, tt := range tapValues {
		k := find(tapKeys, tt.key)
		if got := k.get(tap("")); got != tt.def {
			t.Errorf("%s is %s at first, want %s", tt.key, got, tt.def)
		}
		for _, v := range tt.values {
			value, want, differs := strings.Cut(v, ">")
			if !differs {
				want = value
			}
			pairs := "," + tt.key + "=" + value
			if tt.key == "gateway" {
				pairs += ",address=198.18.0.1/24/2001:db8::1/64"
			}
			if got := k.get(tap(pairs)); got != want {
				t.Errorf("%s=%s is %s, want %s", tt.key, value, got, want)
			}
		}
	}
}

// The first word is the device; a command line goes before a file.
func TestTapGiven(t *testing.T) {
	if c := mustParse(t, ok); c.Tap != nil {
		t.Errorf("%+v, though there is none", c.Tap)
	}
	for _, name := range []string{"tap0", "a.b_c-d", "fifteen-letters", "..."} {
		for _, word := range []string{name, "dev=" + name} {
			if c := mustParse(t, ok, "-tap="+word); c.Tap.Device != name {
				t.Errorf("%s is %q", word, c.Tap.Device)
			}
		}
	}
	env := testEnv(map[string]string{"f": "tap tap0,mtu=1400\nlisten :80"})
	c, err := Parse([]string{"-flagfile=f", "-tap=tap1"}, env)
	if err != nil || c.Tap.Device != "tap1" || c.Tap.MTU != 0 {
		t.Errorf("%v, %+v", err, c)
	}
}

func TestTapMistakes(t *testing.T) {
	twice := testEnv(map[string]string{"f": "tap tap0\ntap tap0\nlisten :80"})
	checkMistakes(t, []string{"-flagfile=f"}, twice, []string{`f:2: -tap "tap0": given twice; allowed is once, and once more with side=servers`})
	for _, tt := range []struct{ value, want string }{
		{"sixteen-letters!", `dev="sixteen-letters!": ` + errDevice.Error()},
		{"sixteen-letters-", `dev="sixteen-letters-": ` + errDevice.Error()},
		{"tap%d", `dev="tap%d": ` + errDevice.Error()},
		{"..", `dev="..": ` + errDevice.Error()},
		{"mtu=1500", `dev missing; allowed is dev=NAME`},
		{"tap0,mtu=1500,mtu=1500", `mtu="1500": key given twice; allowed is once`},
		{"tap0,recieve-buffer=4M", `recieve-buffer="4M": unknown key; did you mean receive-buffer? ` + allowedAre("", names(tapKeys))},
		{"tap0,mtu=1279,address=::2/64", `mtu="1279": too small for the IPv6 addresses on it; allowed is 0, or 1280 to 65521`},
	} {
		checkMistakes(t, []string{ok, "-tap", tt.value}, testEnv(nil), []string{"-tap " + quote(tt.value) + ": " + tt.want})
	}
	checkMistakes(t, []string{ok, "-tap", "tap0", "-tap", "tap1"}, testEnv(nil), []string{`-tap "tap1": given twice; allowed is once, and once more with side=servers`})
	loops := "and -tap has a queue for each; allowed is 1 to 256 with -tap"
	checkMistakes(t, []string{ok, "-tap=tap0", "-loops=257"}, testEnv(nil), []string{`-loops "257": makes 257 loops, ` + loops})
	checkMistakes(t, []string{ok, "-tap=tap0"}, Env{Cores: 300}, []string{`-loops "0": makes 300 loops, ` + loops})
	checkMistakes(t, []string{ok, "-tap"}, testEnv(nil), []string{`-tap "": value missing; allowed is -tap NAME[,KEY=VALUE...]`})
}

// What front=tap asks of the rest, and what asks for it.
func TestFrontMistakes(t *testing.T) {
	for _, tt := range []struct{ tap, virtual, want string }{
		{"", "listen=198.18.0.9:80,front=tap", `front="tap": needs a device; allowed is it with -tap NAME, or front=kernel`},
		{"tap0", "listen=:80,front=tap", `listen=":80": ` + "front=tap is for one address; " + errFront.Error()},
		{"tap0", "listen=0.0.0.0:80,front=tap", `listen="0.0.0.0:80": ` + "front=tap is for one address; " + errFront.Error()},
		{"tap0", "listen=[::]:80,front=tap", `listen="[::]:80": ` + "front=tap is for one address; " + errFront.Error()},
		{"tap0", "listen=[::1]:80,front=tap", `listen="[::1]:80": ` + "front=tap is for one address; " + errFront.Error()},
		{"tap0", "listen=127.0.0.2:80,front=tap", `listen="127.0.0.2:80": ` + "front=tap is for one address; " + errFront.Error()},
		{"tap0", "listen=255.255.255.255:80,front=tap", `listen="255.255.255.255:80": ` + "front=tap is for one address; " + errFront.Error()},
		{"tap0", "listen=198.18.0.9:0,front=tap", `listen="198.18.0.9:0": ` + "front=tap is for one address; " + errFront.Error()},
		{"tap0", "listen=198.18.0.9:80,front=tap,refuse=close",
			`refuse="close": with front=tap a client is not connected yet when it is refused; allowed is reset|drop`},
		{"tap0", "listen=198.18.0.9:80,front=tap,refuse=http-503",
			`refuse="http-503": with front=tap a client is not connected yet when it is refused; allowed is reset|drop`},
		{"tap0", "listen=198.18.0.9:80,refuse=drop",
			`refuse="drop": with front=kernel a client is connected before it can be refused; allowed is reset|close|http-503, or front=tap`},
		{"tap0", "listen=198.18.0.9:80,syn-proof=auto",
			`syn-proof="auto": only for front=tap, and this is kernel; allowed is it with front=tap, or not at all`},
		{"tap0", "syn-share=25,listen=198.18.0.9:80,front=kernel",
			`syn-share="25": only for front=tap, and this is kernel; allowed is it with front=tap, or not at all`},
		{"tap0", "listen=198.18.0.9:80,front=nic,syn-proof=off", `front="nic": allowed is kernel|tap`},
		{"tap0", "listen=x,front=tap", `listen="x": ` + errListen.Error()},
		{"tap0,mtu=1000", "listen=[2001:db8::9]:80,front=tap", ""},
	} {
		args := []string{"-pool=p", "-virtual", "v," + tt.virtual}
		want := []string{"-virtual " + quote("v,"+tt.virtual) + ": " + tt.want}
		if tt.tap != "" {
			args = append(args, "-tap="+tt.tap)
		}
		if tt.want == "" {
			want = []string{`-tap "tap0,mtu=1000": mtu="1000": too small for the IPv6 addresses on it; allowed is 0, or 1280 to 65521`}
		}
		checkMistakes(t, args, testEnv(nil), want)
	}
	// Nothing in other words: the device is mistaken, not missing.
	for _, arg := range []string{"-tap=", "-tap=.."} {
		if _, err := Parse([]string{"-pool=p", "-virtual=v,listen=198.18.0.9:80,front=tap", arg}, testEnv(nil)); strings.Contains(err.Error(), "front=") {
			t.Errorf("%s: %v", arg, err)
		}
	}
}

// The kernel's addresses are not those on the device, though all of them are
// meant.
func TestFrontsSideBySide(t *testing.T) {
	for _, tt := range []struct {
		kernel, tap string
		taken       bool
	}{
		{":80", "198.18.0.9:80", false},
		{"0.0.0.0:80", "198.18.0.9:80", false},
		{"[::]:80", "[2001:db8::9]:80", false},
		{"198.18.0.9:80", "198.18.0.9:80", true},
		{"198.18.0.9:80", "[::ffff:198.18.0.9]:80", true},
		{"198.18.0.9:80", "198.18.0.9:81", false},
	} {
		_, err := Parse([]string{"-tap=tap0", "-pool=p", "-virtual=a,listen=" + tt.kernel, "-virtual=b,front=tap,listen=" + tt.tap}, Env{})
		if (err != nil) != tt.taken {
			t.Errorf("%s and %s: %v", tt.kernel, tt.tap, err)
		}
	}
	for _, listens := range [][2]string{{"198.18.0.9:80", "198.18.0.9:80"}} {
		_, err := Parse([]string{"-tap=tap0", "-pool=p", "-virtual=a,front=tap,listen=" + listens[0], "-virtual=b,front=tap,listen=" + listens[1]}, Env{})
		if err == nil {
			t.Errorf("%s twice", listens[0])
		}
	}
}

// Of a virtual server on the device all can change but where it is.
func TestTapChanges(t *testing.T) {
	c := mustParse(t, "-tap=tap0,address=198.18.0.1/24", "-pool=p", "-virtual=v,listen=198.18.0.9:80,front=tap", "-virtual=k,listen=:80")
	n := c.Clone()
	if !reflect.DeepEqual(c, n) || n.Tap == c.Tap || &n.Tap.Addresses[0] == &c.Tap.Addresses[0] {
		t.Errorf("%+v is no copy of %+v", n.Tap, c.Tap)
	}
	err := n.SetVirtual("v", Setting{"front", "tap"}, Setting{"syn-proof", "always"}, Setting{"syn-share", "3"}, Setting{"refuse", "drop"})
	if v := n.Virtuals[0]; err != nil || v.SynProof != ProofAlways || v.SynShare != 3 || v.Refuse != RefuseDrop {
		t.Errorf("%v, %+v", err, v)
	}
	for _, tt := range []struct {
		virtual string
		keys    []Setting
		want    string
	}{
		{"v", []Setting{{"front", "kernel"}, {"syn-proof", "off"}}, `virtual v: front="kernel": can't be changed while it runs; allowed is tap, or a restart`},
		{"k", []Setting{{"front", "tap"}, {"syn-proof", "off"}}, `virtual k: front="tap": can't be changed while it runs; allowed is kernel, or a restart`},
		{"k", []Setting{{"syn-share", "1"}}, `virtual k: syn-share="1": only for front=tap, and this is kernel; allowed is it with front=tap, or not at all`},
		{"v", []Setting{{"refuse", "close"}}, `virtual v: refuse="close": with front=tap a client is not connected yet when it is refused; allowed is reset|drop`},
		{"k", []Setting{{"refuse", "drop"}}, `virtual k: refuse="drop": with front=kernel a client is connected before it can be refused; ` +
			`allowed is reset|close|http-503, or front=tap`},
	} {
		if err := c.Clone().SetVirtual(tt.virtual, tt.keys...); err == nil || err.Error() != tt.want {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}

// Virtual servers on the device come and go with the file, the device stays.
func TestTapReload(t *testing.T) {
	files := map[string]string{"f": "tap tap0,address=198.18.0.1/24\npool p\nvirtual v,listen=198.18.0.9:80,front=tap"}
	args := []string{"-flagfile=f"}
	old, err := Parse(args, testEnv(files))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"tap tap0,address=198.18.0.1/24\npool p\nvirtual v,listen=198.18.0.9:80,front=tap,syn-proof=off\nvirtual w,listen=198.18.0.9:81,front=tap": "",
		"tap tap0,address=198.18.0.1/24\npool p\nvirtual w,listen=198.18.0.9:81,front=tap":                                                         "",
		"tap tap0,address=198.18.0.1/24\npool p\nlisten :80":                                                                                       "",
		"pool p\nvirtual v,listen=198.18.0.9:80":                                                                                                   `-tap "tap0": can't be taken away while it runs; allowed is to keep it, or a restart` + "\n" + `virtual v: front="kernel": can't be changed while it runs; allowed is tap, another name, or a restart`,
		"tap tap1,mtu=1400\npool p\nlisten :80": `tap tap1: dev="tap1": can't be changed while it runs; allowed is tap0, or a restart` + "\n" +
			`tap tap1: address="none": can't be changed while it runs; allowed is 198.18.0.1/24, or a restart` + "\n" +
			`tap tap1: mtu="1400": can't be changed while it runs; allowed is 0, or a restart`,
	} {
		files["f"] = text
		_, err := Reload(old, args, testEnv(files))
		if got := errorText(err); got != want {
			t.Errorf("%q:\ngot  %s\nwant %s", text, got, want)
		}
	}
	files["f"] = "tap tap0\nlisten :80"
	_, err = Reload(mustParse(t, ok), args, testEnv(files))
	if want := `-tap "tap0": can't be added while it runs; allowed is none, or a restart`; !strings.Contains(errorText(err), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestSizes(t *testing.T) {
	r := sizes{1, 1 << 30}
	for s, want := range map[string]int{"1": 1, "1023": 1023, "1024": 1024, "3K": 3072, "1024K": 1 << 20, "1024M": 1 << 30} {
		n, err := r.parse(s)
		if err != nil || n != want {
			t.Errorf("%s is %d, %v; want %d", s, n, err, want)
		}
		if again, err := r.parse(formatSize(n)); err != nil || again != n {
			t.Errorf("%d is shown as %s", n, formatSize(n))
		}
	}
	for _, s := range []string{"", "K", "0", "+1", "-1", "1025M", "1048577K", "1k", "1 K", "0x1", "1e3", "99999999999999999999"} {
		if n, err := r.parse(s); err == nil {
			t.Errorf("%q is %d", s, n)
		}
	}
}
