package peer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// penstock runs on a file of flags, so that it can be told to read it again.
//
//   - No monitors: their connections would be taken for those of clients, and
//     the other proxies have none either.
//   - No bound on the queue, in places or time, as HAProxy has none of its own.
//   - drain-time=0: at its end it cuts what is left, as the others do.
//   - No admin interface, no log.
type penstock struct{ path string }

func (penstock) Name() string { return "penstock" }

// pool is the pool's settings unless a scenario says otherwise.
var pool = []string{"queue-depth-cap=none", "queue-time-limit=0", "monitor=none"}

func (p penstock) Command(s Setup) ([]string, error) {
	text, err := p.flags(s)
	if err != nil {
		return nil, err
	}
	file, err := place(s, "penstock.flags", text)
	return []string{p.path, "run", "-flagfile", file}, err
}

func (p penstock) Reload(s Setup, pid int) error {
	if _, err := p.Command(s); err != nil {
		return err
	}
	return tell(pid, syscall.SIGHUP)
}

func (p penstock) Check(s Setup) []string {
	return []string{p.path, "check", "-flagfile", s.Dir + "/penstock.flags"}
}

func (p penstock) Version() string { return version(p.path, "version") }

// flags is the file.
func (penstock) flags(s Setup) (string, error) {
	keys := slices.Clone(pool)
	var others []string
	for _, l := range s.More {
		own, is := strings.CutPrefix(l, "-pool default,")
		switch {
		case is:
			keys = settle(keys, strings.Split(strings.TrimSpace(own), ","))
		case strings.HasPrefix(l, "-"):
			others = append(others, l)
		default:
			return "", fmt.Errorf("penstock %q: must be a flag and its value", l)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "-admin off\n-drain-time 0\n-loops %d\n-listen %s\n-pool default,%s\n", s.Loops, s.Listen, strings.Join(keys, ","))
	for _, m := range s.Members {
		fmt.Fprintf(&b, "-member %s", m.Address)
		if m.Limit > 0 {
			b.WriteString(",connection-limit=" + strconv.Itoa(m.Limit))
		}
		b.WriteString("\n")
	}
	for _, l := range others {
		b.WriteString(l + "\n")
	}
	return b.String(), nil
}

// settle puts settings over others of the same key.
func settle(keys, over []string) []string {
	for _, o := range over {
		key, _, _ := strings.Cut(o, "=")
		keys = slices.DeleteFunc(keys, func(k string) bool { return strings.HasPrefix(k, key+"=") })
		keys = append(keys, o)
	}
	return keys
}
