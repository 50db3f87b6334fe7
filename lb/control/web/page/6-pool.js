// Panel shows one pool.

class Panel {
  static panels = 0;

  constructor() {
    const id = "pool-" + ++Panel.panels;
    this.node = make("section", "pool");
    this.node.setAttribute("aria-labelledby", id);
    this.name = make("h3");
    this.name.id = id;
    this.state = make("span");
    this.reason = make("p", "quiet");
    const title = make("div", "title");
    title.append(this.name, this.state, this.reason);
    this.facts = make("dl");
    this.use = this.fact("In use", "use");
    this.waiting = this.fact("Waiting", "queue");
    this.oldest = this.fact("Oldest wait");
    this.rate = this.fact("Rate");
    this.served = this.fact("Served after a wait");
    this.refused = this.fact("Refused");
    this.depthChart = new Chart("queue", "Queue depth", "clients");
    this.useChart = new Chart("use", "In use", "connections");
    const charts = make("div", "charts");
    charts.append(this.depthChart.node, this.useChart.node);
    this.members = new Table("Members", memberColumns);
    this.node.append(title, this.facts, charts, this.members.node);
    seen.observe(this.node);
  }

  fact(term, bar) {
    const box = this.facts.appendChild(make("div")), dd = make("dd");
    box.append(make("dt", "", term), dd);
    const f = { value: make("span"), more: make("small") };
    dd.append(f.value);
    if (bar) {
      const rail = dd.appendChild(make("span", "bar " + bar));
      rail.setAttribute("aria-hidden", "true");
      f.bar = rail.appendChild(make("span"));
    }
    dd.append(f.more);
    return f;
  }

  show(p, at) {
    const slots = capacity(p), here = p.connq.depth, all = p.connqAll.depth;
    say(this.name, p.name);
    showState(this.state, p.state);
    say(this.reason, p.reason);
    tell(this.use, ofLimit(p.connections.current, slots) + " connections", "most " + count(p.connections.maximum), p.connections.current, slots);
    tell(this.waiting, ofLimit(here, p.effectiveDepth) + " clients",
      all > here ? "and " + count(all - here) + " for one member" : p.effectiveDepth === null ? "any number may wait" : "", here, p.effectiveDepth);
    tell(this.oldest, span(p.connqAll.ageHeadMs), "average " + span(p.connqAll.ageEmaMs) + ", longest so far " + span(p.connqAll.ageMaxMs));
    tell(this.rate, speed(speedOf("pool", p.name, "total", p.connections.total), "") + " new connections",
      p.releasesPerSecond === null ? "" : speed(p.releasesPerSecond, "") + " places get free");
    tell(this.served, count(p.connqAll.serviced) + " clients", "left before: " + count(p.abandoned) + " clients");
    tell(this.refused, count(refused(p)) + " clients", refusedBy(p));
    this.depthChart.add(at, all, p.effectiveDepth, "room");
    this.useChart.add(at, p.connections.current, slots, "limit");
    this.members.show(p.members, (m) => m.address);
    this.at = at;
    if (this.inSight) this.draw();
  }

  draw() {
    if (this.at === undefined) return;
    this.depthChart.show(this.at);
    this.useChart.show(this.at);
  }
}

function tell(fact, value, more, n, limit) {
  say(fact.value, value);
  say(fact.more, more);
  if (fact.bar) fact.bar.style.width = limit ? Math.min(100 * n / limit, 100) + "%" : "0";
}

// Charts are drawn while they can be seen: there may be many pools.
const panels = new Map();

const seen = new IntersectionObserver((entries) => {
  for (const e of entries) {
    for (const p of panels.values()) {
      if (p.node !== e.target) continue;
      p.inSight = e.isIntersecting;
      if (p.inSight) p.draw();
    }
  }
}, { rootMargin: "200px" });

addEventListener("resize", () => {
  for (const p of panels.values()) if (p.inSight) p.draw();
});

function showPools(list, at) {
  const box = byId("pool-list"), names = new Set();
  let next = box.firstChild;
  for (const pool of list) {
    names.add(pool.name);
    let p = panels.get(pool.name);
    if (!p) panels.set(pool.name, p = new Panel());
    if (p.node === next) next = next.nextSibling;
    else box.insertBefore(p.node, next);
    p.show(pool, at);
  }
  for (const [name, p] of panels) {
    if (names.has(name)) continue;
    seen.unobserve(p.node);
    p.node.remove();
    panels.delete(name);
  }
}
