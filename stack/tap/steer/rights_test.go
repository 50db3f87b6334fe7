package steer

import (
	"errors"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"penstock/stack/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// become makes the calling thread, which is not used again, one of another user's
// with these capabilities only.
func become(t *testing.T, capabilities ...int) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root, to give it up")
	}
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_KEEPCAPS, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	const nobody = 65534
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, nobody, nobody, nobody); e != 0 {
		t.Fatal(e)
	}
	var data [2]unix.CapUserData
	for _, c := range capabilities {
		data[c/32].Effective |= 1 << (c % 32)
		data[c/32].Permitted |= 1 << (c % 32)
	}
	h := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if err := unix.Capset(&h, &data[0]); err != nil {
		t.Fatal(err)
	}
}

// What ErrRights asks for is enough.
func TestRights(t *testing.T) {
	become(t, unix.CAP_BPF)
	for _, rule := range rules {
		p, err := New(1, 4).Program(rule)
		if err != nil {
			t.Fatal(err)
		}
		p.Close()
	}
}

func TestNoRights(t *testing.T) {
	if b, err := os.ReadFile("/proc/sys/kernel/unprivileged_bpf_disabled"); err != nil || b[0] == '0' {
		t.Skip("this kernel lets everybody load programs")
	}
	become(t, unix.CAP_NET_ADMIN)
	if err := New(1, 4).Attach(-1, Source); !errors.Is(err, ErrRights) {
		t.Error(err)
	}
}
