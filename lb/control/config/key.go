package config

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// key is one thing that can be set on a T: an object, or the Config itself.
type key[T any] struct {
	name string
	form string // how a value looks, for the help
	def  string // set before anything the user gave; "" none
	zero string // what 0 means; "" when it means zero
	help string

	required bool
	fixed    bool // says which object this is: not to be changed later
	bare     bool // a flag that may stand without a value
	live     bool // a setting that can change while the program runs
	lasting  bool // an object's, shown with the rest, that only a restart can change

	// needs is what another key has to be for this one to mean anything. If it
	// is not, this one is not shown, and giving it is a mistake.
	needs Setting
	// unless is what another key must not be, likewise.
	unless Setting

	set func(*T, string) error // the error says what is allowed
	get func(*T) string

	// implied says where the value comes from when nobody gave it and other
	// keys decide it; "" when somebody did. nil: other keys never do.
	implied func(*T) string
}

// fix marks a key as one that says which object this is.
func fix[T any](k key[T], required bool) key[T] {
	k.fixed, k.required = true, required
	return k
}

// alive marks a setting as one that can change while the program runs.
func alive[T any](k key[T]) key[T] {
	k.live = true
	return k
}

// lasts marks a key of an object that only a restart can change.
func lasts[T any](k key[T]) key[T] {
	k.lasting = true
	return k
}

// with marks a key that means nothing unless another one has a value.
func with[T any](name, value string, k key[T]) key[T] {
	k.needs = Setting{name, value}
	return k
}

// without marks a key that means nothing if another one has a value.
func without[T any](name, value string, k key[T]) key[T] {
	k.unless = Setting{name, value}
	return k
}

// applies says whether the key means anything on this T.
func (k key[T]) applies(keys []key[T], t *T) bool {
	is := func(s Setting) bool { return find(keys, s.Key).get(t) == s.Value }
	return (k.needs.Key == "" || is(k.needs)) && (k.unless.Key == "" || !is(k.unless))
}

// limitKey is a number of connections or waiters, 0 by default.
func limitKey[T any](name, zero, help string, field func(*T) *int64) key[T] {
	r := counts{max: MaxLimit, zero: zero}
	return key[T]{
		name: name, form: "N", def: "0", zero: r.zero, help: help,
		set: func(t *T, s string) (err error) { return assign(field(t), s, r.parse) },
		get: func(t *T) string { return strconv.FormatInt(*field(t), 10) },
	}
}

// countKey is a small number.
func countKey[T any](name, def, help string, r counts, field func(*T) *int) key[T] {
	return key[T]{
		name: name, form: "N", def: def, zero: r.zero, help: help,
		set: func(t *T, s string) error {
			return assign(field(t), s, func(s string) (int, error) {
				n, err := r.parse(s)
				return int(n), err
			})
		},
		get: func(t *T) string { return strconv.Itoa(*field(t)) },
	}
}

// sizeKey is a number that may be a round one of many bytes, or of anything.
func sizeKey[T any](name, def, help string, r sizes, field func(*T) *int) key[T] {
	return key[T]{
		name: name, form: "SIZE", def: def, help: help,
		set: func(t *T, s string) error { return assign(field(t), s, r.parse) },
		get: func(t *T) string { return formatSize(*field(t)) },
	}
}

func timeKey[T any](name, def, help string, r times, field func(*T) *time.Duration) key[T] {
	return key[T]{
		name: name, form: "TIME", def: def, zero: r.zero, help: help,
		set: func(t *T, s string) error { return assign(field(t), s, r.parse) },
		get: func(t *T) string { return formatTime(*field(t)) },
	}
}

// choiceKey is one of some words, numbered from 0; the first is the default.
func choiceKey[T any, E ~uint8](name, help string, words []string, field func(*T) *E) key[T] {
	return key[T]{
		name: name, form: bars(words), def: words[0], help: help,
		set: func(t *T, s string) error {
			i := slices.Index(words, s)
			if i < 0 {
				return notAllowed(bars(words))
			}
			*field(t) = E(i)
			return nil
		},
		get: func(t *T) string { return words[*field(t)] },
	}
}

