package attend

import (
	"context"
	"io"
	"net/netip"
	"strings"
	"testing"

	"penstock/bench/tally"
)

// deaf is a server that nobody comes to.
type deaf struct{ counting chan bool }

func (deaf) Addresses() []netip.AddrPort {
	return []netip.AddrPort{netip.MustParseAddrPort("198.18.0.2:80")}
}
func (d deaf) Count()                    { d.counting <- true }
func (d deaf) Pause()                    { d.counting <- false }
func (deaf) Now() (open, accepted int64) { return 3, 17 }
func (deaf) Serve(ctx context.Context) (tally.Server, error) {
	<-ctx.Done()
	return tally.Server{Requests: 5}, nil
}

// Each word is answered, the tally comes last, and a mistake is named.
func TestServe(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	d := deaf{make(chan bool, 2)}
	var out, mistakes strings.Builder
	words, in := io.Pipe()
	done := make(chan error)
	go func() {
		done <- Asked{Name: "it", Words: words, Answers: &out, Mistakes: &mistakes}.Serve(ctx, d)
	}()
	io.WriteString(in, "count\nask\nwhat?\npause\n")
	if !<-d.counting || <-d.counting {
		t.Error("counted the wrong way round")
	}
	in.Close() // which means nothing
	io.WriteString(in, "")
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	const want = `{"listening":["198.18.0.2:80"]}
{"counting":true}
{"open":3,"accepted":17}
`
	if got := out.String(); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "}\n") || !strings.Contains(got, `"requests":5`) {
		t.Error(got)
	}
	if got := mistakes.String(); got != "it: command \"what?\": count, pause or ask\n" {
		t.Error(got)
	}
}
