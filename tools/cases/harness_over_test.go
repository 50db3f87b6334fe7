package cases

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

var (
	overTap  = flag.Bool("tap", false, "run the cases over front=tap, in a network namespace of their own")
	over     = flag.String("over", "", "those of the cases that TestOverTap and TestOverForward run; a regular expression")
	synProof = flag.String("syn-proof", "", "with -tap: syn-proof of each virtual server that says nothing of it")
)

// insideEnv says that the process is in the namespace.
const insideEnv = "PENSTOCK_CASES_INSIDE"

// notOverTap are the tests that have no meaning over TAP, and why. A name may
// be that of a subtest.
var notOverTap = map[string]string{
	"TestAdminSocketIsPrivate":            onlyAdmin,
	"TestAdminToken":                      onlyAdmin,
	"TestAdminCrossSite":                  onlyAdmin,
	"TestC53DescriptorsRunOut":            noListener,
	"TestC54FullIsQuiet":                  noListener,
	"TestSixHundredClients256Descriptors": noListener,
	"TestC57ResumesAfterTheLast":          noListener,
	"TestC55LimitIsSaid":                  noListener,
	"TestC19BareFINWhileParked/keep":      silent + ": on-client-close has nothing to judge",
	"TestParkedClientSendsAllItCan":       silent,
	"TestC24WaysToRefuse":                 "a handshake is refused by reset or silence, nothing else",
	"TestBothFamilies":                    "no listener is for both families; see TestTapFamilies",
}

// notProven are those that have none with syn-proof=always.
var notProven = map[string]string{
	"TestC19BareFINWhileParked": "a FIN does not get past a window of zero: the client's kernel does not send it",
}

// notForwarded are those that have none with mode=forward, besides.
var notForwarded = map[string]string{
	"TestC62HeaderIsNotGuessed/on":          noHeaders,
	"TestC62HeaderIsNotGuessed/not_trusted": noHeaders,
	"TestC63LengthsInHeader":                noHeaders,
	"TestC64SentAsSet":                      noHeaders,
	"TestC64HeaderOfRequeued":               noHeaders,
	"TestHeaderIsBelieved":                  noHeaders,
	"TestC65ChecksAreLocal":                 noHeaders,
	"TestC66HeaderInPieces":                 noHeaders,
	"TestDownMemberReselects":               "a connection that is there is its server's own: it can't go on at another",
	"TestTapFamilies":                       oneFamily + "; see TestForwardFamilies",
	"TestTapChecksums":                      oneFamily + "; see TestForwardOnBothSides",
}

const (
	noHeaders = "nothing is put into a connection, nor read of it, so there are no PROXY headers"
	oneFamily = "clients and servers of a forwarded connection are of one family"

	onlyAdmin  = "it is about the admin interface only"
	noListener = "there is no listening socket that could pause, and who is parked has no descriptor"
	silent     = "a client that is still connecting can say nothing"
)

// suits skips a test that is not for the front end it would run with.
func suits(t testing.TB) {
	t.Helper()
	name := t.Name()
	for *overTap {
		if reason := notOverTap[name]; reason != "" {
			t.Skip(reason)
		}
		if reason := notProven[name]; reason != "" && *synProof == "always" {
			t.Skip(reason)
		}
		if reason := notForwarded[name]; reason != "" && *forward {
			t.Skip(reason)
		}
		i := strings.LastIndexByte(name, '/')
		if i < 0 {
			return
		}
		name = name[:i]
	}
}

// crossed is how many more clients than came the proxy has had. There is none, but
// over TAP: a SYN that is sent again while the proxy stands still, and so crosses
// the reset by which its client is refused, is a client to it.
func (p *proxy) crossed(came int, since time.Time) int {
	p.t.Helper()
	n := p.accepted() - came
	stall := stalledIn(since, time.Now())
	if n < 0 || n > 0 && (!*overTap || stall < time.Second/2) {
		p.t.Errorf("%d accepted; want %d", came+n, came)
		return 0
	}
	if n > 0 {
		p.t.Logf("%d SYNs crossed a reset; %v for stalls", n, stall)
	}
	return n
}

// tapOnly skips a test that is for TAP only, where the others run.
func tapOnly(t testing.TB) {
	t.Helper()
	if !*overTap {
		t.Skip("with front=tap only; TestOverTap runs it")
	}
}

// The tables above name tests that are there.
func TestNotOverTapIsTrue(t *testing.T) {
	var all []byte
	files, _ := os.ReadDir(".")
	for _, f := range files {
		if strings.HasSuffix(f.Name(), "_test.go") {
			b, err := os.ReadFile(f.Name())
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, b...)
		}
	}
	for _, table := range []map[string]string{notOverTap, notProven, notForwarded} {
		for name := range table {
			function, _, _ := strings.Cut(name, "/")
			if !bytes.Contains(all, []byte("\nfunc "+function+"(t *testing.T)")) {
				t.Errorf("there is no %s", name)
			}
		}
	}
}

