package device

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"penstock/stack/sys"
	"penstock/stack/tap/frame"
)

func TestBadConfig(t *testing.T) {
	for _, bad := range []string{"", ".", "..", "a/b", "tap%d", "a b", "a:1"} {
		if _, err := Open(Config{Name: bad, Queues: 1}); err == nil || !strings.Contains(err.Error(), "can't be the name") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	fails(t, Config{Name: "pn3-4567890123456"}, `"pn3-4567890123456"`, "15 bytes")
	fails(t, Config{Queues: 257}, "257", "1 to 256")
	fails(t, Config{MAC: frame.Broadcast}, "group address")
}

func TestNewDevice(t *testing.T) {
	network(t)
	d := open(t, Config{Queues: 3, MTU: 9000, Backlog: 5000})
	if d.Name() != name || d.MTU() != 9000 || d.Queues() != 3 || d.State() != Up || !d.Made() {
		t.Error(d.Name(), d.MTU(), d.Queues(), d.State(), d.Made())
	}
	l, e := sys.FindLink(d.links, name)
	if e != 0 || l.Queues != 3 || l.QueueLen != 5000 || l.Flags&unix.IFF_UP == 0 || l.MAC == d.MAC() {
		t.Errorf("%+v, %v", l, e)
	}
	works(t, d)
	links, _ := sys.OpenLinks()
	defer sys.Close(links)
	d.Close()
	if _, e := sys.FindLink(links, name); e != unix.ENODEV {
		t.Errorf("%v after Close", e)
	}
}

// What ip tuntap made is used, set right, and left behind.
func TestDeviceOfOthers(t *testing.T) {
	network(t)
	for _, kind := range []string{"multi_queue", "multi_queue vnet_hdr"} {
		ip(t, "tuntap add dev "+name+" mode tap "+kind)
		// Another program has left its own settings.
		fd, _ := sys.OpenTun()
		if e := sys.Attach(fd, name, flags); e != 0 {
			t.Fatal(e)
		}
		sys.SetVNetHeader(fd, 12)
		sys.SetOffload(fd, 0)
		unix.IoctlSetPointerInt(fd, unix.TUNSETVNETLE, 1)
		sys.Close(fd)

		d := open(t, Config{Queues: 2})
		if d.MTU() != 1500 || d.Made() {
			t.Error(d.MTU(), d.Made())
		}
		works(t, d)
		d.Close()
		ip(t, "link show "+name)
		ip(t, "link del "+name)
	}
}

func TestUnusableDevices(t *testing.T) {
	network(t)
	remedy := "ip tuntap add dev " + name + " mode tap multi_queue"
	for _, c := range []struct{ link, says string }{
		{"tuntap add dev " + name + " mode tap", "one queue only: ip link del " + name + " && " + remedy},
		{"tuntap add dev " + name + " mode tun multi_queue", "TUN device; a TAP device is needed: ip link del " + name + " && " + remedy},
		{"link add " + name + " type veth peer name pn3-p", "no TAP device"},
	} {
		ip(t, c.link)
		fails(t, Config{}, "TAP device "+name+": ", c.says)
		ip(t, "link del "+name)
	}
	fails(t, Config{MTU: 100_000}, "MTU 100000 can't be set")

	first := open(t, Config{})
	fails(t, Config{}, "another program has it open (1 queues)")
	works(t, first)
}

func TestOwnAddress(t *testing.T) {
	network(t)
	d := open(t, Config{})
	m := d.MAC()
	if m.Group() || m[0]&2 == 0 || m == madeMAC("pn3-u") || m != madeMAC(name) {
		t.Error(m)
	}
	d.Close()
	m = frame.MAC{2, 3, 4, 5, 6, 7}
	ip(t, "tuntap add dev "+name+" mode tap multi_queue")
	ip(t, "link set "+name+" address "+m.String())
	fails(t, Config{MAC: m}, "is the link's own address")
	m[5]++
	if d := open(t, Config{MAC: m}); d.MAC() != m {
		t.Error(d.MAC())
	}
}

// Elsewhere the address is another one, even if all names are the same.
func TestAddressElsewhere(t *testing.T) {
	network(t)
	here := madeMAC(name)
	network(t)
	if there := madeMAC(name); there == here {
		t.Error(there)
	}
}

const nobody = 65534

// become makes the calling thread, which nobody else uses, a user without
// privileges but the right to open /dev/net/tun.
func become(t *testing.T, uid int) {
	t.Helper()
	openToAll(t)
	setUser(t, uid)
}

func setUser(t *testing.T, uid int) {
	t.Helper()
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)); e != 0 {
		t.Fatal(e)
	}
}

