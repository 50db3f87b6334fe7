// PLACEHOLDER of the main author, to be replaced by the real package with these names.
package codel

type CoDel struct{ first int64 }

func (c *CoDel) Drop(now, sojourn int64, rate float64) bool { return false }
