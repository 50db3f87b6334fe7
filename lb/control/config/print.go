package config

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// Print shows the effective configuration, defaults included, for people to
// read: settings, virtual servers, pools with their queue depth and members,
// nodes, warnings. Flags is the form for programs.
func Print(w io.Writer, c *Config) error {
	var b bytes.Buffer
	b.WriteString("settings\n")
	column(&b, settingKeys, c)
	c.printTap(&b)
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

func (c *Config) printTap(b *bytes.Buffer) {
	for _, t := range c.taps() {
		var first []Setting
		if t == c.Tap {
			first = append(first, Setting{"handshakes parked at most", room(t.SynTable, c.loops())})
			if c.Forwards() {
				first = append(first, Setting{"connections forwarded at most", room(t.FlowTable, c.loops())})
			}
		}
		fmt.Fprintf(b, "\ntap %s\n", t.Device)
		column(b, tapKeys, t, first...)
	}
}

// recordBytes is what a parked handshake takes, all in, and a forwarded
// connection.
const recordBytes = 128

// room says how many records there can be, and what memory they take.
func room(inLoop, loops int) string {
	full := func(n int) string { return "if full " + formatSize(n*recordBytes) + "B of memory" }
	if loops == 0 {
		return fmt.Sprintf("%d in each loop (%s)", inLoop, full(inLoop))
	}
	return fmt.Sprintf("%d (%d in each of %d loops; %s)", inLoop*loops, inLoop, loops, full(inLoop*loops))
}

func (c *Config) printVirtual(b *bytes.Buffer, v *Virtual) {
	fmt.Fprintf(b, "\nvirtual server %s\n", v.Name)
	listen := listenKey.get(v)
	if v.Dual {
		listen += " (all addresses, IPv4 and IPv6)"
	}
	first := []Setting{{"listen", listen}, {"pool", c.Pools[v.Pool].Name}}
	if s := c.unproven(v); s != "" {
		first = append(first, Setting{"unproven that may wait", s})
	}
	column(b, virtualKeys, v, first...)
}

func (c *Config) printPool(b *bytes.Buffer, pool int) {
	p := &c.Pools[pool]
	fmt.Fprintf(b, "\npool %s\n", p.Name)
	n, why := c.depth(pool)
	depth := fmt.Sprintf("%d (%s)", n, why)
	if n == Unlimited {
		depth = fmt.Sprintf("unlimited (%s)", why)
	}
	first, keys := []Setting{{"effective queue depth", depth}}, memberKeys
	if most := p.portCap(); most > 0 {
		keys = cappedKeys(most)
		first = append(first, Setting{"connections of a member at most",
			fmt.Sprintf("%d (%d ports of each of %d snat addresses)", most, snatPorts, p.snat)})
	}
	column(b, poolKeys, p, first...)
	if len(p.Members) == 0 {
		b.WriteString("\n  no members\n")
		return
	}
	b.WriteString("\n")
	rows(b, keys, p.Members)
}

// cappedKeys are memberKeys that tell of a limit besides a member's own.
func cappedKeys(most int64) []key[Member] {
	keys := slices.Clone(memberKeys)
	k := find(keys, "connection-limit")
	k.implied = func(m *Member) string {
		if m.ConnectionLimit == 0 || m.ConnectionLimit > most {
			return fmt.Sprintf("%d, by snat", most)
		}
		return ""
	}
	return keys
}

// column shows one object, a key a line.
func column[T any](b *bytes.Buffer, keys []key[T], t *T, first ...Setting) {
	tab := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, s := range first {
		fmt.Fprintf(tab, "  %s\t%s\n", s.Key, s.Value)
	}
	for _, k := range keys {
		if !k.fixed && k.applies(keys, t) {
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
