package config

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

const usageHead = `Penstock is a TCP load balancer. When every server is at its connection limit,
new clients are not dropped: they wait in a queue, and are served in order as
slots free.

  penstock [run] FLAGS     start it
  penstock check FLAGS     validate the flags, show the effective configuration
  penstock ctl COMMAND     look at one that runs, and change it
  penstock top             watch one that runs, in the terminal
  penstock version         show the version

Examples

  One service, 100 connections to each server at most:
    penstock -listen :8080 \
        -member 10.0.0.1:80,connection-limit=100 \
        -member 10.0.0.2:80,connection-limit=100

  Two services with pools of their own, and longer waits for one of them:
    penstock -virtual web,listen=:80,pool=web -pool web,queue-time-limit=30s \
        -member 10.0.0.1:8080,pool=web,connection-limit=50 \
        -virtual db,listen=10.0.0.9:5432,pool=db -pool db \
        -member 10.0.0.2:5432,pool=db,connection-limit=20

  Clients on a TAP device, who are not even answered until it is their turn:
    penstock -tap tap0 -virtual web,listen=198.18.0.100:80,pool=web,front=tap \
        -pool web -member 10.0.0.1:8080,pool=web,connection-limit=50

  The same, and their own packets go on to servers, which see 10.0.0.9:
    penstock -tap tap0 -tap tap1,side=servers,address=10.0.0.9/24 -pool web \
        -virtual web,listen=198.18.0.9:80,front=tap,mode=forward,snat=10.0.0.9 \
        -member 10.0.0.1:8080,pool=web,connection-limit=50

  A first look, with servers that are built in:
    penstock -demo

Objects are flags that can be repeated. Their value is KEY=VALUE pairs with
commas between; the first word may stand without its KEY=.

`

const usageTail = `
TIME is such as 500ms, 30s or 5m. N is 0 to 1099511627775. SIZE is such as 64K
or 4M. Host names are not looked up. Exit status 2: mistakes in the flags, one
line for each.
`

// usageWidth is the width of a terminal nobody has widened.
const usageWidth = 80

// Usage writes the help: what -h shows.
func Usage(w io.Writer) error {
	var b bytes.Buffer
	b.WriteString(usageHead)
	entry(&b, "-listen ADDR", "one service: a virtual server and a pool, both named default; "+
		"tune the pool with -pool default,KEY=VALUE")
	usageObject(&b, flagMember, "a server in a pool", memberKeys)
	usageObject(&b, flagVirtual, "an address clients connect to", virtualKeys)
	usageObject(&b, flagPool, "servers for one purpose, and their queue", poolKeys)
	usageObject(&b, flagNode, "a server's address; its limit covers all its members", nodeKeys)
	usageObject(&b, flagTap, "a TAP device: for front=tap, a second one for servers; see README", tapKeys)
	b.WriteString("\nSettings\n\n")
	entry(&b, "-flagfile FILE", "flags from a file, one a line, # starts a comment; settings on the command line win; "+
		"SIGHUP reads it again")
	for _, k := range settingKeys {
		form := "-" + k.name
		if !k.bare {
			form += " " + k.form
		}
		entry(&b, form, k.describe())
	}
	b.WriteString(usageTail)
	_, err := w.Write(b.Bytes())
	return err
}

func usageObject[T any](b *bytes.Buffer, flag, help string, keys []key[T]) {
	fmt.Fprintf(b, "\n-%s %s\n", flag, flagForm(flag))
	fmt.Fprintf(b, "  %s\n", help)
	for i, k := range keys {
		form := k.name + "=" + k.form
		if i == 0 {
			form = "[" + k.name + "=]" + k.form
		}
		entry(b, "  "+form, k.describe())
	}
}

// describe is what a key means, with its default.
func (k key[T]) describe() string {
	s := k.help
	switch {
	case k.def == "" || k.bare || k.def == k.form:
	case k.def == "0" && k.zero != "":
		s += " (default 0: " + k.zero + ")"
	case k.zero != "":
		s += " (default " + k.def + "; 0: " + k.zero + ")"
	default:
		s += " (default " + k.def + ")"
	}
	return s
}

// usageColumn is where the meaning of a flag or key begins.
const usageColumn = 36

// entry writes a form and, beside it or below it if it is long, its meaning,
// in lines that fit.
func entry(b *bytes.Buffer, form, help string) {
	if len(form) >= usageColumn {
		b.WriteString(form + "\n")
		form = ""
	}
	line := fmt.Sprintf("%-*s", usageColumn-1, form)
	for word := range strings.FieldsSeq(help) {
		if len(line)+1+len(word) > usageWidth && len(line) >= usageColumn {
			b.WriteString(line + "\n")
			line = strings.Repeat(" ", usageColumn-1)
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}
