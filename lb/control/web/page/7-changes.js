// Changes of state are listed, and so told to those who listen.

const mostChanges = 20;
let states = null; // none before the first look

function noteChanges(pools) {
  const now = new Map();
  for (const p of pools) {
    now.set("Pool " + p.name, [p.state, p.reason]);
    for (const m of p.members) now.set("Member " + p.name + "/" + m.address, [m.state, m.reason]);
  }
  if (states) {
    for (const [name, [state, reason]] of now) {
      const before = states.get(name);
      if (!before) noteChange(name + " was added: " + state);
      else if (before[0] !== state) noteChange(name + " was " + before[0] + ", is " + state + ": " + reason);
    }
    for (const name of states.keys()) if (!now.has(name)) noteChange(name + " was removed");
  }
  states = now;
}

function noteChange(text) {
  const list = byId("changes");
  byId("changes-none").hidden = true;
  list.prepend(make("li", "", clock(new Date()) + " " + text));
  while (list.children.length > mostChanges) list.lastChild.remove();
}
