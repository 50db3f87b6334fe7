package cases

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

var (
	long   = flag.Bool("long", false, "run the full counts, for half an hour")
	whole  = flag.Bool("whole", false, "run all once more over a TAP device")
	binary = flag.String("binary", "", "test this penstock; default: build it")
)

func TestMain(m *testing.M) {
	if os.Getenv(crowdEnv) != "" {
		os.Exit(crowdMain(os.Stdin, os.Stdout))
	}
	flag.Parse()
	*overTap = *overTap || *forward
	moreParallel()
	os.Exit(withBinary(func() int { return runAll(m) }))
}

// runAll runs the tests, over TAP in a namespace.
func runAll(m *testing.M) int {
	if !*overTap {
		return runNoting(m)
	}
	if os.Getenv(insideEnv) == "" {
		return inNamespace()
	}
	if err := furnish(); err != nil {
		fmt.Fprintln(os.Stderr, "furnish a network namespace:", err)
		return 1
	}
	return runNoting(m)
}

func runNoting(m *testing.M) int {
	defer noteStalls()()
	return m.Run()
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
		if err := lookAtSources(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
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
	var leaks error
	if code == 0 && !happens(patience, func() bool { leaks = goleak.Find(); return leaks == nil }) {
		fmt.Fprintln(os.Stderr, leaks)
		return 1
	}
	return code
}

// lookAtSources looks at the files that the binary is made of, so that go test
// knows what its cached result depends on.
func lookAtSources() error {
	for _, dir := range []string{"cmd", "lb", "stack"} {
		err := filepath.WalkDir(filepath.Join("..", "..", dir), func(path string, d os.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".go") {
				_, err = os.Stat(path)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("look at sources: %w", err)
		}
	}
	return nil
}

// moreParallel lets more tests run at once than there are cores: most of their
// time they wait.
func moreParallel() {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		flag.Set("test.parallel", strconv.Itoa(4*runtime.GOMAXPROCS(0)))
	}
}

// count is how often to do something: the full number with -long.
func count(short, full int) int {
	if *long {
		return full
	}
	return short
}
