// Package reflect is a server for millions: it answers TCP with frames that it
// writes itself, each from the one that came and nothing else.
//
//	var cfg reflect.Config
//	cfg.Bind(flags)                          // or set the fields
//	r, err := reflect.Listen(cfg)
//	sum, err := r.Serve(ctx)                 // a tally.Server
//
// It answers whoever asks for its address (ARP), a SYN by a SYN-ACK, payload by an
// acknowledgement and a response, FIN by FIN, and what is for another port by a
// reset. All go to the Ethernet address that asked.
//
// That it needs no memory for that is in its numbers. Its first one is the client's
// plus a hash of its address, so of any segment it knows by Ack-Seq how much more it
// has said than it heard: nothing, in the segment that completes a handshake; and
// what no exchange of these sizes comes to, in one whose number is too low, by which
// somebody asks whether it is still there. What it keeps is who is connected, to
// count connections exactly and to answer that question; for payload it does not
// look there.
//
// It trusts its link: nothing is ever sent again unless the client does so first. A
// connection that ends without a request is counted once more.
//
// One thread does it all, on the network of who calls Listen. Like package syn it is
// for benchmark and private addresses only.
package reflect
