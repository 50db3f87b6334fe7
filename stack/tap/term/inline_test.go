package term

import (
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"penstock/stack/tap/device"
	"penstock/stack/tap/frame"
)

// What inline.go and fill.go do without netstack's knowledge was written for one
// text of netstack. If another version is pinned and this fails, read the functions
// again, see whether those still do the same, and only then write the new sums here.
func TestInline(t *testing.T) {
	tcp, err := build.Import("gvisor.dev/gvisor/pkg/tcpip/transport/tcp", ".", build.FindOnly)
	if err != nil {
		t.Fatal(err)
	}
	buffer, err := build.Import("gvisor.dev/gvisor/pkg/buffer", ".", build.FindOnly)
	if err != nil {
		t.Fatal(err)
	}
	sums(t, buffer.Dir, []sourced{
		{"buffer.go", "Buffer.WriteFromReaderAndLimitedReader", "0fa967870b9a"}, // what fill does in its place
		{"view.go", "NewView", "1dbf9945fa3a"},                                  // ... and unclear
		{"chunk.go", "newChunk", "f0dfc3584f11"},
		{"chunk.go", "chunk.destroy", "95b2bc2cd871"},
		{"chunk.go", "getChunkPool", "2c9c818d5137"},
		{"chunk_refs.go", "chunkRefs.InitRefs", "0f2f79eaa70d"},
	})
	sums(t, tcp.Dir, []sourced{
		{"dispatcher.go", "processor.start", "3ead20aa20fa"}, // what run and handle do in its place
		{"dispatcher.go", "processor.queueEndpoint", "26b5c508ee04"},
		{"dispatcher.go", "dispatcher.pause", "0c88f9fcfe26"},
		{"dispatcher.go", "dispatcher.resume", "06ed1d9900c6"},
		{"dispatcher.go", "epQueue.dequeue", "2dc35012b3e6"}, // ... and what they call
		{"dispatcher.go", "handleConnecting", "ed0ef33a300a"},
		{"dispatcher.go", "handleConnected", "b81828ddc592"},
		{"dispatcher.go", "handleTimeWait", "b9ea8d4f0b06"},
		{"dispatcher.go", "handleListen", "e9d16b3c8ef8"},
		{"segment_queue.go", "segmentQueue.empty", "e8ac84097898"},
		{"endpoint.go", "Endpoint.UnlockUser", "a8489e7684db"}, // gives the processor work
		{"connect.go", "Endpoint.drainClosingSegmentQueue", "b33a55fc3e0e"},
		{"connect.go", "Endpoint.notifyProcessor", "ef0e9f1e1ca9"},
		{"endpoint.go", "Endpoint.Write", "f3544dade01e"}, // what fill does in its place
		{"endpoint.go", "Endpoint.queueSegment", "8e8a9888ab50"},
		{"endpoint.go", "Endpoint.readFromPayloader", "524696eb0e59"},
		{"endpoint.go", "Endpoint.isEndpointWritableLocked", "0e05a57096ee"}, // ... and what it calls
		{"segment.go", "newOutgoingSegment", "ed1ccb104d60"},
		{"snd.go", "protectedWriteList.PushBack", "3e007bdbc007"},
		{"connect.go", "Endpoint.sendData", "c992d469e177"},
	})
}

// sourced is a function of netstack's and the sum of its text.
type sourced struct{ file, name, sum string }

func sums(t *testing.T, dir string, list []sourced) {
	t.Helper()
	for _, f := range list {
		if got := sourceSum(t, filepath.Join(dir, f.file), f.name); got != f.sum {
			t.Errorf("%s in %s has the sum %s, not %s", f.name, f.file, got, f.sum)
		}
	}
}

// sourceSum returns a sum of a function's text, with neither comments nor space.
func sourceSum(t *testing.T, path, name string) string {
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || funcName(f) != name {
			continue
		}
		at := func(p token.Pos) int { return files.Position(p).Offset }
		var text strings.Builder
		for line := range strings.Lines(string(src[at(f.Type.Pos()):at(f.End())])) {
			line, _, _ = strings.Cut(line, "//")
			text.WriteString(strings.Join(strings.Fields(line), " "))
		}
		return fmt.Sprintf("%x", sha256.Sum256([]byte(text.String())))[:12]
	}
	return "none"
}

func funcName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	recv := f.Recv.List[0].Type
	if star, ok := recv.(*ast.StarExpr); ok {
		recv = star.X
	}
	return recv.(*ast.Ident).Name + "." + f.Name.Name
}

// goroutine names the one that runs.
func goroutine() string {
	b := make([]byte, 64)
	name, _, _ := strings.Cut(string(b[:runtime.Stack(b, false)]), " [")
	return name
}

// loopLink fails if something is written on another goroutine than the loop's.
type loopLink struct {
	atOnce
	t    *testing.T
	loop string
	rig  *rig
}

func (l *loopLink) SendParts(h *device.VNet, frags [][]byte) {
	if g := goroutine(); g != l.loop {
		l.t.Errorf("written on %s, not on the loop's %s", g, l.loop)
	}
	l.rig.SendParts(h, frags)
}

