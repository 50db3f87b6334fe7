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
		c := mustParse(t, "-virtual=v,listen=:80,pool=p,trusted-proxies=10.0.0.0/8", "-pool=p,monitor=http", "-node=10.0.0.1",
			"-member=10.0.0.1:80,pool=p", "-member=10.0.0.2:80,pool=p")
		if setAny(c, flag, Setting{key, value}) == nil {
			checkRoundTrip(t, c.Flags(), testEnv(nil))
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
