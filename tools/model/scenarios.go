package main

// A few words that keep the list below short.
func limit(name string, n int8) counter         { return counter{name: name, limit: n} }
func leased(name string, n, lease int8) counter { return counter{name: name, limit: n, lease: lease} }
func changing(name string, n int8) counter      { return counter{name: name, limit: n, changes: true} }
func lower(counter int, by int8) change         { return change{limitBy, counter, -by} }
func raise(counter int, by int8) change         { return change{limitBy, counter, by} }
func through(counters ...int) member            { return member{counters: counters} }

func onePool(prefix []int, members ...int) []virtual {
	return []virtual{{pool: 0, prefix: prefix, members: members}}
}

// scenarios, each about one thing; all of them check all invariants.
var scenarios = []*scenario{
	{
		name: "pair", about: "two loops, one slot", small: true,
		loops: 2, pools: 1,
		counters: []counter{limit("member", 1)},
		members:  []member{through(0)},
		virtuals: onePool(nil, 0),
		clients:  []client{{loop: 0}, {loop: 1}, {loop: 0}},
	},
	{
		name: "loops", about: "three loops, one slot",
		loops: 3, pools: 1,
		counters: []counter{limit("member", 1)},
		members:  []member{through(0)},
		virtuals: onePool(nil, 0),
		clients:  []client{{loop: 0}, {loop: 1}, {loop: 2}},
	},
	{
		name: "order", about: "three loops, the third late",
		loops: 3, pools: 1,
		counters: []counter{limit("member", 1)},
		members:  []member{through(0)},
		virtuals: onePool(nil, 0),
		clients:  []client{{loop: 0}, {loop: 0}, {loop: 1}, {loop: 2}},
	},
	{
		name: "path", about: "pool and two members, tokens half taken", small: true,
		loops: 2, pools: 1,
		counters: []counter{limit("pool", 2), limit("member 0", 1), limit("member 1", 1)},
		members:  []member{through(1), through(2)},
		virtuals: onePool([]int{0}, 0, 1),
		clients:  []client{{loop: 0}, {loop: 1, sticky: 1}, {loop: 0, sticky: 1}},
	},
	{
		name: "detour", about: "member given back for a full node, the next one taken", small: true,
		loops: 2, pools: 2,
		counters: []counter{limit("member 0", 1), limit("node", 1), limit("member 1", 1)},
		members:  []member{through(0, 1), through(2), through(1)},
		virtuals: []virtual{{pool: 0, members: []int{0, 1}}, {pool: 1, members: []int{2}}},
		clients:  []client{{loop: 0}, {loop: 1, virtual: 1}, {loop: 1, sticky: 1}},
	},
	{
		name: "whole path", about: "virtual server, pool, member and node", small: true,
		loops: 2, pools: 1,
		counters: []counter{limit("virtual", 2), limit("pool", 2), limit("member", 2), limit("node", 1)},
		members:  []member{through(2, 3)},
		virtuals: onePool([]int{0, 1}, 0),
		clients:  []client{{loop: 0}, {loop: 1}},
	},
	{
		name: "node", about: "two pools share a node",
		loops: 2, pools: 2,
		counters: []counter{limit("pool 0", 1), limit("pool 1", 2), limit("node", 1)},
		members:  []member{through(2), through(2)},
		virtuals: []virtual{{pool: 0, prefix: []int{0}, members: []int{0}}, {pool: 1, prefix: []int{1}, members: []int{1}}},
		clients:  []client{{loop: 0}, {loop: 1, virtual: 1}, {loop: 1}, {loop: 0, virtual: 1}},
	},
	{
		name: "lower", about: "limit lowered by one while in use",
		loops: 2, pools: 1,
		counters: []counter{changing("member", 2)},
		members:  []member{through(0)},
		virtuals: onePool(nil, 0),
		clients:  []client{{loop: 0}, {loop: 1}, {loop: 0}},
		script:   []change{lower(0, 1)},
	},
	{
		name: "raise", about: "limit lowered and raised, with waiters and debts",
		loops: 2, pools: 1,
		counters: []counter{changing("member", 1)},
		members:  []member{through(0)},
		virtuals: onePool(nil, 0),
		clients:  []client{{loop: 0}, {loop: 1}, {loop: 0}},
		script:   []change{lower(0, 1), raise(0, 1)},
	},
	{
		name: "leave", about: "waiters leave while they are granted; dead grants", small: true,
		loops: 2, pools: 1,
		counters: []counter{limit("member", 1)},
		members:  []member{through(0)},
		virtuals: onePool(nil, 0),
		clients:  []client{{loop: 0}, {loop: 1, leaves: true}, {loop: 0, leaves: true}},
	},
	{
		name: "redial", about: "dials fail, the ticket stays", small: true,
		loops: 2, pools: 1,
		counters: []counter{limit("member", 1)},
		members:  []member{through(0)},
		virtuals: onePool(nil, 0),
		clients:  []client{{loop: 0, fails: 1}, {loop: 1}, {loop: 1}},
	},
	{
		name: "excluded", about: "a failed dial excludes the member; its waiter leaves",
		loops: 2, pools: 1, excludes: true,
		counters: []counter{limit("member 0", 1), limit("member 1", 1)},
		members:  []member{through(0), through(1)},
		virtuals: onePool(nil, 0, 1),
		clients:  []client{{loop: 0, fails: 1, leaves: true}, {loop: 1}, {loop: 1}},
	},
	{
		name: "lease", about: "shards get two at a time",
		loops: 2, pools: 1,
		counters: []counter{leased("pool", 2, 1), limit("member", 2)},
		members:  []member{through(1)},
		virtuals: onePool([]int{0}, 0),
		clients:  []client{{loop: 0}, {loop: 1}, {loop: 0}, {loop: 1}},
	},
	{
		name: "sticky", about: "persisted waiters beside free ones",
		loops: 2, pools: 1,
		counters: []counter{limit("pool", 2), limit("member 0", 1), limit("member 1", 1)},
		members:  []member{through(1), through(2)},
		virtuals: onePool([]int{0}, 0, 1),
		clients:  []client{{loop: 0, sticky: 1}, {loop: 1}, {loop: 0}, {loop: 1, sticky: 1, leaves: true}},
	},
	{
		name: "expiry", about: "waiters grow too old", small: true,
		loops: 2, pools: 1,
		counters: []counter{limit("member", 1)},
		members:  []member{through(0)},
		virtuals: onePool(nil, 0),
		clients:  []client{{loop: 0}, {loop: 1, ages: true, leaves: true}, {loop: 0, ages: true}},
		script:   []change{{do: tick}},
	},
	{
		name: "budget", about: "passes of one grant each", small: true,
		loops: 2, pools: 1, budget: 1,
		counters: []counter{leased("member", 2, 1)},
		members:  []member{through(0)},
		virtuals: onePool(nil, 0),
		clients:  []client{{loop: 0}, {loop: 1}, {loop: 0}, {loop: 1}},
	},
	{
		name: "member up", about: "a member comes up with waiters for it", small: true,
		loops: 2, pools: 1,
		counters: []counter{limit("member 0", 1), limit("member 1", 1)},
		members:  []member{through(0), {counters: []int{1}, down: true}},
		virtuals: onePool(nil, 0, 1),
		clients:  []client{{loop: 0}, {loop: 1}, {loop: 0, sticky: 2}},
		script:   []change{{do: memberUp, arg: 1}},
	},
	{
		name: "virtuals", about: "two virtual servers share a pool",
		loops: 2, pools: 1,
		counters: []counter{limit("virtual 0", 1), limit("pool", 1)},
		members:  []member{through(1)},
		virtuals: []virtual{{pool: 0, prefix: []int{0}, members: []int{0}}, {pool: 0, members: []int{0}}},
		clients:  []client{{loop: 0}, {loop: 1, virtual: 1}, {loop: 0, virtual: 1}, {loop: 1}},
	},
}
