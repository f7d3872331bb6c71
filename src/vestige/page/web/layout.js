/** Which thread is where: lanes of processes and threads, from top to bottom. */

import { processName } from "vestige/names.js";

export const LANE = 17;
export const GUTTER = 176;
const HEAD = 20;
const STRIP = 24;
const GAP = 7;
const DEEPEST = 40; // lanes of a thread that are shown before it is opened

export class Layout {
  constructor(meta) {
    this.meta = meta;
    this.closed = new Set(); // processes
    this.opened = new Set(); // rows that show all of their lanes
    this.arrange();
  }

  arrange() {
    this.places = []; // {kind: "process" | "row", top, height, …}
    let top = 4;
    let process = null;
    for (const index of this.meta.order) {
      const row = this.meta.rows[index];
      if (row.process !== process) {
        process = row.process;
        this.places.push({ kind: "process", process, title: processName(this.meta.processes[process]), top, height: HEAD });
        top += HEAD;
      }
      if (this.closed.has(process)) continue;
      const above = this.places.at(-1);
      if (isSameStrip(above, row)) {
        above.indexes.push(index);
        continue;
      }
      const deep = row.kind === "calls" ? Math.max(row.depths, 1) : 0;
      const lanes = this.opened.has(index) ? deep : Math.min(deep, DEEPEST);
      const height = (lanes ? lanes * LANE : STRIP) + GAP;
      this.places.push({ kind: "row", index, indexes: [index], row, top, height, lanes, hidden: deep - lanes });
      top += height;
    }
    this.height = top + 12;
  }

  /** The places that touch a part of the whole picture. */
  visible(from, to) {
    return this.places.filter((place) => place.top < to && place.top + place.height > from);
  }

  /** What is at a height: a place, and the depth in it. */
  at(y) {
    const place = this.places.find((one) => y >= one.top && y < one.top + one.height);
    if (!place) return null;
    return { place, depth: Math.floor((y - place.top) / LANE) };
  }

  toggle(process) {
    if (!this.closed.delete(process)) this.closed.add(process);
    this.arrange();
  }

  /** The top of a call's lane. */
  topOf(index, depth) {
    const place = this.places.find((one) => one.kind === "row" && one.index === index);
    return place ? place.top + depth * LANE : 0;
  }
}

/** Whether a row has other events of the thread whose events the place above has. */
function isSameStrip(above, row) {
  if (above.kind !== "row" || row.kind !== "events" || row.tid === null) return false;
  return above.row.kind === "events" && above.row.tid === row.tid && above.row.process === row.process;
}
