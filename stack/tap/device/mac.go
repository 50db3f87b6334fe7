package device

import (
	"crypto/sha256"
	"fmt"
	"os"

	"penstock/stack/tap/frame"
)

// madeMAC makes an Ethernet address of the locally administered kind. It is
// the same at each start on this machine, so that neighbours and switches know
// it again, and different elsewhere: machines on one bridge may well have
// devices, or even host names, of one name.
func madeMAC(device string) (m frame.MAC) {
	machine, _ := os.ReadFile("/etc/machine-id")
	host, _ := os.Hostname()
	network, _ := os.Readlink("/proc/thread-self/ns/net")
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", machine, host, network, device))
	copy(m[:], sum[:])
	m[0] = m[0]&^1 | 2 // one host's, locally administered
	return m
}
