package cases

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// do sends a request with a JSON body to the admin socket.
func (a api) do(method, path, body string) (code int, text string) {
	a.t.Helper()
	r, err := http.NewRequest(method, "http://admin"+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	w, err := a.client.Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	defer w.Body.Close()
	b, err := io.ReadAll(w.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	return w.StatusCode, string(b)
}

// patch sets a key of an object.
func (p *proxy) patch(path, key, value string) {
	p.t.Helper()
	body, _ := json.Marshal(map[string]string{key: value})
	if code, text := p.api.do("PATCH", path, string(body)); code != http.StatusOK {
		p.t.Fatalf("PATCH %s %s: %d\n%s", path, body, code, text)
	}
}

func (p *proxy) setPool(key, value string) {
	p.t.Helper()
	p.patch("/v1/pools/p", key, value)
}

func (p *proxy) setMember(s *server, key, value string) {
	p.t.Helper()
	p.patch("/v1/members/p/"+s.addr, key, value)
}

// state has an operator enable or disable a member, or take it offline.
func (p *proxy) state(s *server, state string) {
	p.t.Helper()
	p.setMember(s, "state", state)
}

// add makes a server a member of the pool.
func (p *proxy) add(s *server, limit int) {
	p.t.Helper()
	body := `{"pool":"p","address":"` + s.addr + `","connection-limit":` + itoa(limit) + `}`
	if code, text := p.api.do("POST", "/v1/members", body); code != http.StatusCreated {
		p.t.Fatalf("POST %s: %d\n%s", body, code, text)
	}
}

// remove takes a server out of the pool.
func (p *proxy) remove(s *server, query string) {
	p.t.Helper()
	if code, text := p.api.do("DELETE", "/v1/members/p/"+s.addr+query, ""); code != http.StatusOK {
		p.t.Fatalf("DELETE: %d\n%s", code, text)
	}
}

// memberState is what the API says of a member.
type memberState struct {
	State        string
	DialFailures int `json:"dialFailures"`
	Connections  struct{ Current, Total int }
	Connq        struct{ Depth, Serviced int }
	Moved        int
}

func (p *proxy) member(s *server) (m memberState) {
	p.t.Helper()
	if err := json.Unmarshal([]byte(p.api.get("/v1/members/p/"+s.addr)), &m); err != nil {
		p.t.Fatal(err)
	}
	return m
}

// waitingAll counts who is parked, for the pool or one of its members.
func (p *proxy) waitingAll() int {
	p.t.Helper()
	var s struct{ ConnqAll struct{ Depth int } }
	if err := json.Unmarshal([]byte(p.api.get("/v1/pools/p")), &s); err != nil {
		p.t.Fatal(err)
	}
	return s.ConnqAll.Depth
}

// awaitAll waits until n clients are parked, for the pool or its members.
func (p *proxy) awaitAll(n int) {
	p.t.Helper()
	await(p.t, patience, itoa(n)+" parked in all queues", func() bool { return p.waitingAll() == n })
}

// ctl runs penstock ctl, which must succeed, and returns what it prints.
func (p *proxy) ctl(words ...string) string {
	p.t.Helper()
	out, err := p.ctlFails(words...)
	if err != nil {
		p.t.Fatalf("ctl %v: %v\n%s", words, err, out)
	}
	return out
}

func (p *proxy) ctlFails(words ...string) (said string, err error) {
	args := append([]string{"ctl", "-admin", "unix:" + filepath.Join(p.dir, "admin.sock")}, words...)
	cmd := exec.Command(*binary, args...)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err = cmd.Run()
	return out.String() + complaint.String(), err
}

// flagFile is a file of flags that a running proxy reads again.
type flagFile struct {
	t    testing.TB
	path string
	link *link // over TAP
}

// filed starts a proxy whose objects stand in a file.
func filed(t testing.TB, lines string, s setup) (*proxy, flagFile) {
	t.Helper()
	suits(t)
	f := flagFile{t: t, path: filepath.Join(t.TempDir(), "flags")}
	if *overTap {
		s.link = newLink(t)
		s.link.reach()
		f.link = s.link
	}
	f.write(lines)
	s.flags = append(s.flags, "-flagfile", f.path)
	s.file = true
	return s.start(t), f
}

// write replaces the file in one step.
func (f flagFile) write(lines string) {
	f.t.Helper()
	if f.link != nil {
		lines = f.link.over(lines)
	}
	if err := os.WriteFile(f.path+"~", []byte(lines), 0o600); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Rename(f.path+"~", f.path); err != nil {
		f.t.Fatal(err)
	}
}

// reload has the proxy read the file again, and waits until it has.
func (p *proxy) reload(f flagFile, lines string) {
	p.t.Helper()
	f.write(lines)
	p.hangUp("flag file applied")
}

// hangUp sends SIGHUP and waits for a line that says what came of it.
func (p *proxy) hangUp(answer string) {
	p.t.Helper()
	before := p.linesWith(answer)
	p.signal(syscall.SIGHUP)
	await(p.t, patience, answer, func() bool { return p.linesWith(answer) > before })
}

// objects returns the lines of a flag file for the setup's objects.
func (s setup) objects() string {
	var b strings.Builder
	for args := s.args()[2:]; len(args) >= 2; args = args[2:] {
		b.WriteString(args[0] + " " + args[1] + "\n")
	}
	return b.String()
}

// sampled looks at a number again and again for a time.
func sampled(span time.Duration, look func(since time.Duration)) {
	for start := time.Now(); time.Since(start) < span; time.Sleep(2 * time.Millisecond) {
		look(time.Since(start))
	}
}

// settingsOf returns the settings in an object of the API.
func settingsOf(t testing.TB, object string) string {
	t.Helper()
	var o struct {
		Settings json.RawMessage
		Members  []struct{ Settings json.RawMessage }
	}
	if err := json.Unmarshal([]byte(object), &o); err != nil {
		t.Fatal(err)
	}
	text := string(o.Settings)
	for _, m := range o.Members {
		text += string(m.Settings)
	}
	return text
}
