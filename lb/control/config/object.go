package config

import "strings"

// draft is an object whose references to others are not settled yet.
type draft[T any] struct {
	given
	object T

	// keys holds what was given for each key, "" if that was a mistake: it
	// has been reported, and whoever needs the value then keeps quiet.
	keys map[string]string
}

// parseObject reads "WORD,key=value,...", where WORD is the value of the
// first key of the table.
func parseObject[T any](p *parser, g given, keys []key[T]) draft[T] {
	d := draft[T]{given: g, keys: map[string]string{}}
	setDefaults(keys, &d.object)
	first := true
	for _, part := range splitPairs(g.value) {
		name, value, pair := strings.Cut(part, "=")
		switch {
		case first && !pair && part != "":
			setOnce(p, &d, keys, keys[0].name, part)
		case name == "":
			p.wrong(g, "", value, "key missing; %s", allowedAre("", names(keys)))
		case !pair && find(keys, name) == nil:
			p.mistake(g, "%s: not a key=value; %s", quote(part), allowedAre(part, names(keys)))
		default:
			setOnce(p, &d, keys, name, value)
		}
		first = false
	}
	for _, k := range keys {
		if _, ok := d.keys[k.name]; k.required && !ok {
			p.mistake(g, "%s missing; allowed is %s=%s", k.name, k.name, k.form)
		}
	}
	misplaced(p, &d, keys)
	return d
}

// misplaced reports keys that were given and mean nothing, since another one
// is not what they need.
func misplaced[T any](p *parser, d *draft[T], keys []key[T]) {
	for _, k := range keys {
		value := d.keys[k.name]
		if value == "" || k.applies(keys, &d.object) {
			continue
		}
		need, unless := k.needs, k.unless
		switch {
		case d.mistaken(need.Key) || d.mistaken(unless.Key):
		case need.Key != "" && find(keys, need.Key).get(&d.object) != need.Value:
			p.wrong(d.given, k.name, value, "only for %s=%s, and this is %s; allowed is it with %s=%s, or not at all",
				need.Key, need.Value, find(keys, need.Key).get(&d.object), need.Key, need.Value)
		default:
			p.wrong(d.given, k.name, value, "means nothing with %s=%s; allowed is it without that, or not at all", unless.Key, unless.Value)
		}
	}
}

// mistaken says that a key was given and is wrong.
func (d *draft[T]) mistaken(key string) bool {
	value, given := d.keys[key]
	return given && value == ""
}

func setOnce[T any](p *parser, d *draft[T], keys []key[T], name, value string) {
	k := find(keys, name)
	if k == nil {
		p.wrong(d.given, name, value, "unknown key; %s", allowedAre(name, names(keys)))
		return
	}
	if _, twice := d.keys[name]; twice {
		p.wrong(d.given, name, value, "key given twice; allowed is once")
		return
	}
	d.keys[name] = ""
	if value == "" {
		p.wrong(d.given, name, value, "value missing; allowed is %s=%s", name, k.form)
		return
	}
	if err := k.set(&d.object, value); err != nil {
		p.wrong(d.given, name, value, "%v", err)
		return
	}
	d.keys[name] = value
}
