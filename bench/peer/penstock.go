package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// penstock runs on a file of flags, so that it can be told to read it again.
//
//   - No monitors: their connections would be taken for those of clients, and
//     the other proxies have none either.
//   - No bound on the queue, in places or time, as HAProxy has none of its own.
//   - drain-time=0: at its end it cuts what is left, as the others do.
//   - No admin interface, no log. But before a TAP device it is asked what it
//     has counted, by an admin interface that nobody else uses.
//   - With servers behind a TAP device of their own it forwards packets, in its own
//     name as other proxies do (snat).
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
	var virtual, others []string
	for _, l := range s.More {
		l = strings.TrimSpace(l)
		ofPool, isPool := strings.CutPrefix(l, "-pool default,")
		ofVirtual, isVirtual := strings.CutPrefix(l, "-virtual default,")
		switch {
		case isPool:
			keys = settle(keys, strings.Split(ofPool, ","))
		case isVirtual && s.Tap != nil:
			virtual = append(virtual, strings.Split(ofVirtual, ",")...)
		case strings.HasPrefix(l, "-"):
			others = append(others, l)
		default:
			return "", fmt.Errorf("penstock %q: must be a flag and its value", l)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "-admin %s\n-drain-time 0\n-loops %d\n%s\n-pool default,%s\n", admin(s), s.Loops, front(s, virtual), strings.Join(keys, ","))
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

// front are the lines that say where clients come from.
func front(s Setup, virtual []string) string {
	if s.Tap == nil {
		return fmt.Sprintf("-listen %s", s.Listen)
	}
	device := fmt.Sprintf("%s,address=%v", s.Tap.Device, s.Tap.Address)
	if c := s.Tap.Congestion; c == "cubic" || c == "reno" {
		device += ",congestion-control=" + c
	}
	keys := []string{"default", "listen=" + s.Listen.String(), "pool=default", "front=tap"}
	if s.Tap.Servers != "" {
		device += fmt.Sprintf("\n-tap %s,side=servers,address=%v", s.Tap.Servers, s.Tap.Behind)
		keys = append(keys, "mode=forward", "snat="+s.Tap.Behind.Addr().String())
	}
	return fmt.Sprintf("-tap %s\n-virtual %s", device, strings.Join(settle(keys, virtual), ","))
}

func admin(s Setup) string {
	if s.Tap == nil {
		return "off"
	}
	return "unix:" + socket(s)
}

func socket(s Setup) string { return filepath.Join(s.Dir, "admin.sock") }

// Opened is when it can be asked, which comes last.
func (penstock) Opened(s Setup) bool {
	c, err := net.Dial("unix", socket(s))
	if err == nil {
		c.Close()
	}
	return err == nil
}

// Handshakes are those that its metrics tell of.
func (penstock) Handshakes(s Setup) (h Handshakes, err error) {
	const patience = 5 * time.Second
	c := http.Client{Timeout: patience, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket(s))
		},
	}}
	answer, err := c.Get("http://penstock/metrics")
	if err != nil {
		return h, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		return h, fmt.Errorf("penstock's metrics: %s: %v", answer.Status, err)
	}
	return handshakes(string(text))
}

// handshakes reads them out of metrics: what was begun, but for what was dropped.
func handshakes(text string) (h Handshakes, err error) {
	found := 0
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
		name, _, _ = strings.Cut(name, "{")
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			continue
		}
		switch name {
		case "penstock_tap_syns_total":
			h.Begun += int64(n)
			found++
		case "penstock_tap_parked":
			h.Parked += int64(n)
			found++
		case "penstock_tap_syn_drops_total":
			if !strings.Contains(line, `"checksum"`) { // these did not count as begun
				h.Begun -= int64(n)
			}
		}
	}
	if found < 2 {
		return h, errors.New("penstock's metrics tell of no handshakes")
	}
	return h, nil
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
