package top

import (
	"os"
	"testing"

	"penstock/lb/control/config"
	"penstock/stack/leak"
)

// childEnv makes the test binary the program, for tests with a terminal of
// its own.
const childEnv = "PENSTOCK_TOP_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		os.Exit(Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, config.OS()))
	}
	leak.Main(m)
}
