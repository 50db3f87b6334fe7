// A table whose rows stay the same nodes while their texts change, so that
// neither a selection nor a screen reader loses its place.
//
// A column is {head, unit, text(row)}; or {state} or {why} instead of text.
// The first names its row.

class Table {
  constructor(caption, columns) {
    this.columns = columns;
    this.rows = new Map();
    this.node = role(make("div", "table"), "region");
    this.node.setAttribute("aria-label", caption);
    this.node.tabIndex = 0; // so that keys can scroll it
    const table = this.node.appendChild(make("table"));
    table.append(make("caption", "", caption), this.heads(), make("tbody"));
    this.body = table.tBodies[0];
    // Rows that are laid out as cards are still rows of a table.
    role(table, "table");
    role(this.body, "rowgroup");
  }

  heads() {
    const head = make("thead"), row = head.appendChild(make("tr"));
    for (const c of this.columns) {
      const th = row.appendChild(make("th", c.text && c !== this.columns[0] && !c.left ? "number" : ""));
      th.scope = "col";
      role(th, "columnheader");
      th.append(c.head);
      if (c.unit) th.append(" ", make("small", "", c.unit));
    }
    role(head, "rowgroup");
    role(row, "row");
    return head;
  }

  // show makes the rows those of a list; key tells them apart.
  show(list, key) {
    const seen = new Set();
    let at = this.body.firstChild;
    for (const item of list) {
      const k = key(item);
      seen.add(k);
      let row = this.rows.get(k);
      if (!row) this.rows.set(k, row = this.row());
      if (row === at) at = at.nextSibling;
      else this.body.insertBefore(row, at);
      this.fill(row, item);
    }
    for (const [k, row] of this.rows) {
      if (seen.has(k)) continue;
      row.remove();
      this.rows.delete(k);
    }
  }

  row() {
    const row = role(make("tr"), "row");
    this.columns.forEach((c, i) => {
      if (i === 0) {
        const th = row.appendChild(role(make("th"), "rowheader"));
        th.scope = "row";
        return;
      }
      const td = row.appendChild(role(make("td", c.why ? "why" : c.text && !c.left ? "number" : ""), "cell"));
      td.dataset.head = c.unit ? c.head + ", " + c.unit : c.head;
      if (c.state) td.append(make("span"));
    });
    return row;
  }

  fill(row, item) {
    this.columns.forEach((c, i) => {
      const cell = row.cells[i];
      if (c.state) showState(cell.firstChild, c.state(item));
      else say(cell, (c.text || c.why)(item));
    });
  }
}

function role(node, name) {
  node.setAttribute("role", name);
  return node;
}
