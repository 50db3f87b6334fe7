package impair

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// OpenTAP makes a TAP device, or opens one that is there. What the kernel sends
// on it is what Read returns; it sums and segments before. It goes with Close,
// if it was made here.
func OpenTAP(device string) (*os.File, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	ifr, err := unix.NewIfreq(device)
	if err == nil {
		ifr.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, ifr)
	}
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("TAP device %s: %w", device, err)
	}
	return os.NewFile(uintptr(fd), device), nil
}

// bufferBytes holds a burst of some thousand frames.
const bufferBytes = 32 << 20

// OpenPacket opens the kernel's end of a device: Read returns what comes in on
// it, and not what is sent; Write sends.
func OpenPacket(device string) (*os.File, error) {
	at, err := net.InterfaceByName(device)
	if err != nil {
		return nil, err
	}
	const kind = unix.SOCK_RAW | unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK
	fd, err := unix.Socket(unix.AF_PACKET, kind, 0) // of no protocol, until it is bound
	if err != nil {
		return nil, fmt.Errorf("packet socket: %w", err)
	}
	unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, bufferBytes)
	unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, bufferBytes)
	err = unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1)
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: bigEndian(unix.ETH_P_ALL), Ifindex: at.Index})
	}
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("packet socket on %s: %w", device, err)
	}
	return os.NewFile(uintptr(fd), device), nil
}

func bigEndian(n uint16) uint16 { return n<<8 | n>>8 }
