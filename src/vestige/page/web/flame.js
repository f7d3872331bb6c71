/** The flame graph of a range: callers above, what they call below, wide as the time it took. */

import { colour, functionColour, sized } from "vestige/colours.js";
import { duration, count } from "vestige/times.js";
import { cut } from "vestige/timeline.js";

const HIGH = 18;
const LEAST = 0.6; // pixels
const DEEPEST = 1500; // what is below is seen when a box is clicked

export class Flame {
  constructor(data, view, tip) {
    Object.assign(this, { data, view, tip, root: null, top: null });
    this.canvas = document.getElementById("flame-picture");
    this.box = document.getElementById("flame");
    this.boxes = [];
    this.listen();
  }

  show(root) {
    this.root = root;
    this.top = root;
    this.draw();
  }

  draw() {
    if (!this.root || this.box.hidden) return;
    const width = Math.max(this.box.clientWidth - 2, 50);
    this.boxes = [];
    this.place(this.top, width);
    const deep = this.boxes.reduce((most, one) => Math.max(most, one.depth), 0);
    const pen = sized(this.canvas, width, (deep + 1) * HIGH + 4);
    pen.fillStyle = colour("paper");
    pen.fillRect(0, 0, width, (deep + 1) * HIGH + 4);
    pen.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    pen.textBaseline = "middle";
    for (const one of this.boxes) this.drawBox(pen, one);
  }

  place(top, width) {
    const total = Math.max(top.duration, 1);
    const waiting = [{ node: top, depth: 0, x: 0, wide: width, total }];
    while (waiting.length) {
      const box = waiting.pop();
      if (box.wide < LEAST || box.depth > DEEPEST) continue;
      this.boxes.push(box);
      const scale = box.wide / Math.max(box.node.duration, 1);
      let x = box.x;
      for (const node of box.node.byTime()) {
        const wide = node.duration * scale;
        waiting.push({ node, depth: box.depth + 1, x, wide, total });
        x += wide;
      }
    }
  }

  drawBox(pen, { node, depth, x, wide, total }) {
    const { matches } = this.view;
    const y = depth * HIGH + 2;
    const isRoot = node.functionId === null;
    pen.globalAlpha = !matches || isRoot || matches.has(node.functionId) ? 1 : 0.25;
    pen.fillStyle = isRoot ? colour("line") : functionColour(this.data.functions, node.functionId);
    pen.fillRect(x, y, Math.max(wide - 0.5, 0.5), HIGH - 1);
    if (wide > 30) {
      pen.fillStyle = isRoot ? colour("ink") : colour("on-block");
      const part = ((100 * node.duration) / total).toFixed(1);
      const name = isRoot ? "all calls" : this.data.functions[node.functionId].name;
      pen.fillText(cut(`${name}  ${duration(node.duration)}  ${part} %`, wide - 6), x + 3, y + HIGH / 2);
    }
    pen.globalAlpha = 1;
  }

  listen() {
    this.canvas.addEventListener("pointermove", (event) => {
      const found = this.at(event);
      if (found) this.tip.show(event, this.describe(found));
      else this.tip.hide();
    });
    this.canvas.addEventListener("pointerleave", () => this.tip.hide());
    this.canvas.addEventListener("click", (event) => {
      const found = this.at(event);
      if (!found) return;
      this.top = found.node === this.top ? this.root : found.node;
      if (found.node.functionId !== null) this.view.chooseFunction(found.node.functionId);
      this.draw();
    });
    this.canvas.addEventListener("dblclick", () => {
      this.top = this.root;
      this.draw();
    });
  }

  at(event) {
    const depth = Math.floor((event.offsetY - 2) / HIGH);
    return this.boxes.find((one) => one.depth === depth && event.offsetX >= one.x && event.offsetX < one.x + Math.max(one.wide, 1));
  }

  describe({ node, total }) {
    const part = ((100 * node.duration) / total).toFixed(1);
    if (node.functionId === null) return [`all calls: ${duration(node.duration)}`];
    const known = this.data.functions[node.functionId];
    return [
      known.name,
      `${duration(node.duration)} (${part} %), itself ${duration(node.self)}`,
      `${count(node.calls)} calls by this path`,
      known.source ?? known.object ?? "",
    ];
  }
}
