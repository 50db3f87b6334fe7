package main

import (
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"testing"
	"time"

	"penstock/lb/control/accesslog"
	"penstock/lb/control/config"
	"penstock/lb/dispatch"
	"penstock/stack/proxy"
)

// patience is how long a test waits for what must happen.
const patience = time.Minute

// apart is an address of this process, whose ports no other test has, and nobody else
// who runs this one.
func apart(n int) string {
	pid := os.Getpid()
	return fmt.Sprintf("127.%d.%d.%d", 64+pid>>8%64, pid%256, n)
}

// rig is a control over a proxy that serves in this process.
type rig struct {
	*control
	t    testing.TB
	file string // what the flag file has
}

// rigged runs what a flag file says, until the test's end.
func rigged(t testing.TB, file string, access *accesslog.Log) *rig {
	t.Helper()
	r := &rig{t: t, file: file}
	e := env{config: config.Env{
		ReadFile: func(string) ([]byte, error) { return []byte(r.file), nil },
		FileMode: func(string) (fs.FileMode, error) { return 0o600, nil },
	}}
	args := []string{"-flagfile", "flags"}
	c, err := config.Parse(args, e.config)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	cfg := topology(c, log)
	cfg.MaxDescriptors, cfg.Ended = 10_000, ended(access)
	p, err := proxy.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.control = newControl(c, args, e, p, access, log)
	over := make(chan error, 1)
	go func() { over <- p.Run() }()
	t.Cleanup(func() {
		r.Close()
		p.Drain()
		p.Cut()
		p.Stop()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
	return r
}

// reload has another flag file applied.
func (r *rig) reload(file string) {
	r.t.Helper()
	r.file = file
	if err := r.Reload(); err != nil {
		r.t.Fatal(err)
	}
}

// edit has a change applied, as the API does.
func (r *rig) edit(f func(next *config.Config) error) {
	r.t.Helper()
	old := r.Config()
	next := old.Clone()
	if err := f(next); err != nil {
		r.t.Fatal(err)
	}
	if err := r.Apply(old, next); err != nil {
		r.t.Fatal(err)
	}
}

// setPool sets one key.
func (r *rig) setPool(pool, key, value string) {
	r.t.Helper()
	r.edit(func(next *config.Config) error { return next.SetPool(pool, config.Setting{Key: key, Value: value}) })
}

func (r *rig) addMember(pool string, keys ...config.Setting) {
	r.t.Helper()
	r.edit(func(next *config.Config) error { return next.AddMember(pool, keys...) })
}

func (r *rig) removeMember(pool, address string) {
	r.t.Helper()
	r.edit(func(next *config.Config) error { return next.RemoveMember(pool, address) })
}

// idOf is the number of a member.
func (r *rig) idOf(pool, address string) int {
	r.t.Helper()
	i, j := memberOfKey(r.Config(), pool+"/"+address)
	if i < 0 {
		r.t.Fatalf("no member %s in pool %s", address, pool)
	}
	return r.Config().Pools[i].Members[j].ID
}

func (r *rig) member(pool, address string) dispatch.MemberView {
	r.t.Helper()
	return r.disp.Member(dispatch.MemberID(r.idOf(pool, address)))
}

// dial connects to virtual server i of the configuration.
func (r *rig) dial(i int) net.Conn {
	r.t.Helper()
	c, err := net.DialTimeout("tcp", r.proxy.Listening(r.Config().Virtuals[i].ID).String(), patience)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Close() })
	return c
}

// visit connects to virtual server i, is served and leaves.
func (r *rig) visit(i int) {
	r.t.Helper()
	c := r.dial(i)
	expect(r.t, c, "hello")
	c.Close()
	until(r.t, func() bool { return r.proxy.VirtualTotals(r.Config().Virtuals[i].ID).Open == 0 }, "the visitor has left")
}

// forgotten makes changes that change nothing, until nothing that was removed
// has a number any more.
func (r *rig) forgotten() {
	r.t.Helper()
	until(r.t, func() bool {
		r.reload(r.file)
		r.past.mu.Lock()
		defer r.past.mu.Unlock()
		return len(r.past.leaving) == 0
	}, "what was removed is forgotten")
	for range 3 { // pools and nodes come after their members
		r.reload(r.file)
	}
}

func until(t testing.TB, is func() bool, what string) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited in vain: " + what)
		}
	}
}
