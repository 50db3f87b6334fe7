package cases

import (
	"fmt"
	"net/netip"
	"os/exec"
	"testing"
)

// block has the kernel treat what comes to a server by a verdict of nft's, such
// as "drop", until unblock is called or the test ends.
func block(t testing.TB, addr, verdict string) (unblock func()) {
	t.Helper()
	return rule(t, addr, "input", "tcp dport %d "+verdict)
}

// blockAnswers has it lose the server's SYN-ACKs.
func blockAnswers(t testing.TB, addr string) (unblock func()) {
	t.Helper()
	return rule(t, addr, "output", "tcp sport %d tcp flags & (syn | ack) == syn | ack drop")
}

// rule adds a rule about a server's port.
func rule(t testing.TB, addr, hook, text string) (remove func()) {
	t.Helper()
	if _, err := exec.LookPath("nft"); err != nil {
		t.Skip("nft, which drops and rejects: ", err)
	}
	port := netip.MustParseAddrPort(addr).Port()
	table := fmt.Sprintf("pn7_%s_%d", hook, port)
	text = fmt.Sprintf("table inet %s {\nchain c {\ntype filter hook %s priority 0\n%s\n}\n}\n", table, hook, fmt.Sprintf(text, port))
	if err := run(text, "nft", "-f", "-"); err != nil {
		t.Fatal(err)
	}
	gone := false
	remove = func() {
		if !gone {
			gone = true
			exec.Command("nft", "delete", "table", "inet", table).Run()
		}
	}
	t.Cleanup(remove)
	return remove
}
