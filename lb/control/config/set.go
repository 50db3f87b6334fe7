package config

import "slices"

// Setting is one key of an object, and its value as a flag would give it.
type Setting struct{ Key, Value string }

// Settings is everything that can be set on it, in a fixed order.
func (v *Virtual) Settings() []Setting { return settings(virtualKeys, v) }

// Settings is everything that can be set on it, in a fixed order.
func (p *Pool) Settings() []Setting { return settings(poolKeys, p) }

// Settings is everything that can be set on it, in a fixed order.
func (m *Member) Settings() []Setting { return settings(memberKeys, m) }

// Settings is everything that can be set on it, in a fixed order.
func (n *Node) Settings() []Setting { return settings(nodeKeys, n) }

// Settings is everything that can be set on it, in a fixed order.
func (t *Tap) Settings() []Setting { return settings(tapKeys, t) }

func settings[T any](keys []key[T], t *T) (s []Setting) {
	for _, k := range keys {
		if !k.fixed && k.applies(keys, t) {
			s = append(s, Setting{k.name, k.get(t)})
		}
	}
	return s
}

// setKeys sets keys of one object: those that are not fixed, and the few that
// are named. Of these it only reads what was given.
func setKeys[T any](o object, keys []key[T], t *T, list []Setting, also ...string) (draft[T], Mistakes) {
	p := &parser{}
	d := draft[T]{given: given{from: o.String()}, object: *t, keys: map[string]string{}}
	known := append(slices.Clone(also), changeable(keys)...)
	for _, s := range list {
		k := find(keys, s.Key)
		switch {
		case k == nil:
			p.wrong(d.given, s.Key, s.Value, "unknown key; %s", allowedAre(s.Key, known))
		case !k.lasting && !slices.Contains(known, s.Key):
			p.wrong(d.given, s.Key, s.Value, "can't be changed; %s", allowedAre("", known))
		case k.lasting:
			setAgain(p, &d, keys, k, s.Value)
		default:
			setOnce(p, &d, keys, s.Key, s.Value)
		}
	}
	misplaced(p, &d, keys)
	*t = d.object
	return d, p.mistakes
}

// setAgain takes a key that only a restart can change, if it is as it was.
func setAgain[T any](p *parser, d *draft[T], keys []key[T], k *key[T], value string) {
	was := k.get(&d.object)
	setOnce(p, d, keys, k.name, value)
	if k.get(&d.object) == was {
		return
	}
	p.wrong(d.given, k.name, value, "can't be changed while it runs; allowed is %s, or a restart", was)
	k.set(&d.object, was)
	d.keys[k.name] = ""
}

func changeable[T any](keys []key[T]) (s []string) {
	for _, k := range keys {
		if !k.fixed && !k.lasting {
			s = append(s, k.name)
		}
	}
	return s
}
