package metrics

import "penstock/stack/tap"

// tapSample is what is read of the TAP front end: of all its ports together.
type tapSample struct {
	device string
	most   int64 // handshakes that can be parked
	flows  int64 // connections that can be forwarded
	tap.Totals
}

// linkSample is what is read of one TAP device.
type linkSample struct {
	device string
	tap.LinkTotals
}

// links are the devices: that of clients, and that of servers if they have one
// of their own, named servers.
func links(clients string, t *tap.Totals, servers string) []linkSample {
	list := []linkSample{{clients, tap.LinkTotals{
		FramesIn: t.FramesIn, BytesIn: t.BytesIn, FramesOut: t.FramesOut, BytesOut: t.BytesOut,
		OutDrops: t.OutDrops, Missed: t.Missed, Up: t.DeviceUp,
	}}}
	if servers != "" {
		list = append(list, linkSample{servers, t.Servers})
	}
	return list
}

func linkTable() table[*linkSample] {
	t := table[*linkSample]{kind: "tap", labels: []string{"device"}}
	const frames, bytes = "Frames from the device (in) and to it (out).", "Bytes of frames from the device (in) and to it (out)."
	t.gauge("up", "1 if the device is there and up.", func(s *linkSample) float64 { return flag(s.Up) })
	t.counter("frames", frames, func(s *linkSample) float64 { return float64(s.FramesIn) }, "direction", "in")
	t.counter("frames", frames, func(s *linkSample) float64 { return float64(s.FramesOut) }, "direction", "out")
	t.counter("bytes", bytes, func(s *linkSample) float64 { return float64(s.BytesIn) }, "direction", "in")
	t.counter("bytes", bytes, func(s *linkSample) float64 { return float64(s.BytesOut) }, "direction", "out")
	t.counter("out_drops", "Frames that the device did not take.", func(s *linkSample) float64 { return float64(s.OutDrops) })
	t.counter("missed_frames", "Frames that the kernel dropped since a queue was full.",
		func(s *linkSample) float64 { return float64(s.Missed) })
	return t
}

func tapTable() table[*tapSample] {
	t := table[*tapSample]{kind: "tap", labels: []string{"device"}}
	t.gauge("parked", "Handshakes of clients that wait and have not been answered, or only with a cookie.",
		func(s *tapSample) float64 { return float64(s.Parked) })
	t.gauge("parked_proven", "Of those parked: handshakes of clients that have shown that they can hear us.",
		func(s *tapSample) float64 { return float64(s.Proven) })
	t.gauge("parked_limit", "Most handshakes that can be parked.", func(s *tapSample) float64 { return float64(s.most) })
	tapCounters(&t)
	flowRows(&t)
	return t
}

// dropsHelp tells the reasons in the label of a counter apart.
const dropsHelp = "SYNs dropped: for want of a record (full), since their prefix had its share of the queue (share), " +
	"with a wrong checksum (checksum)."

func tapCounters(t *table[*tapSample]) {
	tapCounts(t, []tapCount{
		{"foreign_frames", "Frames from the device that were not for us.", func(s *tap.Totals) uint64 { return s.Foreign }, nil},
		{"fragments", "Pieces of datagrams, which several loops can't put together.", func(s *tap.Totals) uint64 { return s.Fragments }, nil},
		{"bad_frames", "Frames from the device that were broken.", func(s *tap.Totals) uint64 { return s.BadFrames }, nil},
		{"retransmits", "Segments sent again to clients.", func(s *tap.Totals) uint64 { return s.Retransmits }, nil},
		{"syns", "Handshakes that clients began.", func(s *tap.Totals) uint64 { return s.Syns }, nil},
		{"syn_repeats", "SYNs of handshakes that had begun before.", func(s *tap.Totals) uint64 { return s.SynRepeats }, nil},
		{"syn_drops", dropsHelp, func(s *tap.Totals) uint64 { return s.SynDropsFull }, []string{"reason", "full"}},
		{"syn_drops", dropsHelp, func(s *tap.Totals) uint64 { return s.SynDropsShare }, []string{"reason", "share"}},
		{"syn_drops", dropsHelp, func(s *tap.Totals) uint64 { return s.SynBadChecksum }, []string{"reason", "checksum"}},
		{"syn_resets", "Parked handshakes that their client reset.", func(s *tap.Totals) uint64 { return s.SynResets }, nil},
		{"syn_silent", "Parked handshakes that their client gave up without a word.",
			func(s *tap.Totals) uint64 { return s.SynSilent }, nil},
		{"resets_ignored", "Resets with numbers that the client would not have sent.",
			func(s *tap.Totals) uint64 { return s.ResetsIgnored }, nil},
		{"cookies_sent", "SYNs answered with a cookie.", func(s *tap.Totals) uint64 { return s.CookiesSent }, nil},
		{"cookies_proven", "Clients that showed with a cookie that they can hear us.",
			func(s *tap.Totals) uint64 { return s.CookiesProven }, nil},
		{"cookies_bad", "Segments that looked like the answer to a cookie and were none.",
			func(s *tap.Totals) uint64 { return s.CookiesBad }, nil},
		{"released", "Handshakes whose turn had come.", func(s *tap.Totals) uint64 { return s.Released }, nil},
		{"accepted", "Handshakes that were completed.", func(s *tap.Totals) uint64 { return s.Accepted }, nil},
		{"handshake_timeouts", "Handshakes whose turn had come and whose client did not complete them in time.",
			func(s *tap.Totals) uint64 { return s.HandshakeTimeouts }, nil},
	})
}

// tapCount is one thing that is counted.
type tapCount struct {
	name, help string
	n          func(*tap.Totals) uint64
	fixed      []string // a label and its value
}

func tapCounts(t *table[*tapSample], list []tapCount) {
	for _, c := range list {
		t.counter(c.name, c.help, func(s *tapSample) float64 { return float64(c.n(&s.Totals)) }, c.fixed...)
	}
}
