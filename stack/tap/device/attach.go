package device

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"penstock/stack/sys"
	"penstock/stack/tap/steer"
)

// flags of our queues. Always of the kind that may have several, so that a
// device does not have to be made anew for another number of loops.
const flags = unix.IFF_TAP | unix.IFF_NO_PI | unix.IFF_VNET_HDR | unix.IFF_MULTI_QUEUE

// offload is what the kernel may leave to us.
const offload = sys.OffloadChecksum | sys.OffloadTSO4 | sys.OffloadTSO6

var errAbsent = errors.New("there is no such device")

// attach makes the queues those of the device, which is made if that is our
// part. Queues that are attached already stay so: after an error it may be
// tried again.
func (d *Device) attach() error {
	l, e := sys.FindLink(d.links, d.c.Name)
	switch {
	case e == 0:
		if err := d.usable(&l); err != nil {
			return err
		}
	case e != unix.ENODEV:
		return fmt.Errorf("ask for it: %w", e)
	case !d.create:
		return errAbsent
	}
	for _, q := range d.queues {
		if e := sys.Attach(q.fd, d.c.Name, flags); e != 0 && e != unix.EEXIST {
			return refused(e, d.c.Name, d.create)
		}
	}
	fd := d.queues[0].fd
	if e := sys.SetVNetHeader(fd, sizeofVNet); e != 0 {
		return fmt.Errorf("set the header of frames: %w", e)
	}
	if e := sys.SetOffload(fd, offload); e != 0 {
		return fmt.Errorf("set offload: %w", e)
	}
	d.steer()
	return nil
}

// steer has the kernel choose queues as the configuration says, or by itself if
// that can't be. One queue needs no choice.
func (d *Device) steer() {
	fd := d.queues[0].fd
	if d.c.Steer == nil || d.c.Queues == 1 {
		steer.Detach(fd) // the device may have a program of somebody who was here before
		d.steered.Store(d.c.Steer != nil)
		return
	}
	err := d.c.Steer.Attach(fd, d.c.Rule)
	d.steered.Store(err == nil)
	if err == nil {
		return
	}
	steer.Detach(fd)
	if !d.warned {
		d.warned = true
		d.c.Log.Warn("the kernel chooses the queues of the TAP device; frames are passed on between loops",
			"device", d.c.Name, "error", err)
	}
}

// furnish sets the link as the configuration says, and up. What is right
// already takes no privileges.
func (d *Device) furnish() error {
	l, e := sys.FindLink(d.links, d.c.Name)
	if e != 0 {
		return fmt.Errorf("ask for it: %w", e)
	}
	if l.MAC == d.c.MAC {
		return fmt.Errorf("%v is the link's own address: our side needs another one", d.c.MAC)
	}
	if n := d.c.MTU; n != 0 && n != l.MTU {
		if e := sys.SetLinkMTU(d.links, d.c.Name, n); e != 0 {
			return wrongMTU(e, d.c.Name, n)
		}
	}
	if n := d.c.Backlog; n > l.QueueLen {
		if e := sys.SetLinkQueueLen(d.links, d.c.Name, n); e != 0 {
			d.c.Log.Warn("TAP device holds few frames back; some of a burst may be lost", "device", d.c.Name,
				"frames", l.QueueLen, "error", e, "remedy", fmt.Sprintf("ip link set %s txqueuelen %d", d.c.Name, n))
		}
	}
	if l.Flags&unix.IFF_UP == 0 {
		if e := sys.SetLinkFlags(d.links, d.c.Name, l.Flags|unix.IFF_UP); e != 0 {
			return fmt.Errorf("the link can't be set up (%w): ip link set %s up, or %s", e, d.c.Name, rights)
		}
	}
	return nil
}

// usable says why a link that is there can't be ours.
func (d *Device) usable(l *sys.Link) error {
	name := d.c.Name
	again := fmt.Sprintf("ip link del %s && ip tuntap add dev %s mode tap multi_queue", name, name)
	switch {
	case l.Kind != "tun":
		return errors.New("there is a device of this name, which is no TAP device")
	case l.Tun == unix.IFF_TUN:
		return fmt.Errorf("it is a TUN device; a TAP device is needed: %s", again)
	case l.Tun != 0 && !l.MultiQueue:
		return fmt.Errorf("it was made for one queue only: %s", again)
	case l.Queues > d.attached():
		return fmt.Errorf("another program has it open (%d queues), and would get a part of the frames", l.Queues-d.attached())
	}
	return nil
}

// attached counts the queues that are the device's.
func (d *Device) attached() (n int) {
	for _, q := range d.queues {
		if name, e := sys.Attached(q.fd); e == 0 && name == d.c.Name {
			n++
		}
	}
	return n
}

const rights = "start with CAP_NET_ADMIN (as root, or setcap cap_net_admin+ep on the program)"

// noDriver explains why the tun driver can't be opened.
func noDriver(e sys.Errno) error {
	switch e {
	case unix.ENOENT:
		return fmt.Errorf("there is no /dev/net/tun (%w): modprobe tun; in a container pass it in, as with --device /dev/net/tun", e)
	case unix.ENODEV, unix.ENXIO:
		return fmt.Errorf("this kernel has no tun driver (%w): modprobe tun", e)
	case unix.EPERM, unix.EACCES:
		return fmt.Errorf("/dev/net/tun can't be opened (%w): give this user rights to it, or %s", e, rights)
	}
	return fmt.Errorf("open /dev/net/tun: %w", e)
}

// refused explains why the driver does not give us a queue.
func refused(e sys.Errno, name string, create bool) error {
	switch {
	case e == unix.EPERM && create:
		return fmt.Errorf("it can't be made (%w): %s, or make it before: ip tuntap add dev %s mode tap multi_queue user NAME", e, rights, name)
	case e == unix.EPERM:
		return fmt.Errorf("it belongs to another user (%w): %s, or make it for this one: "+
			"ip tuntap add dev %s mode tap multi_queue user NAME", e, rights, name)
	case e == unix.EBUSY:
		return fmt.Errorf("another program has it open (%w)", e)
	case e == unix.EINVAL:
		return fmt.Errorf("it is no TAP device with several queues (%w): ip tuntap add dev %s mode tap multi_queue", e, name)
	}
	return fmt.Errorf("attach: %w", e)
}

// wrongMTU explains why the MTU can't be set.
func wrongMTU(e sys.Errno, name string, mtu int) error {
	if e == unix.EPERM {
		return fmt.Errorf("MTU %d can't be set (%w): ip link set %s mtu %d, or %s", mtu, e, name, mtu, rights)
	}
	return fmt.Errorf("MTU %d can't be set: %w", mtu, e)
}
