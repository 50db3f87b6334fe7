// The page looks once a second while it can be seen.

const interval = 1000;
const virtualTable = new Table("Virtual servers", virtualColumns);
const tapTable = new Table("TAP device", tapColumns);
const waiterTable = new Table("Clients that wait, the first of each pool first", waiterColumns);
byId("virtuals").append(virtualTable.node);
byId("tap").append(tapTable.node);
byId("waiters").append(waiterTable.node);

let timer = 0;
let going = null;     // an AbortController while a look is under way
let answered = null;  // the Date of the last answer
let lostSince = null; // a Date while there is none

// mood is a class of the document, and a text that is told when it changes.
function mood(className, text) {
  document.documentElement.className = className;
  document.title = className === "lost" ? "(no answer) Penstock" : "Penstock";
  say(byId("status"), text);
}

async function turn() {
  const own = going = new AbortController(), began = performance.now();
  try {
    show(await look(own.signal));
  } catch (e) {
    if (own.signal.aborted) return; // hidden meanwhile
    if (e instanceof Stranger) return askForToken();
    lost(e);
  } finally {
    if (going === own) going = null;
  }
  showAge();
  if (!document.hidden) timer = setTimeout(turn, Math.max(interval - (performance.now() - began), 100));
}

function show(said) {
  const at = performance.now();
  answered = new Date();
  if (lostSince) noteChange("The proxy answers again");
  lostSince = null;
  mood(said.draining ? "draining" : "", said.draining ? "Draining: the proxy is about to end and takes no new connections" : "The proxy answers");
  byId("login").hidden = true;
  byId("main").hidden = false;
  byId("forget").hidden = sessionStorage.getItem(tokenKey) === null;
  meters.begin(at);
  noteChanges(said.pools);
  virtualTable.show(said.virtuals, (v) => v.name);
  byId("tap-section").hidden = said.taps.length === 0;
  tapTable.show(said.taps, (t) => t.device);
  showPools(said.pools, at);
  showWaiters(said.waiters);
}

function showWaiters(page) {
  const n = page.waiters.length;
  say(byId("waiters-sum"), page.total === 0 ? "Nobody waits." : n < page.total ? `The first ${n} of ${count(page.total)}.` : `${count(n)} in all.`);
  waiterTable.node.hidden = n === 0;
  let at = 0;
  waiterTable.show(page.waiters, () => at++);
}

function lost(error) {
  if (!lostSince) {
    lostSince = new Date();
    if (answered) noteChange("The proxy does not answer");
  }
  const why = error instanceof Refused ? "The proxy refuses: " + error.message : "No answer from the proxy since " + clock(answered || lostSince);
  mood("lost", why + (answered ? ". What is below is old." : "."));
}

function showAge() {
  if (!answered) return;
  const old = Math.floor((Date.now() - answered) / 1000);
  say(byId("age"), lostSince ? `Last answer ${span(old * 1000)} ago` : "As of " + clock(answered));
}

function askForToken() {
  if (sessionStorage.getItem(tokenKey) !== null) {
    sessionStorage.removeItem(tokenKey);
    say(byId("login-why"), "The proxy does not take this token. It is what the file of -admin-token-file holds.");
  }
  mood("waiting", "A token is needed");
  say(byId("age"), "");
  byId("main").hidden = byId("forget").hidden = true;
  byId("login").hidden = false;
  byId("token").focus();
}

byId("login").addEventListener("submit", (e) => {
  e.preventDefault();
  const token = byId("token").value.trim();
  byId("token").value = "";
  if (!/^[\x21-\x7e]+$/.test(token)) return; // no header can hold it
  sessionStorage.setItem(tokenKey, token);
  restart();
});

byId("forget").addEventListener("click", () => {
  sessionStorage.removeItem(tokenKey);
  restart();
});

function halt() {
  clearTimeout(timer);
  if (going) going.abort();
  going = null;
}

function restart() {
  halt();
  turn();
}

document.addEventListener("visibilitychange", () => document.hidden ? halt() : restart());

restart();
