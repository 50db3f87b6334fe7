package config

// resolve makes the drafts point to each other, and checks what only shows
// when all of them are known.
func (p *parser) resolve() {
	if p.config.Demo {
		p.demo()
	}
	if p.listen != nil {
		p.virtuals = append([]draft[Virtual]{*p.listen}, p.virtuals...)
	}
	p.resolveTaps()
	p.resolvePools()
	p.resolveVirtuals()
	p.resolveAddresses()
	p.resolveNodes()
	p.resolveMembers()
	p.config.arrangeNodes()
}

func (p *parser) resolvePools() {
	for _, d := range p.pools {
		if _, twice := p.poolIndex[d.object.Name]; twice {
			p.wrong(d.given, "name", d.object.Name, "name used twice; allowed is a name of its own for each pool")
			continue
		}
		p.origins[object{flagPool, d.object.Name}] = origin{d.given, d.keys}
		p.addPool(d.object)
	}
	if _, ok := p.poolIndex[defaultName]; !ok && p.wantsDefault() {
		pool := defaults(poolKeys)
		pool.Name = defaultName
		p.addPool(pool)
	}
}

// addPool leaves a pool out that has no name; that has been reported.
func (p *parser) addPool(pool Pool) {
	if pool.Name != "" {
		p.poolIndex[pool.Name] = len(p.config.Pools)
		p.config.Pools = append(p.config.Pools, pool)
	}
}

// wantsDefault says whether something belongs to the pool "default" that
// nobody has to declare.
func (p *parser) wantsDefault() bool {
	if p.listen != nil {
		return true
	}
	for _, d := range p.members {
		if pool, ok := d.keys["pool"]; !ok || pool == defaultName {
			return true
		}
	}
	return false
}

func (p *parser) resolveVirtuals() {
	if len(p.virtuals) == 0 && !p.tried {
		p.mistakes = append(p.mistakes, "no virtual server; allowed is -listen ADDR, or -virtual "+flagForm(flagVirtual))
	}
	used := map[string]bool{}
	for i := range p.virtuals {
		d := &p.virtuals[i]
		v := &d.object
		if v.Name != "" && used[v.Name] {
			p.wrong(d.given, "name", v.Name, "name used twice; allowed is a name of its own for each virtual server")
		}
		used[v.Name] = true
		p.origins[object{flagVirtual, v.Name}] = origin{d.given, d.keys}
		v.Pool = p.poolOfVirtual(d)
		p.config.Virtuals = append(p.config.Virtuals, *v)
	}
}

func (p *parser) poolOfVirtual(d *draft[Virtual]) int {
	name, ok := d.keys["pool"]
	switch {
	case ok:
		return p.poolNamed(d.given, name)
	case len(p.config.Pools) != 1:
		p.mistake(d.given, "pool missing; it may be left out only when there is one pool; %s",
			allowedAre("", p.config.poolNames()))
	}
	return 0
}

// poolNamed is the index of a pool, or -1 after a mistake.
func (p *parser) poolNamed(g given, name string) int {
	if i, ok := p.poolIndex[name]; ok {
		return i
	}
	if name != "" {
		p.wrong(g, "pool", name, "no such pool; %s", allowedAre(name, p.config.poolNames()))
	}
	return -1
}
