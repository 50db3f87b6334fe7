// A line of the last five minutes, with axes.

const svgName = "http://www.w3.org/2000/svg";
const edge = { left: 38, right: 10, top: 16, bottom: 18 };
const high = 130;

function draw(tag, attributes, text) {
  const n = document.createElementNS(svgName, tag);
  for (const key in attributes) n.setAttribute(key, attributes[key]);
  if (text !== undefined) n.textContent = text;
  return n;
}

// step is a round number, so that at most four of them reach n.
function step(n) {
  let s = 1;
  for (const f of [2, 2.5, 2]) {
    if (s * 4 >= n) return s;
    s *= f;
  }
  return 10 * step(n / 10);
}

class Chart {
  constructor(className, title, unit) {
    this.title = title;
    this.unit = unit;
    this.series = new Series();
    this.node = make("figure", className);
    this.caption = this.node.appendChild(make("figcaption"));
    this.now = make("b");
    this.rest = make("span");
    this.caption.append(title + ": ", this.now, this.rest);
    this.svg = this.node.appendChild(draw("svg", { role: "img", height: high }));
  }

  add(at, n, limit, limitName) {
    this.series.add(at, n);
    this.limit = limit;
    this.limitName = limitName;
    const most = this.series.most();
    say(this.now, count(n));
    say(this.rest, " " + this.unit + ", most " + count(most) + (limit === null ? "" : "; " + limitName + " " + count(limit)));
    this.svg.setAttribute("aria-label",
      `${this.title} over the last 5 minutes: now ${n}, most ${most} ${this.unit}` + (limit === null ? "" : `, ${limitName} ${limit}`));
  }

  // show draws it, in the room there is.
  show(at) {
    const wide = this.svg.clientWidth;
    if (wide < 60) return;
    const every = step(Math.max(this.series.most(), 1)), top = every * Math.max(Math.ceil(this.series.most() / every), 1);
    const x = (t) => edge.left + (wide - edge.left - edge.right) * (1 - (at - t) / kept);
    const y = (n) => high - edge.bottom - (high - edge.top - edge.bottom) * n / top;
    const all = [draw("text", { x: 0, y: 9 }, this.unit)];
    for (let n = 0; n <= top; n += every) {
      all.push(draw("line", { class: "grid", x1: edge.left, x2: wide - edge.right, y1: y(n), y2: y(n) }));
      all.push(draw("text", { x: edge.left - 5, y: y(n) + 4, "text-anchor": "end" }, count(n)));
    }
    for (let m = 5; m >= 0; m--) {
      const word = m === 0 ? "now" : m === 5 ? "−5 min" : "−" + m;
      all.push(draw("text", { x: x(at - m * 60000), y: high - 3, "text-anchor": m === 0 ? "end" : m === 5 ? "start" : "middle" }, word));
    }
    if (this.limit && this.limit <= top) {
      all.push(draw("line", { class: "limit", x1: edge.left, x2: wide - edge.right, y1: y(this.limit), y2: y(this.limit) }));
    }
    for (const run of this.series.runs()) all.push(...this.run(run, (t) => Math.max(x(t), edge.left), y));
    this.svg.replaceChildren(...all);
  }

  // run draws points that belong together; one alone gets a little width.
  run(points, x, y) {
    const xy = points.map((p) => x(p.at).toFixed(1) + " " + y(p.n).toFixed(1));
    const first = x(points[0].at).toFixed(1), last = x(points[points.length - 1].at).toFixed(1);
    const line = "M" + xy.join("L") + (points.length === 1 ? "h1" : "");
    return [
      draw("path", { class: "area", d: `M${first} ${y(0)}L${xy.join("L")}L${last} ${y(0)}Z` }),
      draw("path", { class: "line", d: line }),
    ];
  }
}
