package stage

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Do plays a line of a script:
//
//	arrive VIRTUAL N [CLIENT]    clients come, from 192.0.2.1 on or all from 192.0.2.CLIENT
//	release N                    the oldest connections end
//	fail N                       the oldest dials fail
//	leave N                      the oldest waiters leave
//	wait TIME
//	monitor MEMBER up|down TEXT  member number MEMBER's monitor says so
//	conflict N                   another change comes first, N times
//	drain
func (s *Stage) Do(line string) error {
	words := append(strings.Fields(line), "", "", "", "")
	verb, arg := words[0], words[1]
	n, _ := strconv.Atoi(arg)
	switch verb {
	case "arrive":
		return s.arrivals(words[1], words[2], words[3])
	case "release", "fail", "leave":
		for range n {
			map[string]func(){"release": s.Release, "fail": s.Fail, "leave": s.Leave}[verb]()
		}
	case "wait":
		t, err := time.ParseDuration(arg)
		s.Pass(t)
		return err
	case "monitor":
		s.Monitor(n, words[2] == "up", strings.TrimSpace(strings.Join(words[3:], " ")))
	case "conflict":
		s.conflict(n)
	case "drain":
		s.Drain()
	default:
		return fmt.Errorf("no such word")
	}
	return nil
}

func (s *Stage) arrivals(virtual, many, from string) error {
	n, err := strconv.Atoi(many)
	client, _ := strconv.Atoi(from)
	for range n {
		if from == "" {
			client = int(s.last) + 1
		}
		s.Arrive(virtual, Client(client))
	}
	return err
}

// conflict lets n changes come between a change and what it is based on.
func (s *Stage) conflict(n int) {
	s.Before = func() {
		if n == 0 {
			return
		}
		n--
		before := s.Before
		s.Before = nil
		c := s.Config()
		s.Apply(c, c.Clone())
		s.Before = before
	}
}
