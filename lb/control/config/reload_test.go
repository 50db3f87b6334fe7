package config

import (
	"errors"
	"reflect"
	"testing"
	"time"
)

func TestNumbers(t *testing.T) {
	c := twoPools(t)
	var got []int
	c.eachID(func(_ any, id *int) { got = append(got, *id) })
	if want := []int{0, 1, 0, 0, 1, 1, 2, 3, 0, 1, 2}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// What stays keeps its number wherever it stands, and what is new has none.
func TestInherit(t *testing.T) {
	old := twoPools(t)
	old.Pools[1].Members[1].ID = 77
	next := mustParse(t, "-virtual=new,listen=:79,pool=db", "-virtual=web,listen=:80,pool=app",
		"-pool=db", "-pool=app", "-pool=new",
		"-member=10.0.0.1:80,pool=db", // another pool's: a new one
		"-member=10.0.0.2:81,pool=db", "-member=10.0.0.9:80,pool=app")
	Inherit(old, next)
	var got []int
	next.eachID(func(_ any, id *int) { got = append(got, *id) })
	// Two virtual servers; pool db and its members, app and its one, new; nodes 1, 2, 9.
	if want := []int{-1, 0, 1, -1, 77, 0, 1, -1, 1, 2, 0}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestReload(t *testing.T) {
	files := map[string]string{"f": "listen :80\ndrain-time 1s\nmember 10.0.0.1:80\nmember 10.0.0.2:80"}
	args := []string{"-flagfile=f", "-loops=2"}
	old, err := Parse(args, testEnv(files))
	if err != nil {
		t.Fatal(err)
	}
	files["f"] = "listen :80\ndrain-time 2s\nmember 10.0.0.2:80\nmember 10.0.0.3:80\nvirtual b,listen=:81,pool=default"
	c, err := Reload(old, args, testEnv(files))
	if err != nil {
		t.Fatal(err)
	}
	m := c.Pools[0].Members
	if c.DrainTime != 2*time.Second || len(c.Virtuals) != 2 || c.Virtuals[1].ID != -1 || m[0].ID != 1 || m[1].ID != -1 {
		t.Errorf("%+v", c)
	}
	for text, want := range map[string]string{
		"listen :80\nmember x": `f:2: -member "x": address="x": ` + errMember.Error(),
		"listen :81\nlog-level debug\naccess-log stderr\nadmin off": `-admin "off": can't be changed while it runs; allowed is "unix:/run/penstock/admin.sock", or a restart` + "\n" +
			`-log-level "debug": can't be changed while it runs; allowed is "info", or a restart` + "\n" +
			`-access-log "stderr": can't be changed while it runs; allowed is "off", or a restart` + "\n" +
			`virtual default: listen=":81": can't be changed while it runs; allowed is :80, another name, or a restart`,
	} {
		files["f"] = text
		_, err := Reload(old, args, testEnv(files))
		var got Mistakes
		if !errors.As(err, &got) || got.Error() != want {
			t.Errorf("%q:\ngot  %v\nwant %s", text, err, want)
		}
	}
}

// Every setting but one is fixed while the program runs.
func TestUnchangeable(t *testing.T) {
	env := testEnv(map[string]string{"token": "x"})
	old := mustParse(t, ok)
	for _, tt := range []struct {
		arg  string
		free bool
	}{
		{"-loops=3", false}, {"-max-connections=9", false}, {"-admin=off", false}, {"-admin-token-file=token", false},
		{"-log-level=warn", false}, {"-log-format=json", false}, {"-access-log=x", false}, {"-demo", false},
		{"-drain-time=1s", true}, {"-member=10.0.0.1:80", true}, {"-virtual=x,listen=:9,pool=default", true},
	} {
		next, err := Parse([]string{ok, tt.arg}, env)
		if err != nil {
			t.Fatal(err)
		}
		if err := Unchangeable(old, next); (err == nil) != tt.free {
			t.Errorf("%s: %v", tt.arg, err)
		}
	}
}
