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
// settings.go. What keys mean together is checked by Validate.
//
// While the program runs, its Config is replaced and never changed:
//
//	next := c.Clone()
//	err := next.SetPool("app", config.Setting{"connection-limit", "5"})
//	// or SetVirtual, SetMember, SetNode, AddMember, RemoveMember; or, of the
//	// flag file as it is now, next, err := config.Reload(c, args, config.OS())
//
// Indices are good within one Config only. An object keeps its ID from one to
// the next.
//
// Parse goes on after a mistake and reports all of them. It does not repeat
// one mistake in other words: a pool whose limit is wrong still exists for
// the members that name it.
//
// The package reads a flag file, and looks whether a token file is fit to be
// one, through Env. It does nothing else outside of itself: it opens no
// socket, resolves no host name, starts nothing and prints only to the writer
// it is given.
package config
