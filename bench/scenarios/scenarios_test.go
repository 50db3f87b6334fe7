package scenarios

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"penstock/bench/peer"
	"penstock/bench/scenario"
)

func TestAllParse(t *testing.T) {
	for _, name := range Names() {
		text, err := Text(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := scenario.Parse(name, text)
		if err != nil {
			t.Error(err)
			continue
		}
		t.Logf("%s: %d cases", name, len(s.Cases))
	}
	_ = errors.Is
	_ = exec.Command
	_ = slices.Contains[[]string]
	_ = strings.Cut
	_ = peer.Names
}
