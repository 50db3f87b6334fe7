// Package standin is a proxy of a kind for tests: it parks handshakes on a TAP
// device, and releases the oldest when one of its few slots is free, as a real
// one does with front=tap. It trusts its link: nothing is ever sent again.
package standin
