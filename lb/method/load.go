package method

// Load is how much a member has to do, for least connections: the one with the
// lowest is asked first.
type Load struct {
	N     int64  // connections, dials under way, and who waits for it; below 2^47
	Ratio uint32 // its share: 1 to 65535
	Since int64  // when it last got a connection, in monotonic nanoseconds; 0: never
}

// Less says whether l is lower: fewer connections for its ratio, or as many and
// longer without a new one. N/Ratio is compared exactly, multiplied out.
func (l Load) Less(o Load) bool {
	// A counter that is read while it moves may say -1.
	a, b := max(l.N, 0)*int64(o.Ratio), max(o.N, 0)*int64(l.Ratio)
	if a != b {
		return a < b
	}
	return l.Since < o.Since
}
