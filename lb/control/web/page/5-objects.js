// What is shown of each kind of object.

const meters = new Meters();

const refusals = [
  ["expired", "waited too long"], ["overflowed", "no room to wait"], ["refusedNoMember", "no member"],
  ["early", "would have waited too long"], ["shed", "shed"], ["flushed", "flushed"],
];

const refused = (o) => refusals.reduce((sum, [key]) => sum + o[key], 0);

const refusedBy = (o) => refusals.filter(([key]) => o[key] > 0).map(([key, word]) => word + " " + count(o[key])).join(", ");

const speedOf = (kind, name, what, n) => meters.speed(JSON.stringify([kind, name, what]), n);

const virtualColumns = [
  { head: "Virtual server", text: (v) => v.name },
  { head: "Address", left: true, text: (v) => v.mode === "forward" ? v.listen + ", forwarded" : v.front === "tap" ? v.listen + ", TAP" : v.listen },
  { head: "Pool", left: true, text: (v) => v.pool },
  { head: "In use", unit: "connections", text: (v) => ofLimit(v.connections.current, orNull(v.connections.limit)) },
  { head: "Most", unit: "connections", text: (v) => count(v.connections.maximum) },
  { head: "New", unit: "connections/s", text: (v) => speed(speedOf("virtual", v.name, "total", v.connections.total), "") },
  { head: "Waiting", unit: "clients", text: (v) => count(v.connq.depth) },
  { head: "Oldest wait", text: (v) => span(v.connq.ageHeadMs) },
  { head: "Served", unit: "after a wait", text: (v) => count(v.connq.serviced) },
  { head: "Refused", unit: "clients", text: (v) => count(v.refused) },
  { head: "Up", unit: "to servers", text: (v) => speed(speedOf("virtual", v.name, "up", v.bytes.up), "B") },
  { head: "Down", unit: "to clients", text: (v) => speed(speedOf("virtual", v.name, "down", v.bytes.down), "B") },
];

const dropped = (h) => h.droppedFull + h.droppedShare + h.badChecksum;

const tapState = (t) => !t.up ? "down" : t.servers && !t.servers.up ? "servers down" : "up";

const tapColumns = [
  { head: "Device", text: (t) => t.device },
  { head: "State", state: tapState },
  { head: "Parked", unit: "handshakes", text: (t) => ofLimit(t.handshakes.parked, orNull(t.handshakes.limit)) },
  { head: "Proven", unit: "of those parked", text: (t) => count(t.handshakes.proven) },
  { head: "Begun", unit: "handshakes/s", text: (t) => speed(speedOf("tap", t.device, "begun", t.handshakes.begun), "") },
  { head: "Accepted", unit: "handshakes/s", text: (t) => speed(speedOf("tap", t.device, "accepted", t.handshakes.accepted), "") },
  { head: "Gave up", unit: "while parked", text: (t) => count(t.handshakes.reset + t.handshakes.silent) },
  { head: "Dropped", unit: "SYNs", text: (t) => count(dropped(t.handshakes)) },
  { head: "Cookies", unit: "sent", text: (t) => count(t.cookies.sent) },
  { head: "Forwarded", unit: "connections", text: (t) => t.forwarding ? count(t.forwarding.connections) : "–" },
  { head: "In", unit: "from the link", text: (t) => speed(speedOf("tap", t.device, "in", t.bytes.in), "B") },
  { head: "Out", unit: "to the link", text: (t) => speed(speedOf("tap", t.device, "out", t.bytes.out), "B") },
];

const memberColumns = [
  { head: "Member", text: (m) => m.address },
  { head: "State", state: (m) => m.state },
  { head: "In use", unit: "connections", text: (m) => ofLimit(m.connections.current, orNull(m.connections.limit)) },
  { head: "Most", unit: "connections", text: (m) => count(m.connections.maximum) },
  { head: "New", unit: "connections/s", text: (m) => speed(speedOf("member", m.pool + "/" + m.address, "total", m.connections.total), "") },
  { head: "Waiting", unit: "clients", text: (m) => count(m.connq.depth) },
  { head: "Oldest wait", text: (m) => span(m.connq.ageHeadMs) },
  { head: "Refused", unit: "clients", text: (m) => count(refused(m)) },
  { head: "Failed", unit: "dials", text: (m) => count(m.dialFailures) },
  { head: "Why in this state", why: (m) => m.reason },
];

const waiterColumns = [
  { head: "Place", text: (w) => count(w.position) },
  { head: "Client", unit: "address", left: true, text: (w) => w.client || "–" },
  { head: "Virtual server", left: true, text: (w) => w.virtual },
  { head: "Pool", left: true, text: (w) => w.pool },
  { head: "Waits for", unit: "member", left: true, text: (w) => w.queue === "pool" ? "any" : w.queue },
  { head: "Waited", text: (w) => span(w.ageMs) },
  { head: "Expected", unit: "from now", text: (w) => span(w.expectedMs) },
  { head: "Class", unit: "0 to 7", text: (w) => count(w.class) },
  { head: "Tries", unit: "dials", text: (w) => count(w.tries) },
];

// capacity is how many connections a pool can have at once; null is any
// number.
function capacity(pool) {
  const own = orNull(pool.connections.limit);
  let all = 0;
  for (const m of pool.members) {
    if (m.connections.limit === 0) return own;
    all += m.connections.limit;
  }
  return own === null ? all : Math.min(own, all);
}
