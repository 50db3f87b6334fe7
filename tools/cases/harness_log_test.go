package cases

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ended is a line of the access log.
type ended map[string]string

// span reads a time in a line.
func (e ended) span(key string) time.Duration {
	d, err := time.ParseDuration(e[key])
	if err != nil {
		return -1
	}
	return d
}

// log returns the lines of the access log.
func (p *proxy) log() (lines []ended) {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, "access.log"))
	if err != nil {
		p.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasSuffix(line, "\n") { // or it is still being written
			lines = append(lines, fields(line))
		}
	}
	return lines
}

// awaitLog waits until the access log has n lines.
func (p *proxy) awaitLog(n int) (lines []ended) {
	p.t.Helper()
	await(p.t, patience, itoa(n)+" lines in the access log", func() bool {
		lines = p.log()
		return len(lines) >= n
	})
	return lines
}

// codes counts the end codes of log lines.
func codes(lines []ended) map[string]int {
	m := map[string]int{}
	for _, l := range lines {
		m[l["code"]]++
	}
	return m
}
