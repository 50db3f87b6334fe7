package config

import (
	"slices"
	"strings"
)

// The flags that are not settings.
const (
	flagVirtual = "virtual"
	flagPool    = "pool"
	flagMember  = "member"
	flagNode    = "node"
	flagTap     = "tap"
	flagListen  = "listen"
	flagFile    = "flagfile"
)

var flagNames = append([]string{flagListen, flagMember, flagVirtual, flagPool, flagNode, flagTap, flagFile}, names(settingKeys)...)

// token is a flag before its name and value have been looked at.
type token struct {
	from  string
	name  string
	value string
	has   bool // it came with a value
}

// scan takes the command line apart: "-flag value", "-flag=value", and both
// with two dashes. It says false if help is asked for.
func (p *parser) scan(args []string) bool {
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		t, ok := cutFlag(arg)
		if !ok {
			p.mistakes = append(p.mistakes, quote(arg)+": not a flag; allowed are flags, which begin with -, and their values")
			continue
		}
		if t.name == "h" || t.name == "help" {
			return false
		}
		// An unknown flag takes its value along, so that one slip is not
		// two mistakes.
		if !t.has && !standsAlone(t.name) && len(args) > 0 && !flagLike(args[0]) {
			t.value, t.has, args = args[0], true, args[1:]
		}
		p.add(t)
	}
	return true
}

func cutFlag(arg string) (t token, ok bool) {
	s, dash := strings.CutPrefix(arg, "-")
	s = strings.TrimPrefix(s, "-")
	t.name, t.value, t.has = strings.Cut(s, "=")
	return t, dash && t.name != ""
}

// flagLike says that an argument is a flag and not a value. A value that
// begins with a dash and a letter has to be given as -flag=value.
func flagLike(arg string) bool {
	return len(arg) > 1 && arg[0] == '-' && strings.Trim(arg[1:2], "0123456789.") != ""
}

func standsAlone(flag string) bool {
	k := find(settingKeys, flag)
	return k != nil && k.bare
}

// add keeps a flag that is known and has a value.
func (p *parser) add(t token) {
	if !slices.Contains(flagNames, t.name) {
		p.tried = p.tried || listens(nearest(t.name, flagNames))
		p.mistakes = append(p.mistakes, t.from+"-"+bare(t.name)+" "+quote(t.value)+
			": unknown flag; "+allowedAre(t.name, flagNames))
		return
	}
	if !t.has && standsAlone(t.name) {
		t.value = "true"
	}
	g := given{t.from, t.name, t.value}
	if t.value == "" {
		p.tried = p.tried || listens(t.name)
		p.mistake(g, "value missing; allowed is -%s %s", t.name, flagForm(t.name))
		p.origins[object{flag: t.name}] = origin{g, map[string]string{t.name: ""}}
		return
	}
	p.given = append(p.given, g)
}

func listens(flag string) bool { return flag == flagListen || flag == flagVirtual }

// flagForm is what the value of a flag looks like.
func flagForm(flag string) string {
	switch flag {
	case flagVirtual:
		return "NAME,listen=ADDR,pool=NAME[,KEY=VALUE...]"
	case flagPool, flagTap:
		return "NAME[,KEY=VALUE...]"
	case flagMember:
		return "IP:PORT[,KEY=VALUE...]"
	case flagNode:
		return "IP[,KEY=VALUE...]"
	case flagListen:
		return "ADDR"
	case flagFile:
		return "FILE"
	}
	return find(settingKeys, flag).form
}
