/** The whole trace in a strip, with a frame around what is shown. */

import { colour, sized } from "vestige/colours.js";
import { GUTTER } from "vestige/layout.js";

const HEIGHT = 44;
const MOST_ROWS = 40;

export class Minimap {
  constructor(data, view) {
    Object.assign(this, { data, view });
    this.canvas = document.getElementById("minimap");
    this.listen();
  }

  get width() {
    return Math.max(this.canvas.parentElement.clientWidth - GUTTER, 50);
  }

  /** How busy each column of pixels is, for each of the rows with most in it. */
  measure() {
    const columns = Math.floor(this.width);
    const scale = this.data.span / columns;
    const { parts } = this.data.at(scale, 0, this.data.span);
    const rows = this.data.rows.map((row, index) => ({ index, many: row.calls || row.events }));
    rows.sort((one, other) => other.many - one.many);
    this.busy = rows.slice(0, MOST_ROWS).sort((one, other) => one.index - other.index).map(({ index }) => {
      const busy = new Float64Array(columns);
      for (const blocks of parts) addBusy(blocks, index, busy, scale, this.data.span);
      return busy;
    });
    this.measured = `${columns}/${this.data.span}/${parts.length}`;
    this.isComplete = parts.length > 0;
  }

  draw() {
    const width = this.canvas.parentElement.clientWidth;
    const pen = sized(this.canvas, width, HEIGHT);
    pen.fillStyle = colour("panel");
    pen.fillRect(0, 0, width, HEIGHT);
    if (!this.isComplete || !this.measured?.startsWith(`${Math.floor(this.width)}/${this.data.span}/`)) this.measure();
    const high = Math.max(1, (HEIGHT - 8) / Math.max(this.busy.length, 1));
    pen.fillStyle = colour("bar");
    this.busy.forEach((busy, row) => {
      for (let x = 0; x < busy.length; x++) {
        if (!busy[x]) continue;
        pen.globalAlpha = 0.25 + 0.75 * Math.min(1, busy[x]);
        pen.fillRect(GUTTER + x, 4 + row * high, 1, Math.max(0.8, high - 0.5));
      }
    });
    pen.globalAlpha = 1;
    this.drawFrame(pen, width);
  }

  drawFrame(pen, width) {
    const from = this.xOf(this.view.begin);
    const to = Math.max(this.xOf(this.view.end), from + 2);
    pen.fillStyle = colour("shade");
    pen.fillRect(GUTTER, 0, from - GUTTER, HEIGHT);
    pen.fillRect(to, 0, width - to, HEIGHT);
    pen.strokeStyle = colour("accent");
    pen.lineWidth = 1.5;
    pen.strokeRect(from, 1, to - from, HEIGHT - 2);
    pen.fillStyle = colour("faint");
    pen.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    pen.fillText("whole trace", 18, HEIGHT / 2 + 4);
  }

  xOf(time) {
    return GUTTER + (time / this.data.span) * this.width;
  }

  listen() {
    let from = null;
    const timeOf = (event) => ((event.offsetX - GUTTER) / this.width) * this.data.span;
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      const time = timeOf(event);
      const isInside = time > this.view.begin && time < this.view.end && this.view.end - this.view.begin < this.data.span;
      from = { time, isInside, begin: this.view.begin, end: this.view.end };
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!from) return;
      const time = timeOf(event);
      if (from.isInside) this.view.show(from.begin + time - from.time, from.end + time - from.time);
      else if (Math.abs(time - from.time) * this.width > 3 * this.data.span) {
        this.view.show(Math.min(time, from.time), Math.max(time, from.time));
      }
    });
    this.canvas.addEventListener("pointerup", () => {
      from = null;
    });
    this.canvas.addEventListener("dblclick", () => this.view.fit());
  }
}

function addBusy(blocks, row, busy, scale, span) {
  const [first, last] = blocks.within(row, 0, 0, span);
  for (let at = first; at < last; at++) {
    const start = blocks.start[at];
    const end = start + Math.max(blocks.length[at], 1);
    const part = blocks.length[at] ? Math.min(1, blocks.busy[at] / blocks.length[at]) : 1;
    const until = Math.min(Math.floor(end / scale), busy.length - 1);
    for (let x = Math.max(0, Math.floor(start / scale)); x <= until; x++) {
      const inside = Math.min(end, (x + 1) * scale) - Math.max(start, x * scale);
      busy[x] += Math.max(0.1, (part * inside) / scale);
    }
  }
}