// boolKey is a choice of two words that mean true and false.
func boolKey[T any](name, def, yes, no, help string, field func(*T) *bool) key[T] {
	return key[T]{
		name: name, form: yes + "|" + no, def: def, help: help,
		set: func(t *T, s string) error {
			if s != yes && s != no {
				return notAllowed(yes + "|" + no)
			}
			*field(t) = s == yes
			return nil
		},
		get: func(t *T) string {
			if *field(t) {
				return yes
			}
			return no
		},
	}
}

// prefixKey is which clients count as one.
func prefixKey[T any](name, help string, field func(*T) *Prefix) key[T] {
	return key[T]{
		name: name, form: "off|source[/BITS4[/BITS6]]", def: "off", help: help,
		set: func(t *T, s string) error { return assign(field(t), s, parsePrefix) },
		get: func(t *T) string { return field(t).String() },
	}
}

// textKey is a value with a parser of its own that is kept as text.
func textKey[T any](name, form, def, help string, parse func(string) (string, error), field func(*T) *string) key[T] {
	return key[T]{
		name: name, form: form, def: def, help: help,
		set: func(t *T, s string) error { return assign(field(t), s, parse) },
		get: func(t *T) string { return *field(t) },
	}
}

// ratioKey is a share of the connections: a number from 1, or the word for 0.
func ratioKey[T any](def, zero, help string, field func(*T) *int) key[T] {
	form := "N"
	if zero != "" {
		form += "|" + zero
	}
	return key[T]{
		name: "ratio", form: form, def: def, help: help,
		set: func(t *T, s string) error {
			return assign(field(t), s, func(s string) (int, error) { return parseRatio(s, zero) })
		},
		get: func(t *T) string {
			if *field(t) == 0 {
				return zero
			}
			return strconv.Itoa(*field(t))
		},
	}
}

const maxRatio = 65535

func parseRatio(s, zero string) (int, error) {
	if s == zero && zero != "" {
		return 0, nil
	}
	n, err := counts{max: maxRatio}.parse(s)
	switch {
	case err == nil && n > 0:
		return int(n), nil
	case zero != "":
		return 0, notAllowed(fmt.Sprintf("1 to %d, or %s", maxRatio, zero))
	}
	return 0, notAllowed(fmt.Sprintf("1 to %d", maxRatio))
}

// poolKey names another object. Which one is settled when all are known, so
// only the form is checked here, and there is no text to get.
func poolKey[T any](help string) key[T] {
	return key[T]{
		name: "pool", form: "NAME", help: help, fixed: true,
		set: func(_ *T, s string) error { _, err := parseName(s); return err },
	}
}

// assign leaves the field alone if the value is mistaken.
func assign[V any](field *V, s string, parse func(string) (V, error)) error {
	v, err := parse(s)
	if err == nil {
		*field = v
	}
	return err
}

func find[T any](keys []key[T], name string) *key[T] {
	for i := range keys {
		if keys[i].name == name {
			return &keys[i]
		}
	}
	return nil
}

func names[T any](keys []key[T]) (s []string) {
	for _, k := range keys {
		s = append(s, k.name)
	}
	return s
}

// defaults is a T that nobody set anything on.
func defaults[T any](keys []key[T]) (t T) {
	setDefaults(keys, &t)
	return t
}

// setDefaults panics on a default that is not allowed: the table is wrong.
func setDefaults[T any](keys []key[T], t *T) {
	for _, k := range keys {
		if k.def == "" {
			continue
		}
		if err := k.set(t, k.def); err != nil {
			panic(fmt.Sprintf("config: default %s=%q: %v", k.name, k.def, err))
		}
	}
}
