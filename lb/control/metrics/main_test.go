package metrics_test

import (
	"fmt"
	"strings"
	"testing"

	"penstock/lb/control/stage"
	"penstock/stack/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// flags are a place with every kind of limit, and with none.
var flags = strings.Fields(`
	-virtual web,listen=127.0.0.1:80,pool=app,connection-limit=9,persist=source -virtual mail,listen=127.0.0.1:25,pool=mx
	-pool app,queue-time-limit=5s,reselect-tries=9 -pool mx,queue-depth-cap=none,monitor=none
	-member 10.0.0.1:80,pool=app,connection-limit=1 -member 10.0.0.2:80,pool=app,connection-limit=2
	-member 10.0.0.1:25,pool=mx -member 10.0.0.3:25,pool=mx,state=disabled -node 10.0.0.1,connection-limit=7`)

func newStage(t testing.TB, flags []string) *stage.Stage {
	t.Helper()
	s, err := stage.New(flags)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// many lets clients 1 to n in.
func many(s *stage.Stage, virtual string, n int) {
	for i := range n {
		s.Arrive(virtual, stage.Client(i+1))
	}
}

// members are so many -member flags.
func members(n int) (flags []string) {
	for i := range n {
		flags = append(flags, fmt.Sprintf("-member=10.0.1.1:%d,connection-limit=10", 1000+i))
	}
	return flags
}
