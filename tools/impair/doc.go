// Package impair is a link that treats frames badly: it loses some, repeats
// some, delays all, and some so much that they come after later ones. It is for
// kernels without netem.
//
//	a, err := impair.OpenTAP("tapX")        the kernel's clients are behind tapX
//	b, err := impair.OpenPacket("veth1")    whoever is behind veth1
//	l := impair.Join(a, b, impair.Faults{Loss: 0.01, Delay: 20 * time.Millisecond, Seed: 1})
//	l.Counts()
//	l.Close()
//
// What happens to the nth frame of a direction depends on the seed and n only.
//
// Frames are copied as they are. Neither end offers the kernel to segment or to
// sum for it, so all that comes from OpenTAP is whole, and so is what comes from
// OpenPacket if the device has its offloads switched off (ethtool -K).
package impair
