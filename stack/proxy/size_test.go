package proxy

import (
	"testing"

	"penstock/stack/small"
)

func TestRecords(t *testing.T) {
	small.Record[client](t, 64)
	small.Record[pair](t, 128)
}
