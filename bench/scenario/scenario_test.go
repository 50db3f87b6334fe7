package scenario

import (
	"os"
	"strings"
	"testing"
)

// TestReference compares doc.go with the table: every directive is there, in
// order, with its form.
func TestReference(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, reference, _ := strings.Cut(string(text), "What a scenario is:")
	var found []string
	for _, l := range strings.Split(reference, "\n") {
		if entry, is := strings.CutPrefix(l, "//\t"); is {
			found = append(found, entry)
		}
	}
	if len(found) != len(directives) {
		t.Fatalf("doc.go has %d directives, the parser %d", len(found), len(directives))
	}
	for i, d := range directives {
		head, about := cut(found[i], 44)
		if want := pad(d.name, 10) + d.form; strings.TrimSpace(head) != want || strings.TrimSpace(about) == "" {
			t.Errorf("doc.go says\n%q\nthe parser\n%q", found[i], want)
		}
	}
}

func cut(s string, at int) (string, string) {
	if len(s) < at {
		return s, ""
	}
	return s[:at], s[at:]
}

func pad(s string, width int) string { return s + strings.Repeat(" ", max(width-len(s), 1)) }
