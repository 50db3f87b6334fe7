package metrics

import "penstock/stack/tap"

const (
	segmentsHelp   = "Segments passed on: up from clients to servers, down the other way. One that is cut later counts once."
	flowsBytesHelp = "Bytes of payload in segments passed on, what was sent again too: up from clients to servers, down the other way."
)

// flowRows are about connections that are forwarded.
func flowRows(t *table[*tapSample]) {
	t.gauge("forwarded_connections", "Connections that are forwarded now.", func(s *tapSample) float64 { return float64(s.Flows) })
	t.gauge("forwarded_lingering", "Forwarded connections that have ended, and are remembered for what is sent again.",
		func(s *tapSample) float64 { return float64(s.Lingering) })
	t.gauge("forwarded_limit", "Most connections that can be forwarded, with those that are remembered.",
		func(s *tapSample) float64 { return float64(s.flows) })
	tapCounts(t, []tapCount{
		{"forwarded_segments", segmentsHelp, func(s *tap.Totals) uint64 { return s.SegmentsUp }, []string{"direction", "up"}},
		{"forwarded_segments", segmentsHelp, func(s *tap.Totals) uint64 { return s.SegmentsDown }, []string{"direction", "down"}},
		{"forwarded_bytes", flowsBytesHelp, func(s *tap.Totals) uint64 { return s.BytesUp }, []string{"direction", "up"}},
		{"forwarded_bytes", flowsBytesHelp, func(s *tap.Totals) uint64 { return s.BytesDown }, []string{"direction", "down"}},
		{"forwarded_syns", "SYNs of clients whose turn had come that were sent to servers.",
			func(s *tap.Totals) uint64 { return s.Forwarded }, nil},
		{"server_refusals", "Forwarded SYNs that were answered with a reset or an ICMP error.",
			func(s *tap.Totals) uint64 { return s.Refusals }, nil},
		{"server_timeouts", "Forwarded SYNs that nothing answered in time.", func(s *tap.Totals) uint64 { return s.Unanswered }, nil},
		{"no_route", "Clients whose turn had come and who could not be forwarded: no way to the server, or no Ethernet address.",
			func(s *tap.Totals) uint64 { return s.NoRoute }, nil},
		{"ports_out", "Clients whose turn had come and who could not be forwarded: no port of an SNAT address left for the server, or their own in use there.",
			func(s *tap.Totals) uint64 { return s.PortsOut }, nil},
		{"flows_full", "Clients whose turn had come and who could not be forwarded: no record left.",
			func(s *tap.Totals) uint64 { return s.FlowsFull }, nil},
		{"passed_on", "Frames that came to another loop than their connection's, and were handed to it.",
			func(s *tap.Totals) uint64 { return s.PassedOn }, nil},
		{"pass_drops", "Frames that came to another loop than their connection's, which had no room for them.",
			func(s *tap.Totals) uint64 { return s.PassDrops }, nil},
		{"stray_segments", "Segments of no connection, which were reset.", func(s *tap.Totals) uint64 { return s.Stray }, nil},
		{"ttl_drops", "Packets that had gone through too many routers.", func(s *tap.Totals) uint64 { return s.TTLDrops }, nil},
		{"too_big", "Packets that did not fit the MTU of the other side.", func(s *tap.Totals) uint64 { return s.TooBig }, nil},
		{"icmp_translated", "ICMP errors about forwarded connections that were passed on.",
			func(s *tap.Totals) uint64 { return s.ICMPTranslated }, nil},
		{"spoofed_resets", "Resets outside of the window of a forwarded connection, which end nothing.",
			func(s *tap.Totals) uint64 { return s.SpoofedResets }, nil},
		{"reset_probes", "Segments that asked a server whether it took the reset of its client.",
			func(s *tap.Totals) uint64 { return s.ResetProbes }, nil},
	})
}
