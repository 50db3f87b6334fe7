package config

import (
	"bytes"
	"fmt"
	"io"
	"text/tabwriter"
)

// Print shows the effective configuration, defaults included, for people to
// read: settings, virtual servers, pools with their queue depth and members,
// nodes, warnings. Flags is the form for programs.
func Print(w io.Writer, c *Config) error {
	var b bytes.Buffer
	b.WriteString("settings\n")
	column(&b, settingKeys, c)
	for i := range c.Virtuals {
		c.printVirtual(&b, &c.Virtuals[i])
	}
	for i := range c.Pools {
		c.printPool(&b, i)
	}
	if len(c.Nodes) > 0 {
		b.WriteString("\nnodes\n")
		rows(&b, nodeKeys, c.Nodes)
	}
	if len(c.Warnings) > 0 {
		b.WriteString("\nwarnings\n")
	}
	for _, s := range c.Warnings {
		b.WriteString("  " + s + "\n")
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (c *Config) printVirtual(b *bytes.Buffer, v *Virtual) {
	fmt.Fprintf(b, "\nvirtual server %s\n", v.Name)
	listen := listenKey.get(v)
	if v.Dual {
		listen += " (all addresses, IPv4 and IPv6)"
	}
	column(b, virtualKeys, v, Setting{"listen", listen}, Setting{"pool", c.Pools[v.Pool].Name})
}

func (c *Config) printPool(b *bytes.Buffer, pool int) {
	p := &c.Pools[pool]
	fmt.Fprintf(b, "\npool %s\n", p.Name)
	n, why := c.depth(pool)
	depth := fmt.Sprintf("%d (%s)", n, why)
	if n == Unlimited {
		depth = fmt.Sprintf("unlimited (%s)", why)
	}
	column(b, poolKeys, p, Setting{"effective queue depth", depth})
	if len(p.Members) == 0 {
		b.WriteString("\n  no members\n")
		return
	}
	b.WriteString("\n")
	rows(b, memberKeys, p.Members)
}

// column shows one object, a key a line.
func column[T any](b *bytes.Buffer, keys []key[T], t *T, first ...Setting) {
	tab := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, s := range first {
		fmt.Fprintf(tab, "  %s\t%s\n", s.Key, s.Value)
	}
	for _, k := range keys {
		if !k.fixed {
			fmt.Fprintf(tab, "  %s\t%s\n", k.name, k.show(t))
		}
	}
	tab.Flush()
}

// rows shows many objects, one a line. Their first key is what they are.
func rows[T any](b *bytes.Buffer, keys []key[T], list []T) {
	tab := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	row := func(head string, cell func(k key[T]) string) {
		fmt.Fprintf(tab, "  %s", head)
		for _, k := range keys {
			if !k.fixed {
				fmt.Fprintf(tab, "\t%s", cell(k))
			}
		}
		fmt.Fprintln(tab)
	}
	row(keys[0].name, func(k key[T]) string { return k.name })
	for i := range list {
		row(keys[0].get(&list[i]), func(k key[T]) string { return k.show(&list[i]) })
	}
	tab.Flush()
}

// show is the value, and what it means if it is a zero with a meaning, or
// where it comes from if nobody gave it.
func (k key[T]) show(t *T) string {
	s, why := k.get(t), ""
	if s == "0" {
		why = k.zero
	}
	if k.implied != nil {
		why = k.implied(t)
	}
	if why != "" {
		s += " (" + why + ")"
	}
	return s
}
