package config

import (
	"errors"
	"net/netip"
)

// ErrHelp is what Parse says when -h is among the flags.
var ErrHelp = errors.New("config: help asked for")

// parser goes from arguments to a Config, and gathers mistakes on its way:
//
//	scan         arguments -> given flags, those of the flag file first
//	sort         given flags -> settings, and drafts of objects
//	resolve      drafts -> objects that point to each other
type parser struct {
	env      Env
	given    []given
	mistakes Mistakes
	config   Config

	virtuals []draft[Virtual]
	pools    []draft[Pool]
	members  []draft[Member]
	nodes    []draft[Node]
	taps     []draft[Tap]
	listen   *draft[Virtual] // what -listen stands for
	tried    bool            // a -listen or -virtual was too mistaken to keep

	poolIndex map[string]int
	nodeIndex map[netip.Addr]int
	origins   map[object]origin // what virtual servers, pools and settings were made of
}

// Parse makes a validated Config of flags: os.Args without the program and
// the subcommand. The error is ErrHelp, or Mistakes with all of them.
func Parse(args []string, env Env) (*Config, error) {
	p := &parser{
		env: env, poolIndex: map[string]int{}, nodeIndex: map[netip.Addr]int{}, origins: map[object]origin{},
	}
	setDefaults(settingKeys, &p.config)
	p.config.Admin, p.config.Cores = env.Admin(), env.Cores
	if !p.scan(args) {
		return nil, ErrHelp
	}
	p.readFlagFile()
	p.sort()
	p.resolve()
	p.checkToken()
	p.mistakes = append(p.mistakes, p.config.check(p.origins)...)
	if len(p.mistakes) > 0 {
		return nil, p.mistakes
	}
	p.config.Warnings = warnings(&p.config)
	p.config.number()
	return &p.config, nil
}

// sort puts each given flag where it belongs.
func (p *parser) sort() {
	once := map[[2]string]bool{} // source and flag
	for _, g := range p.given {
		switch g.flag {
		case flagVirtual:
			p.virtuals = append(p.virtuals, parseObject(p, g, virtualKeys))
		case flagPool:
			p.pools = append(p.pools, parseObject(p, g, poolKeys))
		case flagMember:
			p.members = append(p.members, parseObject(p, g, memberKeys))
		case flagNode:
			p.nodes = append(p.nodes, parseObject(p, g, nodeKeys))
		case flagTap:
			p.taps = append(p.taps, parseObject(p, g, tapKeys))
		case flagFile:
			// Read before.
		default:
			id := [2]string{g.source(), g.flag}
			p.setting(g, once[id])
			once[id] = true
		}
	}
}

// source tells the flag file from the command line.
func (g given) source() string {
	if g.from == "" {
		return "line"
	}
	return "file"
}

// setting is a flag that can be given once in the file and once on the
// command line.
func (p *parser) setting(g given, twice bool) {
	switch {
	case twice && g.flag == flagListen:
		p.mistake(g, "given twice; allowed is one -listen, or for more addresses -virtual %s for each", flagForm(flagVirtual))
	case twice:
		p.mistake(g, "given twice; allowed is once")
	case g.flag == flagListen:
		p.listenOn(g)
	default:
		o := origin{g, map[string]string{g.flag: g.value}}
		if err := find(settingKeys, g.flag).set(&p.config, g.value); err != nil {
			p.mistake(g, "%v", err)
			o.keys[g.flag] = ""
		}
		p.origins[object{flag: g.flag}] = o
	}
}

// checkToken looks for the file now: when the admin interface needs it, it is
// late to say that it is not there.
func (p *parser) checkToken() {
	if p.config.AdminTokenFile == "" {
		return
	}
	if err := p.env.checkSecret(p.config.AdminTokenFile); err != nil {
		p.mistake(p.origins[object{flag: tokenKey.name}].given, "%v", err)
	}
}

// listenOn drafts the virtual server that -listen stands for.
func (p *parser) listenOn(g given) {
	d := draft[Virtual]{given: g, keys: map[string]string{"pool": defaultName}}
	setDefaults(virtualKeys, &d.object)
	d.object.Name = defaultName
	if err := listenKey.set(&d.object, g.value); err != nil {
		p.mistake(g, "%v", err)
	}
	p.listen = &d
}
