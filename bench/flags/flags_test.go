package flags

import (
	"bytes"
	"errors"
	"flag"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	fine := func() error { return nil }
	for _, c := range []struct {
		args      string
		complaint func() error
		err       error
		said      string
	}{
		{"", fine, nil, ""},
		{"-text", fine, nil, ""},
		{"-text x y", fine, ErrBad, "penbench try: unexpected argument \"x\"\n"},
		{"", func() error { return errors.New("no") }, ErrBad, "penbench try: no\n"},
		{"x", func() error { return errors.New("no") }, ErrBad, "penbench try: unexpected argument \"x\"\nno\n"},
		{"-test", fine, ErrBad, "flag provided but not defined: -test"},
		{"-h", fine, flag.ErrHelp, "Usage of penbench try:"},
	} {
		var stdout, stderr bytes.Buffer
		fs, text := New("try", &stdout, &stderr)
		err := Parse(fs, strings.Fields(c.args), c.complaint)
		if said := stderr.String(); err != c.err || !strings.HasPrefix(said, c.said) || c.said == "" && said != "" {
			t.Errorf("%q: %v, says %q; want %v, %q", c.args, err, said, c.err, c.said)
		}
		if *text != strings.HasPrefix(c.args, "-text") {
			t.Errorf("%q: text is %v", c.args, *text)
		}
	}
}
