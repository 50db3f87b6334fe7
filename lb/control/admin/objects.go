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
		Pool        string      `json:"pool"`
		Settings    settings    `json:"settings"`
		Connections connections `json:"connections"`
		Refused     uint64      `json:"refused"`
		Bytes       traffic     `json:"bytes"`
	}
	pool struct {
		Name            string      `json:"name"`
		Settings        settings    `json:"settings"`
		EffectiveDepth  *int64      `json:"effectiveDepth"` // null: any number may wait
		Connections     connections `json:"connections"`
		Bytes           traffic     `json:"bytes"`
		Connq           connq       `json:"connq"`
		ConnqAll        connq       `json:"connqAll"`
		Expired         uint64      `json:"expired"`
		Overflowed      uint64      `json:"overflowed"`
		Abandoned       uint64      `json:"abandoned"`
		Moved           uint64      `json:"moved"`
		Requeued        uint64      `json:"requeued"`
		RefusedNoMember uint64      `json:"refusedNoMember"`
		Members         []member    `json:"members"`
	}
	member struct {
		Pool         string      `json:"pool"`
		Address      string      `json:"address"`
		Node         string      `json:"node"`
		Settings     settings    `json:"settings"`
		State        string      `json:"state"`
		Reason       string      `json:"reason"`
		BackOffMs    ms          `json:"backOffMs"`
		Connections  connections `json:"connections"`
		Bytes        traffic     `json:"bytes"`
		Connq        depth       `json:"connq"`
		DialFailures uint64      `json:"dialFailures"`
	}
	node struct {
		Address     string      `json:"address"`
		Settings    settings    `json:"settings"`
		Connections connections `json:"connections"`
		Bytes       traffic     `json:"bytes"`
		Members     []string    `json:"members"` // POOL/ADDRESS
	}
)

// Their parts.
type (
	connections struct {
		Current int64  `json:"current"`
		Total   uint64 `json:"total"` // accepted; of all others: dialled
		Limit   int64  `json:"limit"` // 0 none
	}
	traffic struct {
		Up   uint64 `json:"up"`
		Down uint64 `json:"down"`
	}
	depth struct {
		Depth int64 `json:"depth"`
	}
	connq struct {
		depth
		Serviced  uint64 `json:"serviced"`
		AgeHeadMs ms     `json:"ageHeadMs"`
		AgeMaxMs  ms     `json:"ageMaxMs"`
		AgeEmaMs  ms     `json:"ageEmaMs"`
		AgeEdmMs  ms     `json:"ageEdmMs"`
	}
	settings []config.Setting
	ms       float64
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

// msOf rounds to microseconds.
func msOf(ns int64) ms {
	return ms(math.Round(float64(ns)/float64(time.Microsecond)) / 1e3)
}

func connectionsOf(l dispatch.Load, t proxy.Totals) connections {
	return connections{Current: l.InUse, Total: t.Connections, Limit: l.Limit}
}

func trafficOf(t proxy.Totals) traffic { return traffic{t.BytesUp, t.BytesDown} }
