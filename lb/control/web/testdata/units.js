// Tests of what the page computes. It is run behind the page's own scripts.
const assert = require("node:assert");
const thin = (s) => s.replaceAll("\u202f", " ");

for (const [f, want] of [[null, "–"], [0, "0 B/s"], [0.5, "0.50 B/s"], [12.34, "12.3 B/s"], [999.4, "999 B/s"], [999.6, "1.00 kB/s"], [2.5e9, "2.50 GB/s"], [7e15, "7000 TB/s"]]) {
  assert.equal(thin(speed(f, "B")), want);
}
for (const [ms, want] of [[null, "–"], [0, "0 s"], [0.25, "0.25 ms"], [250, "250 ms"], [999.9, "1.00 s"], [1500, "1.50 s"], [59994, "60.0 s"], [61000, "1 min 1 s"], [3600000 * 25, "25 h 0 min"]]) {
  assert.equal(thin(span(ms)), want);
}
assert.equal(thin(count(1234567)), "1 234 567");
assert.equal(ofLimit(3, null), "3");
assert.equal(ofLimit(3, 0), "3 of 0");

// Steps are round, and at most four of them reach what is shown.
for (let n = 1; n < 1e6; n = Math.ceil(n * 1.1)) {
  const s = step(n);
  assert(s * 4 >= n && /^(1|2|5|10)0*$/.test(String(s)), n + ": " + s);
}

// Speeds: not known at first, nor when a counter began anew, nor after a gap.
const m = new Meters();
const speeds = [[0, 5], [1000, 7], [3000, 7], [4000, 3], [5000, 4], [20000, 90], [21000, 91]].map(([at, n]) => {
  m.begin(at);
  return m.speed("x", n);
});
assert.deepEqual(speeds, [null, 2, 0, null, 1, null, 1]);
m.begin(22000);
m.begin(23000);
assert.equal(m.speed("x", 95), null, "it was not asked for meanwhile");

// A series keeps five minutes, and gaps in it are gaps.
const s = new Series();
for (let t = 0; t <= 400; t++) if (t < 350 || t > 360) s.add(t * 1000, t === 150 ? 9 : 1);
assert.equal(s.most(), 9);
assert.deepEqual(s.runs().map((r) => [r[0].at, r[r.length - 1].at]), [[98000, 349000], [361000, 400000]]);

assert.equal(dropped({ droppedFull: 1, droppedShare: 2, badChecksum: 4 }), 7);
for (const [front, mode, want] of [["tap", "tcp", "::1, TAP"], ["tap", "forward", "::1, forwarded"], ["kernel", "tcp", "::1"]]) {
  assert.equal(virtualColumns[1].text({ listen: "::1", front, mode }), want);
}
for (const [up, servers, want] of [[true, null, "up"], [true, { up: true }, "up"], [true, { up: false }, "servers down"], [false, { up: false }, "down"]]) {
  assert.equal(tapState({ up, servers }), want);
}

// What a pool can take at once.
const members = (...limits) => limits.map((limit) => ({ connections: { limit } }));
for (const [own, limits, want] of [[0, [2, 3], 5], [4, [2, 3], 4], [9, [2, 3], 5], [0, [2, 0], null], [4, [2, 0], 4], [0, [], 0]]) {
  assert.equal(capacity({ connections: { limit: own }, members: members(...limits) }), want);
}
assert.equal(refusedBy({ expired: 2, overflowed: 0, refusedNoMember: 1, early: 0, shed: 0, flushed: 0 }), "waited too long 2, no member 1");