// Handshakes, segments, timers and the end: netstack does all of it on the loop.
func TestNothingElsewhere(t *testing.T) {
	r := newRealRig(t)
	l := &loopLink{t: t, loop: goroutine(), rig: r}
	r.link.to = l
	r.link.outbound = func(*Segment) bool { return goroutine() != l.loop }
	r.mail.wake = func() { t.Errorf("the loop is woken by %s", goroutine()) }
	half := r.client(1)
	half.send(frame.SYN)
	r.next()
	r.pass(1100 * time.Millisecond) // SYN-ACK again
	half.want(frame.SYN | frame.ACK)

	f := r.client(2)
	conn := f.handshake()
	r.SetOptions(conn, Options{KeepAlive: 5 * time.Second, UserTimeout: time.Minute})
	r.pass(6 * time.Second)
	for len(r.out) > 1 {
		r.next() // SYN-ACKs of the other
	}
	f.want(frame.ACK) // a probe
	f.ack++
	f.send(frame.ACK)
	r.Send(conn, []byte("data"))
	f.want(frame.ACK)
	r.pass(2 * time.Second) // data again
	f.want(frame.ACK)
	f.send(frame.ACK)
	r.ShutdownWrite(conn)
	r.Close(conn)
	f.want(frame.ACK | frame.FIN)
	f.send(frame.ACK | frame.FIN)
	f.want(frame.ACK)
	if n := r.Stats().Connections; n != 1 {
		t.Errorf("%d connections, want one in TIME-WAIT", n)
	}
	r.pass(3 * time.Second)
	if n := r.Stats().Connections; n != 0 {
		t.Errorf("%d connections", n)
	}
	for len(r.out) > 0 {
		<-r.out // SYN-ACKs of the other
	}
	r.client(3).handshake()
	r.Free()
	r.freed = true
}

// A burst is handled whole, however large.
func TestBurst(t *testing.T) {
	r := newRig(t, Config{})
	f := r.client(1)
	conn := f.handshake()
	const n = 400 // what a buffer of 256 KiB holds of segments so small
	for range n {
		f.send(frame.ACK, 'x')
	}
	r.step()
	acks := len(r.out)
	got, e := r.Recv(conn, make([]byte, 2*n))
	if got != n || e != 0 || acks == 0 || acks > n/10 {
		t.Errorf("%d bytes of %d, %v, %d ACKs", got, n, e, acks)
	}
}

// What the loop does before netstack has seen what was injected comes first.
func TestOrder(t *testing.T) {
	r := newRig(t, Config{})
	// Closed while data is on its way in: nobody will read it.
	f := r.client(1)
	conn := f.handshake()
	f.send(frame.ACK, 'x')
	r.Close(conn)
	if p, _ := r.next(); !p.Has(frame.FIN) {
		t.Errorf("%+v, want FIN", p)
	}
	if p, _ := r.next(); !p.Has(frame.RST) {
		t.Errorf("%+v, want RST", p)
	}
	// Reset while data is on its way in: the data finds the listener.
	f = r.client(2)
	conn = f.handshake()
	f.send(frame.ACK, 'x')
	r.Reset(conn)
	for range 2 {
		if p, _ := r.next(); !p.Has(frame.RST) {
			t.Errorf("%+v, want RST", p)
		}
	}
	// A SYN that nothing came of yet can't be forgotten, nor refused by Unlisten.
	f = r.client(3)
	f.send(frame.SYN)
	if r.Forget(f.peer(), f.local()) {
		t.Error("forgot what was not there")
	}
	f.want(frame.SYN | frame.ACK)
	g := r.client(4)
	g.send(frame.SYN)
	r.Unlisten(server4)
	if p, _ := r.next(); !p.Has(frame.RST) || p.DstPort != 4 {
		t.Errorf("%+v, want RST", p)
	}
	r.none("for the half-open one")
	if n := len(r.net.RegisteredEndpoints()); n != 0 || r.Stats().Connections != 0 {
		t.Errorf("%d endpoints left", n)
	}
}

// Free ends all there is, in any state, and leaves no goroutine (see TestMain).
func TestFreeInAnyState(t *testing.T) {
	for range 20 {
		r := newRig(t, Config{})
		states := []func(f *flow){
			func(f *flow) { f.send(frame.SYN) },                     // not looked at
			func(f *flow) { f.synAck() },                            // half-open
			func(f *flow) { f.synAck(); f.send(frame.ACK) },         // not accepted
			func(f *flow) { f.handshake(); f.send(frame.ACK, 'x') }, // not looked at
			func(f *flow) { r.Send(f.handshake(), make([]byte, 1<<20)) },
			func(f *flow) { r.ShutdownWrite(f.handshake()) },
			func(f *flow) { r.Close(f.handshake()) },
			func(f *flow) { c := f.handshake(); f.send(frame.ACK | frame.FIN); r.step(); r.Close(c) },
			func(f *flow) { // TIME-WAIT
				r.Close(f.handshake())
				f.want(frame.ACK | frame.FIN)
				f.send(frame.ACK | frame.FIN)
				f.want(frame.ACK)
			},
		}
		for i := range 10 * len(states) {
			states[i%len(states)](r.client(uint16(i + 1)))
			if i%len(states) != 0 { // what was not looked at stays so
				for r.step(); len(r.out) > 0; {
					<-r.out
				}
			}
		}
		r.Free()
		if n := len(r.net.RegisteredEndpoints()); n != 0 {
			t.Fatalf("%d endpoints left", n)
		}
		if n := r.Stats().Connections; n != 0 {
			t.Fatalf("%d connections left", n)
		}
	}
}
