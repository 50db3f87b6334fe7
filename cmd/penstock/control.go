package main

import (
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"

	"penstock/lb/control/accesslog"
	"penstock/lb/control/admin"
	"penstock/lb/control/config"
	"penstock/lb/dispatch"
	"penstock/stack/monitor"
	"penstock/stack/proxy"
)

// control changes what is in force, for the admin interface, SIGHUP and the
// monitors. Every change happens while the loops stand still, so that it is in
// force as a whole or not at all.
type control struct {
	// Constant.
	args    []string
	env     config.Env
	proxy   *proxy.Proxy
	disp    *dispatch.Dispatcher
	access  *accesslog.Log // may be nil
	log     *slog.Logger
	monitor *monitor.Monitor

	config  atomic.Pointer[config.Config] // written within Isolate, under mu
	watched atomic.Pointer[watched]
	past    past

	mu    sync.Mutex
	names accesslog.Names
}

func newControl(c *config.Config, args []string, e env, p *proxy.Proxy, access *accesslog.Log, log *slog.Logger) *control {
	k := &control{
		args: args, env: e.config, proxy: p, disp: p.Dispatcher(), access: access, log: log,
		past: newPast(), names: logNames(c, accesslog.Names{}),
	}
	k.config.Store(c)
	k.monitor = monitor.New(k.report, log)
	k.watch(c)
	return k
}

// watch has the monitors check the members of c.
func (k *control) watch(c *config.Config) {
	k.watched.Store(watchedIn(c))
	k.monitor.Set(targets(c))
}

// Config is what is in force.
func (k *control) Config() *config.Config { return k.config.Load() }

// Apply puts next into force if old is; see admin.Control.
func (k *control) Apply(old, next *config.Config, cut ...int) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.config.Load() != old {
		return admin.ErrConflict
	}
	if err := config.Unchangeable(old, next); err != nil {
		return err
	}
	config.Inherit(old, next)
	return k.apply(old, next, cut)
}

// Reload reads the flags again, and puts into force what differs from what is.
// A file with a mistake changes nothing.
func (k *control) Reload() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	old := k.config.Load()
	if old.FlagFile == "" {
		return nil // nothing to read
	}
	next, err := config.Reload(old, k.args, k.env)
	if err != nil {
		return err
	}
	for _, w := range next.Warnings {
		k.log.Warn(w)
	}
	return k.apply(old, next, nil)
}

func (k *control) apply(old, next *config.Config, cut []int) error {
	k.flushLog() // before numbers are used again that lines name
	opened, err := k.change(old, next, cut)
	if err != nil {
		return err
	}
	k.watch(next)
	for _, v := range opened {
		announce(k.proxy, next, v, k.log)
	}
	return nil
}

// change puts next into force, and says which virtual servers are new.
func (k *control) change(old, next *config.Config, cut []int) (opened []*config.Virtual, err error) {
	k.past.mu.Lock()
	defer k.past.mu.Unlock()
	l, err := newPlan(&k.past, old, next, cut)
	if err != nil {
		return nil, err
	}
	e := edit{control: k, plan: l}
	var failed error
	err = k.proxy.Isolate(func(now int64) {
		e.now = dispatch.Tick(now)
		if failed = e.do(); failed == nil {
			k.config.Store(next)
			k.setNames(next)
		}
		k.disp.Changed(e.now)
		k.proxy.Forget(k.past.forgotten) // last: a number is free for the next change, not for this one
	})
	return e.opened, errors.Join(err, failed)
}

func (k *control) flushLog() {
	if k.access != nil {
		k.access.Flush()
	}
}

func (k *control) setNames(c *config.Config) {
	if k.access != nil {
		k.names = logNames(c, k.names)
		k.access.SetNames(k.names)
	}
}

// report is what a monitor says of a member. A member that went meanwhile is
// not known any more, and one that came is up until its own monitor says
// otherwise. A change is in force before the monitors know of it: what they
// say in between of a pool that has none any more, nobody would take back.
func (k *control) report(key string, up bool, _ string) {
	k.proxy.Isolate(func(now int64) {
		c := k.config.Load()
		i, j, ok := k.watched.Load().place(c, key)
		if !ok {
			return
		}
		p := &c.Pools[i]
		id := p.Members[j].ID
		k.disp.SetMemberUp(dispatch.Tick(now), dispatch.MemberID(id), up)
		k.disp.Changed(dispatch.Tick(now))
		if !up {
			k.serviceDown(p, id)
		}
	})
}

// serviceDown does with what is connected to a member what its pool says.
func (k *control) serviceDown(p *config.Pool, id int) {
	switch p.ServiceDown {
	case config.DownReset:
		k.proxy.ResetMember(id)
	case config.DownReselect:
		k.proxy.ReselectMember(id)
	}
}

// Pause makes everybody in a pool wait, or ends that.
func (k *control) Pause(pool string, on bool) error {
	return k.operate(pool, func(now dispatch.Tick, id dispatch.PoolID) { k.disp.Pause(now, id, on) })
}

// Flush refuses those who wait in a pool and pass the filter.
func (k *control) Flush(pool string, f admin.Filter) (n int, err error) {
	err = k.operate(pool, func(now dispatch.Tick, id dispatch.PoolID) {
		n = k.disp.Flush(now, id, k.passes(f, now))
	})
	return n, err
}

// operate does something with a pool's queue.
func (k *control) operate(pool string, do func(dispatch.Tick, dispatch.PoolID)) error {
	found := false
	err := k.proxy.Isolate(func(now int64) {
		for i := range k.config.Load().Pools {
			if p := &k.config.Load().Pools[i]; p.Name == pool {
				found = true
				do(dispatch.Tick(now), dispatch.PoolID(p.ID))
				k.disp.Changed(dispatch.Tick(now))
			}
		}
	})
	if err == nil && !found {
		err = config.ErrUnknown
	}
	return err
}

// Waiters lists who waits, pool by pool.
func (k *control) Waiters(f admin.Filter, skip, most int) (page []admin.Waiter, total int, err error) {
	err = k.proxy.Isolate(func(now int64) {
		keep := k.passes(f, dispatch.Tick(now))
		if f == (admin.Filter{Pool: f.Pool}) {
			keep = nil // all of them: a look at the first ones will do
		}
		c := k.config.Load()
		for i := range c.Pools {
			if f.Pool != "" && f.Pool != c.Pools[i].Name {
				continue
			}
			some, n := k.disp.Waiters(dispatch.PoolID(c.Pools[i].ID), max(skip-total, 0), most-len(page), keep)
			total += n
			for _, w := range some {
				page = append(page, admin.Waiter{WaiterView: w, Client: k.proxy.ClientOf(w.Loop, w.Conn)})
			}
		}
	})
	return page, total, err
}

// passes returns the filter as the dispatcher takes it. Only within Isolate.
func (k *control) passes(f admin.Filter, now dispatch.Tick) func(*dispatch.WaiterView) bool {
	match := f.Match(k.config.Load(), now)
	return func(w *dispatch.WaiterView) bool {
		return match(w, k.proxy.ClientOf(w.Loop, w.Conn).Addr())
	}
}

// Close ends the monitors. The proxy may have ended before.
func (k *control) Close() { k.monitor.Close() }
