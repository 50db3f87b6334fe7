package shift

import (
	"net/netip"
	"reflect"
	"testing"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip/header"

	"penstock/stack/tap/frame"
)

const grace = 10 * time.Second

var (
	own  = frame.MAC{2, 1}
	peer = frame.MAC{2, 2}
)

func addr(s string) frame.Addr { return netip.MustParseAddr(s).As16() }

var (
	four = Flow{addr("198.18.7.9"), addr("198.18.0.100"), 40001, 80}
	six  = Flow{addr("2001:db8::7:9"), addr("2001:db8::100"), 40001, 80}
)

// in is the client's way to us, out is ours to it.
func in(f Flow) *frame.Flow {
	return &frame.Flow{SrcMAC: peer, DstMAC: own, Src: f.Client, Dst: f.Virtual, SrcPort: f.ClientPort, DstPort: f.VirtualPort}
}

func out(f Flow) *frame.Flow {
	return &frame.Flow{SrcMAC: own, DstMAC: peer, Src: f.Virtual, Dst: f.Client, SrcPort: f.VirtualPort, DstPort: f.ClientPort}
}

func stamps(val, ecr uint32) *frame.Options {
	return &frame.Options{WS: -1, TS: true, TSVal: val, TSEcr: ecr}
}

// seen is a segment as whoever gets it reads it, by gVisor's package.
type seen struct {
	seq, ack uint32
	flags    uint8
	opts     header.TCPOptions
	data     string
}

// read parses a frame and sees that its checksum is right.
func read(t failer, b []byte) seen {
	t.Helper()
	var p frame.Packet
	if p.Parse(b, frame.MAC(b[:6])) != frame.TCP || !p.ChecksumOK(b) {
		t.Fatalf("%v, or its checksum is wrong: %x", p.Kind, b)
	}
	h := header.TCP(b[p.L4:p.End])
	return seen{h.SequenceNumber(), h.AckNumber(), uint8(h.Flags()), header.ParseTCPOptions(h.Options()), string(h.Payload())}
}

// failer is a test of any kind.
type failer interface {
	Helper()
	Fatalf(string, ...any)
}

// send puts a frame of netstack's through Out.
func send(tab *Table, b []byte) bool {
	var p frame.Packet
	p.Parse(b, peer)
	return tab.Out(&p.Src, &p.Dst, b[p.L4:p.Data], false)
}

// receive puts a frame of a client's through In.
func receive(tab *Table, b []byte) bool {
	var p frame.Packet
	p.Parse(b, own)
	return tab.In(b, &p, false)
}

// synAck is netstack's.
func synAck(f Flow, iss, tsval uint32) []byte {
	o := frame.Options{MSS: 1460, WS: 5, SACK: true, TS: true, TSVal: tsval, TSEcr: 77}
	return frame.AppendTCP(nil, out(f), &frame.Header{Seq: iss, Ack: 101, Flags: frame.SYN | frame.ACK, Window: 65535, Options: &o}, nil)
}

// plain is a segment of netstack's with timestamps.
func plain(f Flow, seq, tsval uint32) []byte {
	return frame.AppendTCP(nil, out(f), &frame.Header{Seq: seq, Ack: 101, Flags: frame.ACK, Options: stamps(tsval, 78)}, []byte("x"))
}

func newTable() (*Table, *int) {
	woken := new(int)
	return New(100, grace, func() { *woken++ }), woken
}

func answers(tab *Table) (all []Answer) {
	tab.Answers(func(a *Answer) { all = append(all, *a) })
	return all
}

// join takes a flow up to the point where it is translated.
func join(t *testing.T, tab *Table, f Flow, iss, tsval uint32, wantISS, wantTS uint32) {
	t.Helper()
	tab.Pend(f)
	if send(tab, synAck(f, iss, tsval)) {
		t.Fatal("the SYN-ACK was sent")
	}
	all := answers(tab)
	if len(all) != 1 || !tab.Set(&all[0], wantISS, wantTS) {
		t.Fatalf("answers: %+v", all)
	}
}

// same compares what was read, options and all.
func same(t failer, b []byte, got, want seen) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%x is read as %+v, want %+v", b, got, want)
	}
}
