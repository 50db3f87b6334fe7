package tap

import (
	"testing"

	"penstock/stack/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }
