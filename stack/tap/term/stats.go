package term

// Stats is what a Stack counted so far.
type Stats struct {
	Connections uint64 // that there are now, closed ones included that still have something to deliver or to wait for
	Opened      uint64 // handshakes completed

	SegmentsIn, SegmentsOut uint64
	Retransmits, Timeouts   uint64
	ResetsIn, ResetsOut     uint64
	TimedOut                uint64 // connections given up

	Invalid     uint64 // segments and datagrams dropped for being malformed
	BadChecksum uint64
	Oversize    uint64 // frames dropped for not fitting in Room
	NoHop       uint64 // frames dropped for nobody knew where to
}

// Stats returns the counters. Any goroutine.
func (s *Stack) Stats() Stats {
	all := s.net.Stats()
	t := &all.TCP
	return Stats{
		Connections: t.CurrentConnected.Value(),
		Opened:      t.PassiveConnectionOpenings.Value(),
		SegmentsIn:  t.ValidSegmentsReceived.Value(),
		SegmentsOut: t.SegmentsSent.Value(),
		Retransmits: t.Retransmits.Value(),
		Timeouts:    t.Timeouts.Value(),
		ResetsIn:    t.ResetsReceived.Value(),
		ResetsOut:   t.ResetsSent.Value(),
		TimedOut:    t.EstablishedTimedout.Value(),
		Invalid:     t.InvalidSegmentsReceived.Value() + all.IP.MalformedPacketsReceived.Value(),
		BadChecksum: t.ChecksumErrors.Value(),
		Oversize:    s.oversize.Load(),
		NoHop:       s.link.noHop.Load(),
	}
}
