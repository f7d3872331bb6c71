/** What is known of the selected function and call. */

import { ACROSS_LOSS, MERGED, OPEN_AT_BEGIN, OPEN_AT_END } from "vestige/blocks.js";
import { Histogram } from "vestige/histogram.js";
import { threadName } from "vestige/names.js";
import { Table, facts, heading, note } from "vestige/table.js";
import { clock, count, duration, since } from "vestige/times.js";

export class Details {
  constructor(data, view, tip) {
    Object.assign(this, { data, view, tip });
    this.box = document.getElementById("details");
  }

  async draw() {
    const { call, functionId } = this.view;
    if (functionId === null) {
      this.box.replaceChildren(note("Click a call in the timeline, or a function, to see how long its calls took."));
      return;
    }
    const columns = document.createElement("div");
    columns.className = "columns";
    if (call) columns.append(this.ofCall(call));
    columns.append(this.ofFunction(functionId), this.ofDurations(functionId));
    this.box.replaceChildren(columns);
    const source = await this.data.source(functionId);
    if (source && this.view.functionId === functionId) columns.append(this.ofSource(source));
  }

  ofCall(call) {
    const box = document.createElement("div");
    const isMerged = (call.flags & MERGED) !== 0;
    box.append(heading(isMerged ? `${count(call.count)} short calls` : "This call"));
    const pairs = [
      ["thread", threadName(this.data, call.row)],
      ["begins", `${since(call.start)} (${clock(this.data.meta.begin, call.start)})`],
      [isMerged ? "from first to last" : "duration", duration(call.length)],
    ];
    if (isMerged) pairs.push(["in calls", `${duration(call.busy)} of it`]);
    if (call.flags & OPEN_AT_BEGIN) pairs.push(["entry", "not recorded"]);
    if (call.flags & OPEN_AT_END) pairs.push(["exit", "not recorded: it took at least this long"]);
    if (call.flags & ACROSS_LOSS) pairs.push(["lost", "events were lost in it: it may be two calls"]);
    box.append(facts(pairs));
    const button = document.createElement("button");
    button.textContent = "Show it";
    button.addEventListener("click", () => this.view.bring(call.start, call.length));
    box.append(button);
    return box;
  }

  ofFunction(functionId) {
    const box = document.createElement("div");
    const known = this.data.functions[functionId];
    box.append(heading(known.name));
    const sums = this.data.meta.sums?.[functionId];
    const pairs = [["object", known.object], ["source", known.source]];
    if (sums) {
      pairs.push(["calls", count(sums.calls)], ["time", duration(sums.duration)], ["itself", duration(sums.self)]);
      const incomplete = sums.calls - sums.complete;
      if (incomplete > 0) pairs.push(["incomplete", `${count(incomplete)} ${incomplete === 1 ? "call" : "calls"}, in none of the quantiles`]);
    }
    box.append(facts(pairs));
    if (known.source) box.append(copier(known.source));
    return box;
  }

  ofDurations(functionId) {
    const box = document.createElement("div");
    const durations = this.data.meta.durations?.[functionId];
    if (!durations?.buckets.length) {
      box.append(note("No complete call of it was recorded."));
      return box;
    }
    box.append(heading("How long its calls took"));
    const list = document.createElement("div");
    const histogram = new Histogram(durations.buckets, this.tip, (range) => this.listLongest(list, durations.longest, range));
    box.append(histogram.canvas);
    histogram.draw();
    box.append(facts(durations.quantiles.map(([part, ns]) => [part === 1 ? "longest" : `p${+(part * 100).toFixed(2)}`, duration(ns)])));
    this.listLongest(list, durations.longest, null);
    box.append(list);
    return box;
  }

  /** @param longest [[row, begin, duration], …] */
  listLongest(box, longest, range) {
    const rows = longest.filter((one) => !range || (one[2] >= range[0] && one[2] < range[1]));
    const head = heading(range ? `Longest from ${duration(range[0])} to ${duration(range[1])}` : "Longest calls");
    const inner = document.createElement("div");
    box.replaceChildren(head, inner);
    const columns = [
      { name: "Duration", text: (one) => duration(one[2]), value: (one) => one[2] },
      { name: "Begins", text: (one) => since(one[1]), value: (one) => one[1] },
      { name: "Thread", isName: true, text: (one) => threadName(this.data, one[0]), value: (one) => threadName(this.data, one[0]) },
    ];
    const empty = `none of the ${longest.length} longest calls, which are kept, took so long`;
    const table = new Table(inner, columns, { sort: 0, empty, choose: (one) => this.view.bring(one[1], one[2]) });
    table.show(rows);
  }

  ofSource(source) {
    const box = document.createElement("div");
    const text = document.createElement("pre");
    source.lines.forEach((line, index) => {
      const number = source.first + index;
      const shown = document.createElement(number === source.line ? "b" : "span");
      shown.textContent = `${String(number).padStart(6)}  ${line}\n`;
      text.append(shown);
    });
    box.append(heading("Source"), text);
    return box;
  }
}

function copier(text) {
  const button = document.createElement("button");
  button.textContent = "Copy source line";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = text; // no clipboard here: at least it can be selected
    }
  });
  return button;
}
