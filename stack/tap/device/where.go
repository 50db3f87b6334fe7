package device

import (
	"penstock/stack/sys"
)

// A device may get another name, and be moved to another network namespace, as
// to that of the servers behind it. Our descriptors stay its queues. So what it
// is called and where it is, is asked of a descriptor.

// called returns the device's name now.
func (d *Device) called() string {
	if name, e := sys.Attached(d.queues[0].fd); e == 0 {
		return name
	}
	return d.c.Name // it is gone
}

// link asks for the device, wherever it is.
func (d *Device) link() (l sys.Link, e sys.Errno) {
	at, ns := d.where()
	defer sys.Close(ns)
	if at == d.home {
		return sys.FindLink(d.links, d.called())
	}
	id, e := sys.NamespaceID(d.links, ns)
	if e != 0 {
		return l, e
	}
	return sys.FindLinkIn(d.links, id, d.called())
}

// where returns the number of the network namespace that the device is in, 0 if
// that is not told, and a descriptor of it, -1 if there is none, which the caller
// closes.
func (d *Device) where() (number uint64, ns int) {
	ns, e := sys.Namespace(d.queues[0].fd)
	if e != 0 {
		return 0, -1
	}
	return sys.FileNumber(ns), ns
}
