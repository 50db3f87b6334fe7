package top

import (
	"io"
	"os"
	"strconv"
	"strings"
)

// paper is what frames are printed on where there is no terminal.
type paper struct{ out io.Writer }

const usualWidth = 120

// size heeds COLUMNS, as other programs do where there is no terminal to ask.
func (p *paper) size() (width, height int) {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n, 0
	}
	return usualWidth, 0
}

func (p *paper) draw(frame []line) error {
	var b strings.Builder
	for _, l := range frame {
		b.WriteString(l.String() + "\n")
	}
	b.WriteString("\n")
	_, err := io.WriteString(p.out, b.String())
	return err
}

func (p *paper) live() bool { return false }

func (p *paper) suspend() {}
