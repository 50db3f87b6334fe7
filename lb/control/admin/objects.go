package admin

import (
	"bytes"
	"encoding/json"
	"math"
	"time"

	"penstock/lb/control/config"
	"penstock/lb/dispatch"
	"penstock/stack/proxy"
)

// The objects of the interface. The order of their fields is that of the keys.
type (
	virtual struct {
		Name        string      `json:"name"`
		Listen      string      `json:"listen"`
		Front       string      `json:"front"`
		Mode        string      `json:"mode"`
		Pool        string      `json:"pool"`
		Settings    settings    `json:"settings"`
		Clients     int64       `json:"clients"` // connected, those that wait too
		Connections connections `json:"connections"`
		Refused     uint64      `json:"refused"`
		BadHeaders  uint64      `json:"badHeaders"` // no PROXY header, though it has to be
		Bytes       traffic     `json:"bytes"`
		Persistence records     `json:"persistence"`
		Connq       connq       `json:"connq"`
		outcomes
		Waits waits `json:"waits"`
	}
	pool struct {
		Name              string      `json:"name"`
		Settings          settings    `json:"settings"`
		State             string      `json:"state"`
		Reason            string      `json:"reason"`
		EffectiveDepth    *int64      `json:"effectiveDepth"`    // null: any number may wait
		ReleasesPerSecond *float64    `json:"releasesPerSecond"` // null: not known
		Connections       connections `json:"connections"`
		Bytes             traffic     `json:"bytes"`
		Connq             connq       `json:"connq"`
		ConnqAll          connq       `json:"connqAll"`
		outcomes
		Waits   waits    `json:"waits"`
		Members []member `json:"members"`
	}
	member struct {
		Pool         string      `json:"pool"`
		Address      string      `json:"address"`
		Node         string      `json:"node"`
		Settings     settings    `json:"settings"`
		State        string      `json:"state"`
		Reason       string      `json:"reason"`
		BackOffMs    ms          `json:"backOffMs"`
		RampLimit    *int64      `json:"rampLimit"` // null: does not ramp
		Monitor      monitor     `json:"monitor"`
		Connections  connections `json:"connections"`
		Bytes        traffic     `json:"bytes"`
		DialFailures uint64      `json:"dialFailures"`
		Connq        connq       `json:"connq"`
		outcomes
		Waits waits `json:"waits"`
	}
	node struct {
		Address     string      `json:"address"`
		Settings    settings    `json:"settings"`
		State       string      `json:"state"`
		Connections connections `json:"connections"`
		Bytes       traffic     `json:"bytes"`
		Members     []string    `json:"members"` // POOL/ADDRESS
	}
)

// Their parts.
type (
	connections struct {
		Current int64  `json:"current"`
		Maximum int64  `json:"maximum"` // at once, so far
		Total   uint64 `json:"total"`   // accepted; of all others: dialled
		Limit   int64  `json:"limit"`   // 0 none
	}
	traffic struct {
		Up   uint64 `json:"up"`
		Down uint64 `json:"down"`
	}
	records struct {
		Records int   `json:"records"`
		Bytes   int64 `json:"bytes"` // of memory
	}
	connq struct {
		Depth     int64  `json:"depth"`
		Serviced  uint64 `json:"serviced"`
		AgeHeadMs ms     `json:"ageHeadMs"`
		AgeMaxMs  ms     `json:"ageMaxMs"`
		AgeEmaMs  ms     `json:"ageEmaMs"`
		AgeEdmMs  ms     `json:"ageEdmMs"`
	}
	outcomes struct {
		Expired         uint64 `json:"expired"`
		Overflowed      uint64 `json:"overflowed"`
		Abandoned       uint64 `json:"abandoned"`
		Moved           uint64 `json:"moved"`
		Requeued        uint64 `json:"requeued"`
		RefusedNoMember uint64 `json:"refusedNoMember"`
		Early           uint64 `json:"early"`
		Shed            uint64 `json:"shed"`
		Flushed         uint64 `json:"flushed"`
	}
	waits struct { // null: nobody's wait ended so
		Served    *histogram `json:"served"`
		Refused   *histogram `json:"refused"`
		Abandoned *histogram `json:"abandoned"`
	}
	monitor struct {
		Kind   string  `json:"kind"` // "none", "tcp" or "http"
		Up     bool    `json:"up"`
		Reason string  `json:"reason"`
		Since  *moment `json:"since"` // null: not known
	}
	settings []config.Setting
	ms       float64
	moment   time.Time
)

// MarshalJSON makes an object of them, in their order.
func (s settings) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, kv := range s {
		if i > 0 {
			b.WriteByte(',')
		}
		key, _ := json.Marshal(kv.Key) // a string always can be
		value, _ := json.Marshal(kv.Value)
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// MarshalJSON gives milliseconds, in UTC.
func (m moment) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Time(m).UTC().Format("2006-01-02T15:04:05.000Z07:00"))
}

// msOf rounds to microseconds.
func msOf(ns int64) ms {
	return ms(math.Round(float64(ns)/float64(time.Microsecond)) / 1e3)
}

func connectionsOf(l dispatch.Load, t proxy.Totals) connections {
	return connections{Current: l.InUse, Maximum: l.Most, Total: t.Connections, Limit: l.Limit}
}

func trafficOf(t proxy.Totals) traffic { return traffic{t.BytesUp, t.BytesDown} }
