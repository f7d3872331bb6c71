/** Waits for mutexes: where a thread stood still, and who had what it wanted. */

import { threadName } from "vestige/names.js";
import { duration, since } from "vestige/times.js";

export class Waits {
  constructor(data) {
    this.data = data;
    this.learn();
  }

  /** Take what there is now. */
  learn() {
    const { sites = [], rows = [] } = this.data.meta.waits ?? {};
    this.sites = sites;
    this.ofRow = new Map();
    for (const [row, begin, length, site, holder, holding] of rows) {
      if (!this.ofRow.has(row)) this.ofRow.set(row, []);
      this.ofRow.get(row).push({ row, begin, length, site, holder, holding });
    }
  }

  /** Those of a row that touch a range, by time. */
  within(row, begin, end) {
    return (this.ofRow.get(row) ?? []).filter((one) => one.begin <= end && one.begin + one.length >= begin);
  }

  label(wait) {
    return `waits: ${this.sites[wait.site] ?? "a mutex"}`;
  }

  describe(wait) {
    const lines = [`waited ${duration(wait.length)} for a mutex`, `${since(wait.begin)}, ${threadName(this.data, wait.row)}`];
    if (wait.site !== null) lines.push(`wanted by ${this.sites[wait.site]}`);
    if (wait.holder !== null) lines.push(`${threadName(this.data, wait.holder)} had it`);
    if (wait.holding !== null) lines.push(`locked by ${this.sites[wait.holding]}`);
    return lines;
  }
}