// openToAll gives the thread a /dev/net/tun that everybody may open, as most
// systems have it, where it is root's.
func openToAll(t *testing.T) {
	t.Helper()
	const tun = "/dev/net/tun"
	var s unix.Stat_t
	if err := unix.Stat(tun, &s); err != nil {
		t.Fatal(err)
	}
	if s.Mode&0o006 == 0o006 {
		return
	}
	emptyDevNet(t)
	if err := unix.Mknod(tun, unix.S_IFCHR, int(s.Rdev)); err != nil {
		t.Fatal(err)
	}
	if err := unix.Chmod(tun, 0o666); err != nil { // whatever the umask
		t.Fatal(err)
	}
}

// emptyDevNet puts an empty directory over the thread's /dev/net.
func emptyDevNet(t *testing.T) {
	t.Helper()
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("pn3", "/dev/net", "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
}

func TestNoRightToMake(t *testing.T) {
	network(t)
	become(t, nobody)
	fails(t, Config{}, "can't be made (operation not permitted)", "CAP_NET_ADMIN", "ip tuntap add dev "+name+" mode tap multi_queue user")
}

func TestDeviceOfAnotherUser(t *testing.T) {
	network(t)
	ip(t, "tuntap add dev "+name+" mode tap multi_queue user 1234")
	become(t, nobody)
	fails(t, Config{}, "another user (operation not permitted)", "CAP_NET_ADMIN", "user NAME")
}

// A device that was made for a user and is right needs no privileges; for what
// isn't, the command is named.
func TestDeviceOfThisUser(t *testing.T) {
	network(t)
	ip(t, "tuntap add dev "+name+" mode tap multi_queue user 65534")
	ip(t, "tuntap add dev pn3-d mode tap multi_queue user 65534")
	ip(t, "link set "+name+" up mtu 1400 txqueuelen 2000")
	become(t, nobody)
	var j journal
	fails(t, Config{Name: "pn3-d"}, "can't be set up (operation not permitted)", "ip link set pn3-d up", "CAP_NET_ADMIN")
	fails(t, Config{MTU: 1500}, "MTU 1500 can't be set (operation not permitted)", "ip link set "+name+" mtu 1500")
	open(t, Config{MTU: 1400, Backlog: 3000, Log: j.log()}).Close()
	if j.count("") != 1 || j.count("WARN", "frames=2000", "ip link set "+name+" txqueuelen 3000") != 1 {
		t.Error(j.String())
	}
	d := open(t, Config{Queues: 2, MTU: 1400, Backlog: 1500, Log: j.log()})
	if j.count("") != 1 {
		t.Error(j.String())
	}
	if e := d.Queue(1).WriteFrame(segment(d, true, 1, nil)); e != 0 {
		t.Error(e)
	}
}

func TestNoDriver(t *testing.T) {
	network(t)
	emptyDevNet(t)
	fails(t, Config{}, "no /dev/net/tun", "modprobe tun", "--device /dev/net/tun")
	if err := os.WriteFile("/dev/net/tun", nil, 0); err != nil {
		t.Fatal(err)
	}
	setUser(t, nobody)
	fails(t, Config{}, "/dev/net/tun can't be opened (permission denied)", "CAP_NET_ADMIN")
}
