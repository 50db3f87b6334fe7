package config

// What -demo stands for where the user gave nothing.
const demoListen = "127.0.0.1:8080"

var (
	demoMembers = [2]string{"127.0.0.1:9101", "127.0.0.1:9102"}
	demoLimits  = [2]string{"2", "3"}
)

// demo adds members and an address to listen on, as if they were given.
func (p *parser) demo() {
	if len(p.members) == 0 {
		for i, a := range demoMembers {
			g := given{"-demo: ", flagMember, a + ",connection-limit=" + demoLimits[i]}
			p.members = append(p.members, parseObject(p, g, memberKeys))
		}
	}
	if p.listen == nil && len(p.virtuals) == 0 {
		p.listenOn(given{"-demo: ", flagListen, demoListen})
	}
}
