package tap

import (
	"net/netip"
	"testing"
	"time"

	"penstock/stack/tap/device"
	"penstock/stack/tap/ether"
	"penstock/stack/tap/park"
)

// The virtual servers' numbers and addresses.
const (
	web  = 3
	web6 = 4
)

var (
	at4    = netip.MustParseAddrPort("198.18.0.100:80")
	at6    = netip.MustParseAddrPort("[2001:db8::100]:80")
	other4 = netip.MustParseAddrPort("198.18.0.101:8080")
	own4   = netip.MustParsePrefix("198.18.0.1/24")
	own6   = netip.MustParsePrefix("2001:db8::1/64")
)

// rig is a Port whose device and owner are the test's, and whose loop is the
// test's goroutine. Its time stands still, but for pass. Netstack has a time of its
// own, which goes on by turns, so that a machine that stands still does not make
// it send anything again: a little with each, and more while until waits.
type rig struct {
	*Port
	*owner
	t            testing.TB
	dev          *ether.Device
	behind       *ether.Device // that servers are behind; nil: dev
	unread       [][]byte      // frames that were sent, for take
	unreadServer [][]byte
	now          int64
	netTime      time.Duration
}

// onLink has a link in memory for a device.
type onLink struct{ *ether.Device }

func (d onLink) Queue(i int) Queue { return d.Device.Queue(i) }

// setup changes what a rig is made with.
type setup func(*Config)

func handshakes(n int) setup { return func(c *Config) { c.Handshakes = n } }

// newRig makes a Port with the virtual server web, which parks all who come.
func newRig(t testing.TB, options ...setup) *rig {
	r := bareRig(t, 1, options...)
	r.listen(web, Virtual{Listen: at4})
	r.dev.Take() // the announcement
	return r
}

// bareRig makes one that nobody can arrive on; of so many loops, but the others
// are idle.
func bareRig(t testing.TB, loops int, options ...setup) *rig {
	t.Helper()
	c := Config{Addresses: []netip.Prefix{own4, own6}, Handshakes: 1000, TimeWait: time.Second}
	for _, o := range options {
		o(&c)
	}
	r := &rig{t: t, dev: ether.New(loops), owner: newOwner(t), now: int64(1000 * time.Second), netTime: time.Second}
	c.netTime = func() time.Duration { return r.netTime }
	c.light = true
	owners := []Owner{r.owner}
	for range loops - 1 {
		owners = append(owners, newOwner(t))
	}
	wake := func(int) func() { return func() {} } // the test looks often enough
	devices := Devices{Clients: onLink{r.dev}, Steered: func() bool { return false }}
	if c.Servers != nil {
		r.behind = ether.New(loops)
		r.behind.Servers = true
		devices.Servers = onLink{r.behind}
	}
	ports, err := NewPorts(c, &devices, owners, wake, r.now)
	if err != nil {
		t.Fatal(err)
	}
	// Made-up numbers pass by chance, seldom; with one secret they do in no run.
	secret := park.NewCookie([16]byte{1})
	for _, p := range ports {
		p.cookie = secret
	}
	r.Port = ports[0]
	r.owner.port = ports[0]
	t.Cleanup(func() {
		for _, p := range ports {
			p.Close()
		}
		devices.Close()
	})
	t.Cleanup(r.finish)
	return r
}

func (r *rig) listen(id int, v Virtual) {
	r.t.Helper()
	if err := r.Listen(id, v); err != nil {
		r.t.Fatal(err)
	}
}

// finish ends all that the owner has, and sees that nothing is left.
func (r *rig) finish() {
	r.t.Helper()
	r.owner.empty(r.now)
	r.turn()
	r.owner.empty(r.now)
	r.audit()
	if n := r.Len(); n != 0 {
		r.t.Errorf("%d records at the end", n)
	}
	for i, n := range r.guests.count {
		if n != 0 {
			r.t.Errorf("%d connections are counted at %d at the end", n, i)
		}
	}
	if n := r.FlowsHeld(); n != 0 {
		r.t.Errorf("%d flows at the end", n)
	}
	wrong := r.dev.Wrong()
	if r.behind != nil {
		wrong = append(wrong, r.behind.Wrong()...)
	}
	for _, w := range wrong {
		r.t.Error("sent: ", w)
	}
}

// turn is one round of the loop.
func (r *rig) turn() {
	r.netTime += time.Microsecond
	r.Readable(r.now)
	if r.behind != nil {
		r.ServersReadable(r.now)
	}
	for r.Busy() {
		r.Turn(r.now)
	}
	r.Flush()
}

// pass lets time pass, and the loop have its turn in each second of it.
func (r *rig) pass(d time.Duration) {
	for ; d > time.Second; d -= time.Second {
		r.now += int64(time.Second)
		r.walk()
	}
	r.now += int64(d)
	r.walk()
}

// walk has a turn, and those that a walk through the records takes.
func (r *rig) walk() {
	r.turn()
	for r.now < r.silentAt && r.silentAt < r.now+walkEvery {
		r.now = r.silentAt
		r.turn()
	}
}

// patience is how long a test waits for what must happen, by netstack's time.
const patience = 10 * time.Second

// until has the loop's turns until something is so.
func (r *rig) until(what string, is func() bool) {
	r.t.Helper()
	for range patience / time.Millisecond {
		if r.turn(); is() {
			return
		}
		r.netTime += time.Millisecond
	}
	r.t.Fatalf("%s: not within %v", what, patience)
}

// settle lets all be done that comes of what was sent.
func (r *rig) settle() {
	for range 3 {
		r.turn()
	}
}

// want holds what happened to handshakes since against words; see owner.
func (r *rig) want(words ...string) {
	r.t.Helper()
	got := r.owner.told
	r.owner.told = nil
	same := len(got) == len(words)
	for i := 0; same && i < len(got); i++ {
		same = got[i] == words[i]
	}
	if !same {
		r.t.Errorf("the owner was told %q, want %q", got, words)
	}
	r.audit()
}

// totals is what the port has counted.
func (r *rig) totals() (t Totals) {
	r.Port.Add(&t)
	return t
}

func (r *rig) up(s device.State) { r.dev.Set(s) }
