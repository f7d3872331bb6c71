/** The events of a range that are no entries or exits of functions. */

import { threadName } from "vestige/names.js";
import { Table, note } from "vestige/table.js";
import { clock, since } from "vestige/times.js";

const MOST = 2000;

export class Events {
  constructor(data, view) {
    Object.assign(this, { data, view });
    this.box = document.getElementById("events");
    const columns = [
      { name: "Since begin", text: (one) => since(one[0], 1, data.span), value: (one) => one[0] },
      { name: "Time", text: (one) => clock(data.meta.begin, one[0]), value: (one) => one[0] },
      { name: "Thread", isName: true, text: (one) => threadName(data, one[1]), value: (one) => threadName(data, one[1]) },
      { name: "Event", isName: true, text: (one) => one[2], value: (one) => one[2] },
      { name: "Fields", isName: true, text: (one) => one[3], value: (one) => one[3] },
    ];
    const choose = (one) => {
      const half = (view.end - view.begin) / 2;
      view.show(one[0] - half, one[0] + half);
    };
    this.table = new Table(document.createElement("div"), columns, { sort: 0, choose, empty: "No events but calls in this range." });
    this.table.isDown = false;
  }

  async draw(range) {
    this.wanted = range;
    if (this.isReading) return;
    this.isReading = true;
    try {
      while (this.wanted) await this.read();
    } catch (problem) {
      this.box.replaceChildren(note(`The events cannot be read: ${problem.message}`, "note warn"));
    } finally {
      this.isReading = false;
    }
  }

  async read() {
    const [begin, end] = this.wanted;
    this.wanted = null;
    if (this.data.isServed) this.box.replaceChildren(note("Reading …"));
    const { events, more, hasMore } = await this.data.events(begin, end, MOST);
    if (this.wanted) return; // another range, by now
    this.found = { events, more, hasMore };
    this.list();
  }

  /** Show what was read, as far as the search wants it. */
  list() {
    if (!this.found) return;
    const { events, more, hasMore } = this.found;
    const { test } = this.view;
    this.table.show(test ? events.filter((one) => test(one[2]) || test(one[3])) : events);
    this.box.replaceChildren(this.table.box);
    if (more) this.box.append(note(`The first ${MOST} of this range; choose a shorter one to see others.`));
    if (hasMore) this.box.append(note('Later events are not in this file; "vestige open" shows them all.'));
  }
}
