package cases

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"penstock/tools/impair"
)

// badLink is a link whose clients are behind wires that treat frames badly, one
// by one:
//
//	the kernel with its addresses | pn7-cN | impair | pn7-wN | pn7-vN, pn7-bN | pn7-N | penstock
//	                                TAP      frames   veth     veth, bridge     TAP
//
// pn7-v does not segment or sum, so the kernel does that before: on pn7-w each
// frame is as it would be on a cable, in both directions.
func badLink(t testing.TB, f impair.Faults) (*link, *impair.Link) {
	t.Helper()
	if _, err := exec.LookPath("ethtool"); err != nil {
		t.Skip("ethtool, which takes the offloads off: ", err)
	}
	l := noLink(t)
	n := itoa(l.n)
	t.Cleanup(func() { // the other devices go with these
		exec.Command("ip", "link", "delete", "pn7-b"+n).Run()
		exec.Command("ip", "link", "delete", "pn7-v"+n).Run()
	})
	l.ip(
		"tuntap add dev DEV mode tap multi_queue vnet_hdr",
		"link add pn7-b"+n+" type bridge mcast_snooping 0",
		"link add pn7-v"+n+" type veth peer name pn7-w"+n,
	)
	clients, err := impair.OpenTAP("pn7-c" + n)
	if err != nil {
		t.Fatal(err)
	}
	var up []string
	for _, dev := range []string{l.dev, "pn7-b" + n, "pn7-v" + n, "pn7-w" + n} {
		os.WriteFile("/proc/sys/net/ipv6/conf/"+dev+"/disable_ipv6", []byte("1"), 0) // it is none of the kernel's ends
		up = append(up, "link set "+dev+" up")
	}
	l.ip("link set DEV master pn7-b"+n, "link set pn7-v"+n+" master pn7-b"+n)
	for _, dev := range []string{"pn7-v" + n, "pn7-w" + n} {
		if err := run("", "ethtool", "-K", dev, "tso", "off", "gso", "off", "tx", "off"); err != nil {
			t.Fatal(err)
		}
	}
	l.ip(up...)
	l.ip("link set pn7-c" + n + " txqueuelen 16384") // the wires lose what they are to, and no more
	l.on("pn7-c" + n)
	servers, err := impair.OpenPacket("pn7-w" + n)
	if err != nil {
		t.Fatal(err)
	}
	wires := impair.Join(clients, servers, f)
	t.Cleanup(wires.Close)
	return l, wires
}

// capture is tshark, listening on a device.
type capture struct {
	t      testing.TB
	device string
	file   string
	cmd    *exec.Cmd
}

// listenOn begins a capture.
func listenOn(t testing.TB, device string) *capture {
	t.Helper()
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("tshark, which looks at the frames: ", err)
	}
	c := &capture{t: t, device: device, file: t.TempDir() + "/frames.pcapng"}
	c.cmd = exec.Command("tshark", "-q", "-i", device, "-B", "64", "-w", c.file)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.end)
	await(t, patience, "tshark listens", func() bool {
		i, err := os.Stat(c.file)
		return err == nil && i.Size() > 0
	})
	return c
}

// end ends the capture, in order: when the frame has come to its file that is sent
// last. What tshark has not read by then is lost, and that may be a good deal on a
// busy machine.
func (c *capture) end() {
	if c.cmd.ProcessState != nil {
		return
	}
	if !c.marked() {
		c.t.Error("tshark does not come to the end")
	}
	c.cmd.Process.Signal(os.Interrupt)
	c.cmd.Wait()
}

// marked sends a frame that is for nobody, and waits until it is in the file.
func (c *capture) marked() bool {
	mark := []byte("the last frame of " + c.file)
	f, err := impair.OpenPacket(c.device)
	if err != nil {
		c.t.Error(err)
		return false
	}
	defer f.Close()
	// To an address of nobody's, from another one; a type for experiments.
	head := []byte{2, 0, 0, 0, 0, 254, 2, 0, 0, 0, 0, 253, 0x88, 0xb5}
	if _, err := f.Write(append(head, mark...)); err != nil {
		c.t.Error(err)
		return false
	}
	var from int64 // nothing before it is the mark
	return happens(patience, func() bool {
		f, err := os.Open(c.file)
		if err != nil {
			return false
		}
		defer f.Close()
		f.Seek(from, io.SeekStart)
		b, _ := io.ReadAll(f)
		from += max(0, int64(len(b)-len(mark)))
		return bytes.Contains(b, mark)
	})
}

// checkedSums are tshark's settings: look at all checksums.
var checkedSums = []string{
	"-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE",
	"-o", "tcp.relative_sequence_numbers:FALSE",
}

// shark has tshark read the file.
func (c *capture) shark(args ...string) string {
	c.t.Helper()
	out, err := exec.Command("tshark", append(append([]string{"-r", c.file}, checkedSums...), args...)...).Output()
	if err != nil {
		c.t.Fatalf("tshark %v: %v", args, err)
	}
	return string(out)
}

// counts returns how many frames each of some display filters of tshark's lets
// pass.
func (c *capture) counts(filters ...string) (n []int) {
	c.t.Helper()
	text := c.shark("-q", "-z", "io,stat,0,"+strings.Join(filters, ","))
	for line := range strings.Lines(text) {
		if cells := strings.Split(line, "|"); strings.Contains(line, "<>") {
			for i := range filters { // frames and bytes of each, behind the time
				k, err := strconv.Atoi(strings.TrimSpace(cells[2+2*i]))
				if err != nil {
					c.t.Fatalf("tshark counts %q", line)
				}
				n = append(n, k)
			}
			return n
		}
	}
	c.t.Fatalf("tshark counts nothing:\n%s", text)
	return nil
}
