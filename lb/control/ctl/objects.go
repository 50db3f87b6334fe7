package ctl

import (
	"bytes"
	"encoding/json"
)

// What is shown of the interface's objects; package admin says what they are.
type (
	virtual struct {
		Name        string
		Listen      string
		Pool        string
		Settings    settings
		Connections connections
		Refused     int64
		Bytes       traffic
		Connq       connq
		Persistence struct{ Records, Bytes int64 }
		outcomes
	}
	pool struct {
		Name              string
		Settings          settings
		State             string
		Reason            string
		EffectiveDepth    *int64
		ReleasesPerSecond *float64
		Connections       connections
		Bytes             traffic
		Connq             connq
		ConnqAll          connq
		Members           []member
		outcomes
	}
	member struct {
		Pool         string
		Address      string
		Settings     settings
		State        string
		Reason       string
		Connections  connections
		Bytes        traffic
		Connq        connq
		DialFailures int64
	}
	node struct {
		Address     string
		Settings    settings
		State       string
		Connections connections
		Bytes       traffic
		Members     []string
	}
	waiter struct {
		Position   int64
		Client     string
		Virtual    string
		Pool       string
		Queue      string
		AgeMs      float64
		ExpectedMs *float64
		Class      int64
		Tries      int64
	}
	waiterPage struct {
		Total   int64
		Skip    int64
		Waiters []waiter
	}
)

// Their parts.
type (
	connections struct{ Current, Maximum, Total, Limit int64 }
	traffic     struct{ Up, Down int64 }
	connq       struct {
		Depth, Serviced                         int64
		AgeHeadMs, AgeMaxMs, AgeEmaMs, AgeEdmMs float64
	}
	outcomes struct {
		Expired, Overflowed, Abandoned, Moved, Requeued, RefusedNoMember, Early, Shed, Flushed int64
	}
	setting  struct{ Key, Value string }
	settings []setting
)

// UnmarshalJSON keeps the order of the keys.
func (s *settings) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		var value string
		if err := d.Decode(&value); err != nil {
			return err
		}
		name, _ := key.(string)
		*s = append(*s, setting{name, value})
	}
	return nil
}

// list is those that happened, for people.
func (o *outcomes) list() (all settings) {
	for _, n := range []struct {
		name string
		n    int64
	}{
		{"expired", o.Expired}, {"overflowed", o.Overflowed}, {"abandoned", o.Abandoned}, {"moved", o.Moved},
		{"requeued", o.Requeued}, {"refused, no member", o.RefusedNoMember}, {"refused early", o.Early},
		{"shed", o.Shed}, {"flushed", o.Flushed},
	} {
		if n.n > 0 {
			all = append(all, setting{n.name, count(n.n)})
		}
	}
	return all
}
