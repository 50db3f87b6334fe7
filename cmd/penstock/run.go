package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"penstock/lb/control/config"
	"penstock/lb/control/ctl"
	"penstock/lb/control/top"
)

// env is what the program takes from its process, so that a test can run it.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	config         config.Env
	signals        <-chan os.Signal
}

func process() env {
	// Notified at once, so that a signal that comes early is not lost.
	c := make(chan os.Signal, 16)
	signal.Notify(c, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	return env{os.Stdin, os.Stdout, os.Stderr, config.OS(), c}
}

// Exit codes.
const (
	exitOK    = 0
	exitError = 1 // something failed
	exitUsage = 2 // the command line is wrong
)

// run is the program. It returns the exit code.
func run(args []string, e env) int {
	command := "run"
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		command, args = args[0], args[1:]
	}
	switch command {
	case "run":
		return withConfig(args, e, func(c *config.Config, e env) int { return serve(c, args, e) })
	case "ctl":
		return ctl.Run(args, e.stdout, e.stderr, e.config)
	case "check":
		return withConfig(args, e, check)
	case "top":
		return top.Run(args, e.stdin, e.stdout, e.stderr, e.config)
	case "version":
		fmt.Fprintln(e.stdout, version())
		return exitOK
	case "help":
		config.Usage(e.stdout)
		return exitOK
	default:
		fmt.Fprintf(e.stderr, "penstock: no command %q; allowed are run, check, ctl, top, version, help\n", command)
		return exitUsage
	}
}

// withConfig parses the flags and hands the configuration to a command.
func withConfig(args []string, e env, command func(*config.Config, env) int) int {
	c, err := config.Parse(args, e.config)
	switch {
	case errors.Is(err, config.ErrHelp):
		config.Usage(e.stdout)
		return exitOK
	case err != nil:
		fmt.Fprintln(e.stderr, err)
		return exitUsage
	}
	return command(c, e)
}

func check(c *config.Config, e env) int {
	if err := config.Print(e.stdout, c); err != nil {
		fmt.Fprintln(e.stderr, "penstock:", err)
		return exitError
	}
	return exitOK
}

func version() string {
	v, revision := "devel", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" {
			v = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = " " + s.Value
			}
		}
		return "penstock " + v + revision + " " + info.GoVersion
	}
	return "penstock " + v
}
