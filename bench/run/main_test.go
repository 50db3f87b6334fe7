package run

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"penstock/bench/client"
	"penstock/bench/reflect"
	"penstock/bench/server"
	"penstock/bench/syn"
)

// The test binary plays the clients, the servers and the proxies too.
func TestMain(m *testing.M) {
	roles := map[string]func(context.Context, []string, io.Reader, io.Writer, io.Writer) error{
		"client": client.Command, "server": server.Command, "syn": syn.Command, "proxy": proxyCommand, "tapped": tappedCommand,
		"reflect": reflect.Command,
	}
	if len(os.Args) < 2 || roles[os.Args[1]] == nil {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := roles[os.Args[1]](ctx, os.Args[2:], os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
