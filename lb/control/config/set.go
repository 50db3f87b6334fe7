package config

import "fmt"

// Setting is one key of an object, and its value as a flag would give it.
type Setting struct{ Key, Value string }

// Set changes one key of a virtual server that runs, with the same words and
// checks as the flags. Name, listen and pool can't be changed. On an error,
// which says what is allowed, nothing has changed.
func (v *Virtual) Set(key, value string) error { return set(virtualKeys, v, key, value) }

// Set changes one key of a pool: see Virtual.Set.
func (p *Pool) Set(key, value string) error { return set(poolKeys, p, key, value) }

// Set changes one key of a member: see Virtual.Set.
func (m *Member) Set(key, value string) error { return set(memberKeys, m, key, value) }

// Set changes one key of a node: see Virtual.Set.
func (n *Node) Set(key, value string) error { return set(nodeKeys, n, key, value) }

// Settings is everything that Set can change, in a fixed order.
func (v *Virtual) Settings() []Setting { return settings(virtualKeys, v) }

// Settings is everything that Set can change, in a fixed order.
func (p *Pool) Settings() []Setting { return settings(poolKeys, p) }

// Settings is everything that Set can change, in a fixed order.
func (m *Member) Settings() []Setting { return settings(memberKeys, m) }

// Settings is everything that Set can change, in a fixed order.
func (n *Node) Settings() []Setting { return settings(nodeKeys, n) }

func set[T any](keys []key[T], t *T, name, value string) error {
	k := find(keys, name)
	if k == nil {
		return fmt.Errorf("%s=%s: unknown key; %s", bare(name), quote(value), allowedAre(name, changeable(keys)))
	}
	if k.fixed {
		return fmt.Errorf("%s=%s: can't be changed; %s", name, quote(value), allowedAre("", changeable(keys)))
	}
	if err := k.set(t, value); err != nil {
		return fmt.Errorf("%s=%s: %w", name, quote(value), err)
	}
	return nil
}

func changeable[T any](keys []key[T]) (s []string) {
	for _, k := range keys {
		if !k.fixed {
			s = append(s, k.name)
		}
	}
	return s
}

func settings[T any](keys []key[T], t *T) (s []Setting) {
	for _, k := range keys {
		if !k.fixed {
			s = append(s, Setting{k.name, k.get(t)})
		}
	}
	return s
}
