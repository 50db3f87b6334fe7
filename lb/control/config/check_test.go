package config

import (
	"io/fs"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestCheck runs the scripts in testdata:
//
//	file name=NAME [mode=M]  a flag file or token file
//	check [uid=N] [dir=DIR]  what "penstock check" says, or the mistakes
//	flags                    the same configuration as flags
//	warnings                 what is warned about, or the mistakes
func TestCheck(t *testing.T) {
	datadriven.Walk(t, "testdata/check", func(t *testing.T, path string) {
		files := map[string]string{}
		modes := map[string]fs.FileMode{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			env := testEnv(files)
			env.FileMode = func(name string) (fs.FileMode, error) { return modes[name], nil }
			name := ""
			for _, a := range d.CmdArgs {
				switch a.Key {
				case "name":
					name = a.Vals[0]
					files[name] = d.Input
				case "mode":
					m, _ := strconv.ParseUint(a.Vals[0], 8, 32)
					modes[name] = fs.FileMode(m)
				case "uid":
					env.UID, _ = strconv.Atoi(a.Vals[0])
				case "dir":
					env.RuntimeDir = a.Vals[0]
				}
			}
			if d.Cmd == "file" {
				return ""
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
	switch cmd {
	case "flags":
		return strings.Join(c.Flags(), "\n") + "\n"
	case "warnings":
		return strings.Join(append(c.Warnings, ""), "\n")
	}
	var b strings.Builder
	if err := Print(&b, c); err != nil {
		return err.Error() + "\n"
	}
	return b.String()
}
