package result

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// Read returns the document that Write wrote. A file that is none, or has no
// case, is an error that names it.
func Read(path string) (*Document, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d := new(Document)
	if err := json.Unmarshal(text, d); err != nil {
		return nil, fmt.Errorf("%s: not what penbench run writes: %w", path, err)
	}
	if !d.whole() {
		return nil, fmt.Errorf("%s: no scenario, no case, or a case without proxies in it", path)
	}
	return d, nil
}

// whole says that there is something to compare, as readers rely on.
func (d *Document) whole() bool {
	for _, c := range d.Cases {
		if len(c.Peers) == 0 || slices.Contains(c.Peers, nil) {
			return false
		}
	}
	return d.Scenario != "" && len(d.Cases) > 0
}

// Write replaces the file.
func (d *Document) Write(path string) error {
	text, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
