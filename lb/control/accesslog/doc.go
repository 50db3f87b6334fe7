// Package accesslog writes one line for each connection, when it ends.
//
//	l, err := accesslog.Open(path, accesslog.Config{...}) // or New, for any writer
//	proxy.Config{Ended: l.Ended}
//	l.Reopen() // after the file was moved away
//	l.Close()  // when the loops have stopped
//
// A loop that ends a connection must go on with the next one at once. Ended
// therefore formats nothing, waits for nobody and allocates nothing in steady
// use: it copies a record without pointers into the loop's own ring. One
// goroutine drains the rings, formats and writes. When it can't keep up, a
// ring holds up to a million records; what comes then is lost, counted, and
// told in the program's log. The line of a connection never holds a loop up.
//
// A line, in text; JSON has the same fields, times as milliseconds (wait_ms):
//
//	time=2026-01-02T15:04:05.678Z msg=conn virtual=web client=10.1.2.3:4711
//	pool=app member=10.0.0.1:80 wait=120ms connect=214µs total=1.5s up=312
//	down=10240 position=3 left=served code=-- closer=client
//
// time is when the connection ended, in UTC; total counts from when it was
// accepted. A field that has no value is "-", or zero. position is the place
// in the queue when it was parked, 0 if it never was. The line of a connection
// that was forwarded has two more, packets_up=7 packets_down=6: what was passed on
// each way, the SYN too, where a large packet that is cut later counts once. Lines
// of different loops may be some milliseconds out of order.
package accesslog