// All tests run once more with front=tap, and so do those that are for it only.
func TestOverTap(t *testing.T) {
	allAgain(t, "-tap")
}

// All tests run once more with mode=forward, and so do those that are for it
// only.
func TestOverForward(t *testing.T) {
	allAgain(t, "-forward")
}

func allAgain(t *testing.T, way string) {
	t.Helper()
	if *overTap {
		t.Skip("this is it")
	}
	if err := canTap(); err != nil {
		t.Skip(err)
	}
	if !*long && !*whole {
		t.Skip("takes minutes, and the machine for itself: see make tap")
	}
	for _, proof := range proofs() {
		t.Run("syn-proof="+proof, func(t *testing.T) { again(t, way, "-syn-proof="+proof) })
	}
}

// proofs are the ways in which all is run.
func proofs() []string {
	if *long {
		return []string{"auto", "always", "off"}
	}
	return []string{"auto"}
}

// canTap says why no test can run over TAP here.
func canTap() error {
	f, err := os.OpenFile("/dev/net/tun", os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("no TAP devices here: %w", err)
	}
	f.Close()
	if _, err := exec.LookPath("ip"); err != nil {
		return fmt.Errorf("no TAP devices without iproute2: %w", err)
	}
	cmd := exec.Command("true")
	isolate(cmd)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("no network namespaces here: %w", err)
	}
	return nil
}

// isolate starts a command in a network namespace of its own, with privileges
// in there. It is gone, with all devices, when its last process has ended.
func isolate(cmd *exec.Cmd) {
	a := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() != 0 {
		a.Cloneflags |= syscall.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	cmd.SysProcAttr = a
}

// inNamespace runs this process once more, in the namespace.
func inNamespace() int {
	cmd := exec.Command(os.Args[0], append([]string{"-binary=" + *binary}, os.Args[1:]...)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), insideEnv+"=1")
	isolate(cmd)
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		fmt.Fprintln(os.Stderr, "network namespace:", err)
		return 1
	}
	return cmd.ProcessState.ExitCode()
}

// again runs the tests once more with more flags, and reports each as a
// subtest.
func again(t *testing.T, flags ...string) {
	t.Helper()
	args := append([]string{"-binary=" + *binary, "-test.v", "-test.skip=^TestOver(Tap|Forward)$|^TestNotOverTap"}, flags...)
	if *over != "" {
		args = append(args, "-test.run="+*over)
	}
	flag.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "test.short", "test.parallel", "long", "test.failfast":
			args = append(args, "-"+f.Name+"="+f.Value.String())
		}
	})
	if end, ok := t.Deadline(); ok {
		args = append(args, "-test.timeout="+(time.Until(end)-5*time.Second).String())
	}
	cmd := exec.Command(os.Args[0], args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	r := readReport(out.Bytes())
	for _, test := range r.tests {
		t.Run(test.name, func(t *testing.T) { test.tell(t) })
	}
	if err != nil && !t.Failed() {
		t.Errorf("%v\n%s", err, tail(out.String(), 6000))
	}
}

// report is what go test -v prints, test by test.
type report struct {
	tests []*told
	by    map[string]*told
}

type told struct {
	name, result string
	lines        []string
}

func (r *report) test(name string) *told {
	name, _, _ = strings.Cut(name, "/")
	if r.by[name] == nil {
		r.by[name] = &told{name: name}
		r.tests = append(r.tests, r.by[name])
	}
	return r.by[name]
}

var (
	turnsTo = regexp.MustCompile(`^=== (?:RUN|CONT|NAME) +(\S+)$`)
	results = regexp.MustCompile(`^ *--- (PASS|FAIL|SKIP): (\S+) `)
)

func readReport(text []byte) *report {
	r := &report{by: map[string]*told{}}
	now := &told{}
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		if m := turnsTo.FindStringSubmatch(s.Text()); m != nil {
			now = r.test(m[1])
			continue
		}
		if m := results.FindStringSubmatch(s.Text()); m != nil {
			now = r.test(m[2])
			if !strings.Contains(m[2], "/") {
				now.result = m[1]
			}
		}
		now.lines = append(now.lines, s.Text())
	}
	return r
}

// tell gives a test's result as one's own.
func (r *told) tell(t *testing.T) {
	t.Log("\n" + strings.Join(r.lines, "\n"))
	switch r.result {
	case "PASS":
	case "SKIP":
		t.SkipNow()
	case "":
		t.Error("it did not end")
	default:
		t.FailNow()
	}
}
