// Package track follows a TCP connection that passes by, from the segments of both
// sides alone, well enough to count connections by it: whether the server has one is
// known until it is over, and that it is over is said once.
//
//	var c track.Conn
//	c.Open(&syn)                       when the client's SYN is sent to the server
//	e, drop := c.Segment(from, &s)     for each segment, before it is passed on
//	c.ForceReset()                     the proxy ends it
//	c.ResetFor(side), c.ProbeServer()  what to send in Resetting, until it is over;
//	                                   the reset for the server only if c.Sure()
//
// Open takes; exactly one of Refused, Ended, Broken and Confirmed gives back. A
// reset of the client's is not one of them: it may be lost behind us, or be none of
// the client's. Then the connection is Resetting, and the caller asks the server.
//
// What is believed is what the side it is for would believe (RFC 9293, RFC 5961),
// seen from the middle: numbers must lie in the window that the receiver has offered
// as far as it has acknowledged, acknowledgements must be of what was sent. This is
// the model of Guido van Rooij ("Real stateful TCP packet filtering in IP Filter"),
// with the difference that both bounds of the window hang on what was acknowledged,
// so that no forged number carries them away. All else is passed on, and changes
// nothing: the tracker is no filter, unless passing a segment on could make a
// connection of which it would not know.
//
// Loss, repetition and reordering are normal. A segment that is seen here may get
// lost on the way on; so "acknowledged" is what counts, not "sent".
//
// The package is pure: no time, no memory but the 24 bytes of a Conn, which have no
// pointers. Timeouts are the caller's.
package track
