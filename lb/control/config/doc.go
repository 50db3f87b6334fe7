// Package config turns command-line flags into a validated Config.
//
// It is used in this order:
//
//	c, err := config.Parse(args, config.OS())
//	// err is ErrHelp (show Usage), or Mistakes: one line for each
//	for _, w := range c.Warnings { ... }
//	config.Print(os.Stdout, c) // what "penstock check" shows
//
// Every object (virtual server, pool, member, node) and the settings of the
// program have a table of keys: name, form, default, meaning, how to set and
// how to read it. Parsing, mistakes, help, Print and Flags all follow from
// these tables, so a new key is one line in virtual.go, pool.go, member.go or
// settings.go. The admin API changes objects through the same tables: see Set.
//
// Parse goes on after a mistake and reports all of them. It does not repeat
// one mistake in other words: a pool whose limit is wrong still exists for
// the members that name it.
//
// The package reads a flag file through Env and does nothing else outside of
// itself: it opens no socket, resolves no host name, starts nothing and
// prints only to the writer it is given.
package config
