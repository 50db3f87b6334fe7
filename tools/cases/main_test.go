package cases

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

var (
	long   = flag.Bool("long", false, "run the full counts, which takes minutes")
	binary = flag.String("binary", "", "test this penstock; default: build it")
)

func TestMain(m *testing.M) {
	if os.Getenv(crowdEnv) != "" {
		os.Exit(crowdMain(os.Stdin, os.Stdout))
	}
	flag.Parse()
	os.Exit(withBinary(m.Run))
}

// withBinary builds penstock for the tests, in their own flavour.
func withBinary(run func() int) int {
	dir, err := os.MkdirTemp("", "cases")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if *binary == "" {
		*binary = filepath.Join(dir, "penstock")
		args := []string{"build", "-o", *binary}
		if raced {
			args = append(args, "-race")
		}
		build := exec.Command("go", append(args, "penstock/cmd/penstock")...)
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			fmt.Fprintln(os.Stderr, "build penstock:", err)
			return 1
		}
	}
	code := run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// count is how often to do something: the full number with -long.
func count(short, full int) int {
	if *long {
		return full
	}
	return short
}
