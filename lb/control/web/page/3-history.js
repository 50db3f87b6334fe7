// What was, for speeds and for charts.

const kept = 5 * 60 * 1000; // milliseconds
const hole = 2500;          // a longer time between two samples is a gap

// Meter tells how fast a counter grows.
class Meter {
  // add returns how much per second; null if that can't be told yet, or the
  // counter began anew, or nobody looked for a while.
  add(at, n) {
    const { at: before, n: old } = this;
    this.at = at;
    this.n = n;
    if (before === undefined || at <= before || n < old || at - before > 4 * hole) return null;
    return (n - old) / ((at - before) / 1000);
  }
}

// Meters are one for each name; those that nobody asks for are forgotten.
class Meters {
  old = new Map();
  now = new Map();

  begin(at) {
    this.at = at;
    this.old = this.now;
    this.now = new Map();
  }

  speed(name, n) {
    const m = this.old.get(name) || new Meter();
    this.now.set(name, m);
    return m.add(this.at, n);
  }
}

// Series is a number over the last minutes.
class Series {
  points = []; // {at, n}, the oldest first

  add(at, n) {
    this.points.push({ at, n });
    let old = 0;
    while (this.points[old].at < at - kept - hole) old++;
    this.points.splice(0, old);
  }

  most() {
    return this.points.reduce((most, p) => Math.max(most, p.n), 0);
  }

  // runs are the points without gaps between them.
  runs() {
    const runs = [];
    let last = -Infinity;
    for (const p of this.points) {
      if (p.at - last > hole) runs.push([]);
      runs[runs.length - 1].push(p);
      last = p.at;
    }
    return runs;
  }
}
