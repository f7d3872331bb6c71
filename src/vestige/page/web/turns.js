/** What the scheduler did to threads: when they ran, and what they waited for. */

import { duration } from "vestige/times.js";

const UNKNOWN = 0;
const RUNNABLE = 2;
const BLOCKED = 3;

export class Turns {
  constructor(data) {
    this.data = data;
    this.learn();
  }

  /** Take what there is now. */
  learn() {
    const { calls = [], threads = [], rows = [], leftOut = 0 } = this.data.meta.turns ?? {};
    this.calls = calls;
    this.leftOut = leftOut;
    this.ofRow = new Map(threads.map((row) => [row, []]));
    for (const [row, begin, length, state, call] of rows) this.ofRow.get(row)?.push({ begin, length, state, call });
  }

  /** Whether anything is known of a row. */
  knows(row) {
    return this.ofRow.has(row);
  }

  /** The waits of a row that touch a range, by time. */
  within(row, begin, end) {
    const all = this.ofRow.get(row) ?? [];
    let [first, last] = [0, all.length];
    while (first < last) {
      const middle = (first + last) >> 1;
      if (all[middle].begin + all[middle].length < begin) first = middle + 1;
      else last = middle;
    }
    const found = [];
    for (let at = first; at < all.length && all[at].begin <= end; at++) found.push(all[at]);
    return found;
  }

  colourOf(wait) {
    return { [RUNNABLE]: "warn", [BLOCKED]: "wait" }[wait.state] ?? "line";
  }

  /** What a thread did in a range, as lines; none where nothing is known. */
  describe(row, begin, length) {
    if (!this.knows(row)) return [];
    const sums = [0, 0, 0, 0];
    const waits = new Map();
    for (const one of this.within(row, begin, begin + length)) {
      const time = Math.min(one.begin + one.length, begin + length) - Math.max(one.begin, begin);
      if (time <= 0) continue;
      sums[one.state] += time;
      if (one.state === BLOCKED && one.call !== null) waits.set(one.call, (waits.get(one.call) ?? 0) + time);
    }
    const ran = Math.max(length - sums[UNKNOWN] - sums[RUNNABLE] - sums[BLOCKED], 0);
    const share = length ? ` (${Math.round((100 * ran) / length)} %)` : "";
    const lines = [`${this.leftOut ? "ran at most" : "ran"} ${duration(ran)}${share}`];
    if (sums[RUNNABLE]) lines.push(`waited ${duration(sums[RUNNABLE])} for a CPU`);
    if (sums[BLOCKED]) lines.push(`waited ${duration(sums[BLOCKED])} for other things`);
    const [most] = [...waits].sort((one, other) => other[1] - one[1]);
    if (most) lines.push(`${duration(most[1])} of that in ${this.calls[most[0]]}`);
    return lines;
  }
}
