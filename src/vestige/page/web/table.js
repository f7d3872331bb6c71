/** Tables whose columns can be sorted. All text is text, never markup. */

const MOST_ROWS = 400;

export class Table {
  /**
   * @param box where it goes
   * @param columns [{name, title, text: row => string, value: row => number | string, isName}]
   * @param choose called with a row that is clicked
   */
  constructor(box, columns, { sort = 1, choose = null, empty = "nothing" } = {}) {
    Object.assign(this, { box, columns, sort, choose, empty, isDown: true, rows: [], most: MOST_ROWS });
  }

  show(rows, chosen = () => false) {
    this.rows = rows;
    this.chosen = chosen;
    this.draw();
  }

  draw() {
    const key = this.columns[this.sort].value;
    const sign = this.isDown ? -1 : 1;
    const sorted = [...this.rows].sort((one, other) => {
      const [a, b] = [key(one), key(other)];
      return sign * (typeof a === "string" ? a.localeCompare(b) : a - b);
    });
    const table = document.createElement("table");
    table.append(this.head(), this.body(sorted.slice(0, this.most)));
    this.box.replaceChildren(table);
    if (!sorted.length) this.box.append(note(this.empty));
    if (sorted.length > this.most) this.box.append(this.more(sorted.length));
  }

  head() {
    const row = document.createElement("tr");
    this.columns.forEach((column, index) => {
      const cell = document.createElement("th");
      const button = document.createElement("button");
      button.textContent = column.name;
      if (column.title) button.title = column.title;
      if (column.isName) cell.className = "name";
      if (index === this.sort) cell.setAttribute("aria-sort", this.isDown ? "descending" : "ascending");
      button.addEventListener("click", () => {
        this.isDown = index === this.sort ? !this.isDown : !column.isName;
        this.sort = index;
        this.draw();
      });
      cell.append(button);
      row.append(cell);
    });
    const head = document.createElement("thead");
    head.append(row);
    return head;
  }

  body(rows) {
    const body = document.createElement("tbody");
    for (const row of rows) {
      const line = document.createElement("tr");
      for (const column of this.columns) {
        const cell = document.createElement("td");
        cell.textContent = column.text(row);
        if (column.isName) {
          cell.className = "name";
          cell.title = cell.textContent.slice(0, 2000);
        }
        line.append(cell);
      }
      if (this.chosen(row)) line.className = "chosen";
      if (this.choose) this.listen(line, row);
      body.append(line);
    }
    return body;
  }

  listen(line, row) {
    line.tabIndex = 0;
    line.addEventListener("click", () => this.choose(row));
    line.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.choose(row);
    });
  }

  more(all) {
    const line = note(`${this.most} of ${all} rows. `);
    const button = document.createElement("button");
    button.textContent = "Show all";
    button.addEventListener("click", () => {
      this.most = Infinity;
      this.draw();
    });
    line.append(button);
    return line;
  }
}

export function note(text, kind = "note") {
  const line = document.createElement("p");
  line.className = kind;
  line.textContent = text;
  return line;
}

/** A list of terms and what they are. */
export function facts(pairs) {
  const list = document.createElement("dl");
  list.className = "facts";
  for (const [term, text] of pairs) {
    if (text === null || text === undefined || text === "") continue;
    const name = document.createElement("dt");
    const value = document.createElement("dd");
    name.textContent = term;
    value.textContent = text;
    list.append(name, value);
  }
  return list;
}

export function heading(text) {
  const made = document.createElement("h2");
  made.textContent = text;
  return made;
}
