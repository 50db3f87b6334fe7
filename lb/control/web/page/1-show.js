// How numbers and nodes are made. All text goes in by textContent.

const byId = (id) => document.getElementById(id);

function make(tag, className, text) {
  const n = document.createElement(tag);
  if (className) n.className = className;
  if (text !== undefined) n.textContent = text;
  return n;
}

// say changes a text only if it is another one, so that nobody who listens to
// it or has selected it is disturbed.
function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

const count = (n) => n.toLocaleString("en").replaceAll(",", "\u202f");

// figures shows a number from 0 to 1000 with three of them.
function figures(f) {
  if (f >= 99.95) return f.toFixed(0);
  return f.toFixed(f >= 9.995 ? 1 : 2);
}

// speed is something per second; null is not known.
function speed(f, unit) {
  if (f === null) return "–";
  if (f === 0) return "0\u202f" + unit + "/s";
  let prefix = "";
  for (const p of ["k", "M", "G", "T"]) {
    if (f < 999.5) break;
    f /= 1000;
    prefix = p;
  }
  return figures(f) + "\u202f" + prefix + unit + "/s";
}

// span is a time of so many milliseconds; null is not known.
function span(ms) {
  if (ms === null) return "–";
  if (ms === 0) return "0\u202fs";
  if (ms < 999.5) return figures(ms) + "\u202fms";
  if (ms < 59995) return figures(ms / 1000) + "\u202fs";
  const s = Math.round(ms / 1000), m = Math.floor(s / 60), h = Math.floor(m / 60);
  if (h > 0) return h + "\u202fh " + (m % 60) + "\u202fmin";
  return m + "\u202fmin " + (s % 60) + "\u202fs";
}

// ofLimit is a number and the limit of it; null is none.
const ofLimit = (n, limit) => limit === null ? count(n) : count(n) + " of " + count(limit);

const orNull = (limit) => limit === 0 ? null : limit;

const clock = (date) => date.toLocaleTimeString([], { hour12: false });

// A state has a sign and a colour, but its word says it all.
const looks = {
  enabled: ["●", "good"], up: ["●", "good"], down: ["✖", "bad"], ramping: ["▲", "note"], probing: ["▲", "note"],
};

function showState(node, word) {
  if (node.dataset.state === word) return;
  node.dataset.state = word;
  const [sign, colour] = looks[word] || ["■", "warn"];
  const mark = make("span", "", sign + " ");
  mark.setAttribute("aria-hidden", "true");
  node.className = "state " + colour;
  node.replaceChildren(mark, word);
}
