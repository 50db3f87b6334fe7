package config

import (
	"io"
	"reflect"
	"strings"
	"testing"
)

// FuzzFlags takes an argument a line.
func FuzzFlags(f *testing.F) {
	for _, tt := range mistakes {
		f.Add(strings.Join(tt.args, "\n"))
	}
	f.Add("-demo")
	f.Add("-tap\ntap0,address=198.18.0.1/24/2001:db8::1/64,mac=02:0:0:0:0:1,mtu=1500\n-virtual\nv,listen=198.18.0.9:80,front=tap,syn-share=5,pool=p\n-pool=p")
	f.Add(strings.Join(forwarding, "\n"))
	for _, tt := range keyMistakes {
		f.Add("-listen=:8080\n-pool\np\n-" + tt.flag + "\n" + tt.words + "," + tt.key + "=" + tt.value)
	}
	f.Add("-virtual\nweb,listen=[::1]:80,refuse=http-503\n-pool\napp,queue-time-limit=1500\n-member\n10.0.0.1:80,pool=app")
	f.Fuzz(func(t *testing.T, text string) {
		args := strings.Split(text, "\n")
		checkRoundTrip(t, args, testEnv(map[string]string{"f": text}))
	})
}

// FuzzFlagfile takes the text of a flag file.
func FuzzFlagfile(f *testing.F) {
	f.Add("# a story\n\nlisten :80\r\n-member 10.0.0.1:80,connection-limit=5 # one\n--loops=3\n")
	f.Add("virtual web,listen=:80,pool=web\npool web,queue-depth-cap=none\nnode 10.0.0.9\n")
	f.Add("virtual web,listen=:80,persist=source/24,queue-class-from=::ffff:10.0.0.0/104:3,trusted-proxies=10.0.0.0/8/::1\n" +
		`pool web,monitor=http,monitor-send=GET / HTTP/1.0\r\nX: \#a\,b\\\r\n\r\n,monitor-recv=é` + "\n")
	f.Add("admin 0.0.0.0:1\nadmin-token-file f\nlisten :80\nnode 10.0.0.1,ratio=3\nmember 10.0.0.1:1,ratio=node\n")
	f.Add("tap tap0\ntap tap1,syn-table=64K\nvirtual v,front=tap,refuse=drop,listen=[::1]:80,pool=p\npool p\n")
	f.Add(strings.ReplaceAll(strings.Join(forwarding, "\n"), "-tap=tap0", "tap tap0,side=clients") + "\ntap tap2,side=servers\ngateway 10.0.0.254\n")
	f.Add("demo\ndemo false\n=\n-\n--\n- x\n#\n #\n")
	f.Fuzz(func(t *testing.T, text string) {
		checkRoundTrip(t, []string{"-flagfile", "f"}, testEnv(map[string]string{"f": text}))
	})
}

// FuzzChange sets a key of an object that is there.
func FuzzChange(f *testing.F) {
	for _, tt := range keyMistakes {
		f.Add(tt.flag, tt.key, tt.value)
	}
	for _, tt := range keyValues {
		for _, v := range tt.values {
			f.Add(tt.flag, tt.key, v)
		}
	}
	f.Add("virtual", "pool", "p")
	f.Fuzz(func(t *testing.T, flag, key, value string) {
		for _, front := range []string{"listen=:80,trusted-proxies=10.0.0.0/8", "listen=10.0.0.9:80,front=tap,trusted-proxies=10.0.0.0/8",
			"listen=10.0.0.9:80,front=tap,mode=forward,snat=10.0.0.8"} {
			c := mustParse(t, "-virtual=v,pool=p,"+front, "-pool=p,monitor=http", "-node=10.0.0.1",
				"-member=10.0.0.1:80,pool=p", "-member=10.0.0.2:80,pool=p", "-tap=tap0,address=10.0.0.7/24")
			before := c.Clone()
			if setAny(c, flag, Setting{key, value}) == nil {
				checkRoundTrip(t, c.Flags(), testEnv(nil))
				if err := Unchangeable(before, c); err != nil {
					t.Fatalf("it was set, and can't be: %v", err)
				}
			}
		}
	})
}

// checkRoundTrip: what parses can be shown, and its Flags parse to the same.
func checkRoundTrip(t *testing.T, args []string, env Env) {
	c, err := Parse(args, env)
	if err != nil {
		if m, ok := err.(Mistakes); ok && (len(m) == 0 || strings.Count(m.Error(), "\n") != len(m)-1) {
			t.Fatalf("mistakes %q: want one line for each", m)
		}
		return
	}
	if err := Print(io.Discard, c); err != nil {
		t.Fatal(err)
	}
	again, err := Parse(c.Flags(), env)
	if err != nil {
		t.Fatalf("%q: %v", c.Flags(), err)
	}
	c = c.Clone()
	c.FlagFile = ""
	if err := c.Validate(); err != nil {
		t.Fatalf("%q: %v", c.Flags(), err)
	}
	if !reflect.DeepEqual(c, again) {
		t.Fatalf("%q:\ngot  %+v\nwant %+v", c.Flags(), again, c)
	}
}
