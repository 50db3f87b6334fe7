package config

import (
	"fmt"
	"strings"
)

// readFlagFile reads the flags of the file that -flagfile names, if it is
// given, and puts them before those of the command line: what can be given
// once is then set by the file first and by the command line last.
func (p *parser) readFlagFile() {
	line := p.given
	p.given = nil
	for _, g := range line {
		if g.flag != flagFile {
			continue
		}
		if p.config.FlagFile != "" {
			p.mistake(g, "given twice; allowed is one flag file")
			continue
		}
		p.config.FlagFile = g.value
		p.scanFile(g)
	}
	p.given = append(p.given, line...)
}

// scanFile takes a flag file apart: one flag a line, with or without dashes,
// "#" starts a comment at the start of a line or after a space.
func (p *parser) scanFile(g given) {
	text, err := p.env.read(g.value)
	if err != nil {
		p.mistake(g, "%s; allowed is a file that can be read", bare(err.Error()))
		return
	}
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		line = strings.TrimSpace(cutComment(line))
		if line == "" {
			continue
		}
		t := cutLine(line)
		t.from = fmt.Sprintf("%s:%d: ", bare(g.value), n)
		if t.name == flagFile {
			p.mistake(given{t.from, t.name, t.value}, "allowed is only on the command line, not inside of a flag file")
			continue
		}
		p.add(t)
	}
}

func (e Env) read(name string) (string, error) {
	if e.ReadFile == nil {
		return "", fmt.Errorf("files can't be read here")
	}
	b, err := e.ReadFile(name)
	return string(b), err
}

func cutComment(line string) string {
	for i := range len(line) {
		if line[i] == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			return line[:i]
		}
	}
	return line
}

// cutLine takes "-flag value", "-flag=value" and "flag value".
func cutLine(line string) (t token) {
	line = strings.TrimPrefix(strings.TrimPrefix(line, "-"), "-")
	end := strings.IndexAny(line, "= \t")
	if end < 0 {
		return token{name: line}
	}
	return token{name: line[:end], value: strings.TrimSpace(line[end+1:]), has: true}
}
