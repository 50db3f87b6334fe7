package config

import (
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestCheck runs the scripts in testdata:
//
//	file name=NAME           a flag file
//	check [uid=N] [dir=DIR]  what "penstock check" says, or the mistakes
//	flags                    the same configuration as flags
func TestCheck(t *testing.T) {
	datadriven.Walk(t, "testdata/check", func(t *testing.T, path string) {
		files := map[string]string{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			env := testEnv(files)
			for _, a := range d.CmdArgs {
				switch a.Key {
				case "name":
					files[a.Vals[0]] = d.Input
					return ""
				case "uid":
					env.UID, _ = strconv.Atoi(a.Vals[0])
				case "dir":
					env.RuntimeDir = a.Vals[0]
				}
			}
			return runCheck(d.Cmd, d.Input, env)
		})
	})
}

func runCheck(cmd, input string, env Env) string {
	c, err := Parse(strings.Fields(input), env)
	if err != nil {
		return err.Error() + "\n"
	}
	if cmd == "flags" {
		return strings.Join(c.Flags(), "\n") + "\n"
	}
	var b strings.Builder
	if err := Print(&b, c); err != nil {
		return err.Error() + "\n"
	}
	return b.String()
}
