/** How long a function's calls took: a picture with a logarithmic axis. */

import { colour, sized } from "vestige/colours.js";
import { count, duration } from "vestige/times.js";

const WIDE = 460;
const HIGH = 130;
const FOOT = 18;

export class Histogram {
  /** @param buckets [[begin, end, calls], …] in nanoseconds, in order */
  constructor(buckets, tip, brushed) {
    Object.assign(this, { buckets: joined(buckets), tip, brushed, range: null });
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("role", "img");
    const calls = this.buckets.reduce((sum, one) => sum + one[2], 0);
    this.canvas.setAttribute("aria-label", `Histogram of ${calls} calls; drag to choose durations`);
    this.low = Math.log(Math.max(1, buckets[0][0]));
    this.high = Math.max(Math.log(Math.max(2, buckets.at(-1)[1])), this.low + 0.1);
    this.most = Math.max(...this.buckets.map((one) => one[2]));
    this.listen();
  }

  xOf(ns) {
    return ((Math.log(Math.max(1, ns)) - this.low) / (this.high - this.low)) * WIDE;
  }

  nsOf(x) {
    return Math.exp(this.low + (x / WIDE) * (this.high - this.low));
  }

  draw() {
    const pen = sized(this.canvas, WIDE, HIGH + FOOT);
    pen.fillStyle = colour("panel");
    pen.fillRect(0, 0, WIDE, HIGH);
    for (const [begin, end, calls] of this.buckets) {
      const isIn = !this.range || (end > this.range[0] && begin < this.range[1]);
      pen.fillStyle = isIn ? colour("accent") : colour("bar");
      const high = Math.max(1.5, (Math.log1p(calls) / Math.log1p(this.most)) * (HIGH - 8));
      pen.fillRect(this.xOf(begin), HIGH - high, Math.max(1, this.xOf(end) - this.xOf(begin) - 0.5), high);
    }
    pen.fillStyle = colour("faint");
    pen.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    let from = -100;
    for (let power = 1; power <= 1e13; power *= 10) {
      const x = this.xOf(power);
      if (x < 0 || x > WIDE - 34 || x - from < 56) continue;
      pen.fillRect(x, HIGH, 1, 4);
      pen.fillText(duration(power), x + 2, HIGH + FOOT - 4);
      from = x;
    }
  }

  listen() {
    let from = null;
    this.canvas.addEventListener("pointerdown", (event) => {
      from = event.offsetX;
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      const ns = this.nsOf(event.offsetX);
      const bucket = this.buckets.find(([begin, end]) => ns >= begin && ns < end);
      this.tip.show(event, bucket ? [`${duration(bucket[0])} to ${duration(bucket[1])}: ${count(bucket[2])} calls`] : [duration(ns)]);
      if (from === null || Math.abs(event.offsetX - from) < 3) return;
      this.range = [this.nsOf(Math.min(from, event.offsetX)), this.nsOf(Math.max(from, event.offsetX))];
      this.draw();
      this.brushed(this.range);
    });
    this.canvas.addEventListener("pointerup", (event) => {
      if (from !== null && Math.abs(event.offsetX - from) < 3) {
        this.range = null;
        this.draw();
        this.brushed(null);
      }
      from = null;
    });
    this.canvas.addEventListener("pointerleave", () => this.tip.hide());
  }
}

/** Join narrow buckets, to about 60 of the same width on the axis. */
function joined(buckets) {
  const low = Math.log(Math.max(1, buckets[0][0]));
  const wide = Math.max((Math.log(Math.max(2, buckets.at(-1)[1])) - low) / 60, 1e-9);
  const found = [];
  let bin = -1;
  for (const [begin, end, calls] of buckets) {
    const one = Math.floor((Math.log(Math.max(1, begin)) - low) / wide);
    if (one === bin) {
      found.at(-1)[1] = end;
      found.at(-1)[2] += calls;
    } else found.push([begin, end, calls]);
    bin = one;
  }
  return found;
}
