/** The timeline: threads from top to bottom, their calls from left to right. */

import { ACROSS_LOSS, MERGED, OPEN_AT_BEGIN, OPEN_AT_END } from "vestige/blocks.js";
import { colour, functionColour, hatch, sized } from "vestige/colours.js";
import { GUTTER, LANE, Layout } from "vestige/layout.js";
import { since, step } from "vestige/times.js";
import { Turns } from "vestige/turns.js";
import { Waits } from "vestige/waits.js";

export const RULER = 24;
const LETTER = 6.5; // about as wide as one is, in pixels
const FONT = "11px system-ui, 'DejaVu Sans', sans-serif";

export class Timeline {
  constructor(data, view, tip) {
    Object.assign(this, { data, view, tip });
    this.box = document.getElementById("timeline");
    this.canvas = document.getElementById("picture");
    this.layout = new Layout(data.meta);
    this.waits = new Waits(data);
    this.turns = new Turns(data);
    this.drawn = { ms: 0, blocks: 0, level: 0 };
    this.times = []; // of the last drawings, milliseconds
    this.height = null; // on paper: of the whole picture
  }

  changed() {
    this.layout.meta = this.data.meta;
    this.waits.learn();
    this.turns.learn();
    this.layout.arrange();
  }

  get width() {
    return Math.max(this.box.clientWidth - GUTTER, 50);
  }

  xOf(time) {
    return GUTTER + ((time - this.view.begin) / (this.view.end - this.view.begin)) * this.width;
  }

  timeOf(x) {
    return this.view.begin + ((x - GUTTER) / this.width) * (this.view.end - this.view.begin);
  }

  draw() {
    const begun = performance.now();
    const width = this.box.clientWidth;
    const height = this.height ?? this.box.clientHeight;
    document.getElementById("lanes").style.height = `${this.layout.height + RULER}px`;
    const pen = sized(this.canvas, width, height);
    this.pen = pen;
    pen.fillStyle = colour("paper");
    pen.fillRect(0, 0, width, height);
    pen.font = FONT;
    pen.textBaseline = "middle";
    const scale = (this.view.end - this.view.begin) / this.width;
    const { level, parts } = this.data.at(scale, this.view.begin, this.view.end);
    this.parts = parts;
    this.drawn = { level, blocks: 0, ms: 0 };
    const top = this.height ? 0 : this.box.scrollTop;
    const ticks = this.ticks();
    this.drawGrid(ticks, height);
    pen.save();
    pen.beginPath();
    pen.rect(0, RULER, width, height);
    pen.clip();
    for (const place of this.layout.visible(top, top + height)) {
      const y = place.top - top + RULER;
      if (place.kind === "process") this.drawProcess(place, y, width);
      else this.drawRow(place, y, scale);
    }
    this.drawLosses(top, height);
    this.drawChosen(height);
    pen.restore();
    this.drawRuler(ticks, width);
    this.drawn.ms = performance.now() - begun;
    this.times.push(this.drawn.ms);
    if (this.times.length > 1000) this.times.shift();
  }

  ticks() {
    const wide = step(this.view.end - this.view.begin, this.width / 130);
    const found = [];
    for (let time = Math.ceil(this.view.begin / wide) * wide; time <= this.view.end; time += wide) found.push(time);
    return { wide, found };
  }

  drawGrid({ found }, height) {
    this.pen.fillStyle = colour("line");
    for (const time of found) this.pen.fillRect(Math.round(this.xOf(time)), RULER, 1, height);
  }

  drawRuler({ wide, found }, width) {
    const pen = this.pen;
    pen.fillStyle = colour("panel");
    pen.fillRect(0, 0, width, RULER);
    pen.fillStyle = colour("line");
    pen.fillRect(0, RULER - 1, width, 1);
    for (const time of found) {
      const x = Math.round(this.xOf(time));
      pen.fillStyle = colour("faint");
      pen.fillRect(x, RULER - 6, 1, 6);
      pen.fillText(since(time, wide, this.view.end), x + 4, RULER / 2 - 1);
    }
  }

  drawProcess(place, y, width) {
    const pen = this.pen;
    pen.fillStyle = colour("panel");
    pen.fillRect(0, y, width, place.height - 2);
    pen.fillStyle = colour("ink");
    const mark = this.layout.closed.has(place.process) ? "▸" : "▾";
    pen.fillText(`${mark} ${place.title}`, 6, y + place.height / 2);
  }

  drawRow(place, y, scale) {
    const pen = this.pen;
    const { row, index } = place;
    pen.save();
    pen.beginPath();
    pen.rect(GUTTER, RULER, this.width, this.height ?? this.box.clientHeight);
    pen.clip();
    if (row.kind === "events") {
      for (const one of place.indexes) this.drawWaits(one, y, place.height - 7);
    }
    for (const blocks of this.parts) {
      if (row.kind === "calls") {
        for (let depth = 0; depth < place.lanes; depth++) this.drawLane(blocks, index, depth, y + depth * LANE, scale);
      } else {
        for (const one of place.indexes) this.drawStrip(blocks, one, y, scale, place.height - 7);
      }
    }
    if (this.turns.knows(index)) this.drawTurns(index, y + place.height - 6);
    pen.restore();
    pen.fillStyle = colour("ink");
    pen.fillText(cut(row.name, GUTTER - (row.tid === null ? 24 : 62)), 18, y + 9);
    pen.fillStyle = colour("faint");
    pen.textAlign = "right";
    pen.fillText(row.tid === null ? "" : String(row.tid), GUTTER - 8, y + 9);
    pen.textAlign = "left";
    if (place.hidden && place.lanes > 1) pen.fillText(`+ ${place.hidden} deeper`, 18, y + 9 + LANE);
    pen.fillStyle = colour("line");
    pen.fillRect(0, y + place.height - 4, this.box.clientWidth, 1);
  }

  drawLane(blocks, row, depth, y, scale) {
    const { begin, end, matches, call } = this.view;
    const pen = this.pen;
    const functions = this.data.functions;
    const [first, last] = blocks.within(row, depth, begin, end);
    const { width } = this; // of an element: not to be asked for each block
    const right = GUTTER + width;
    const factor = width / (end - begin);
    let painted = -1; // the right edge of what was painted last
    let style = null; // what is set already: to set it takes longer than to draw a narrow block
    for (let at = first; at < last; at++) {
      const start = blocks.start[at];
      const from = Math.max(GUTTER, GUTTER + (start - begin) * factor);
      const to = Math.min(right, GUTTER + (start + blocks.length[at] - begin) * factor);
      if (to <= painted && to - from < 1) continue; // less than a pixel, and there is one
      const left = Math.round(from); // edges between pixels take far longer
      const wide = Math.max(Math.round(to) - left, 1);
      const id = blocks.functionId[at];
      const wanted = functionColour(functions, id);
      if (matches) pen.globalAlpha = matches.has(id) ? 1 : 0.22;
      if (wanted !== style) pen.fillStyle = style = wanted;
      pen.fillRect(left, y, wide > 3 ? wide - 1 : wide, LANE - 1);
      painted = Math.max(from + 1, to);
      this.drawn.blocks++;
      const flags = blocks.flags[at];
      if (wide > 3 && flags) {
        this.drawFlags(flags, from, wide, y);
        style = null;
      }
      if (wide > 26) {
        pen.fillStyle = style = colour("on-block");
        pen.fillText(cut(label(functions[id], blocks.count[at]), wide - 6), from + 3, y + LANE / 2);
      }
      if (call && call.row === row && call.depth === depth && call.start === start) this.frame(from, y, wide);
    }
    pen.globalAlpha = 1;
  }

  drawFlags(flags, from, wide, y) {
    const pen = this.pen;
    if (flags & (OPEN_AT_BEGIN | OPEN_AT_END)) {
      pen.fillStyle = hatch(pen, "warn");
      const edge = Math.min(wide, 10);
      if (flags & OPEN_AT_BEGIN) pen.fillRect(from, y, edge, LANE - 1);
      if (flags & OPEN_AT_END) pen.fillRect(from + wide - edge, y, edge, LANE - 1);
    }
    if (flags & ACROSS_LOSS) {
      pen.fillStyle = hatch(pen, "warn");
      pen.fillRect(from, y, wide, 4);
    }
    if (flags & MERGED) {
      pen.fillStyle = colour("paper");
      pen.fillRect(from, y + LANE - 4, wide - 0.5, 1);
    }
  }

  frame(from, y, wide) {
    this.pen.strokeStyle = colour("accent");
    this.pen.lineWidth = 2;
    this.pen.strokeRect(from, y, Math.max(wide, 3), LANE - 1);
  }

  /** How many events there are, or in which state it is, of a thread that shows no calls. */
  drawStrip(blocks, row, y, scale, height) {
    const pen = this.pen;
    const [first, last] = blocks.within(row, 0, this.view.begin, this.view.end);
    const isStates = this.data.rows[row].kind === "states";
    if (!isStates) pen.fillStyle = colour("bar");
    for (let at = first; at < last; at++) {
      const from = GUTTER + (blocks.start[at] - this.view.begin) / scale;
      const wide = Math.max(blocks.length[at] / scale, 1);
      const dense = isStates ? 1 : Math.min(1, 0.35 + Math.log10(blocks.count[at] + 1) / 5);
      const high = Math.max(3, (height - 2) * dense);
      if (isStates) pen.fillStyle = functionColour(this.data.functions, blocks.functionId[at]);
      pen.fillRect(from, y + height - high, wide, high);
      this.drawn.blocks++;
    }
  }

  /** Where a thread waited for a CPU, and where for anything else, below its calls. */
  drawTurns(row, y) {
    const { begin, end } = this.view;
    for (const wait of this.turns.within(row, begin, end)) {
      const from = Math.max(GUTTER, this.xOf(wait.begin));
      const wide = Math.max(1, Math.min(GUTTER + this.width, this.xOf(wait.begin + wait.length)) - from);
      this.pen.fillStyle = colour(this.turns.colourOf(wait));
      this.pen.fillRect(from, y, wide, 3);
    }
  }

  /** Where a thread waited for a mutex. */
  drawWaits(row, y, height) {
    const pen = this.pen;
    for (const wait of this.waits.within(row, this.view.begin, this.view.end)) {
      const from = Math.max(GUTTER, this.xOf(wait.begin));
      const wide = Math.max(1, Math.min(GUTTER + this.width, this.xOf(wait.begin + wait.length)) - from);
      pen.fillStyle = colour("wait");
      pen.globalAlpha = 0.45;
      pen.fillRect(from, y, wide, height);
      pen.globalAlpha = 1;
      pen.fillRect(from, y, wide, 2);
      if (wide < 40) continue;
      pen.fillStyle = colour("ink");
      pen.fillText(cut(this.waits.label(wait), wide - 6), from + 3, y + 9);
    }
  }

  /** The wait for a mutex at a point of the canvas, or undefined. */
  waitAt(x, y) {
    if (x < GUTTER || y < RULER) return undefined;
    const place = this.layout.at(y - RULER + this.box.scrollTop)?.place;
    const slack = (this.view.end - this.view.begin) / this.width;
    const time = this.timeOf(x);
    return place?.indexes?.flatMap((row) => this.waits.within(row, time - slack, time + slack))[0];
  }

  drawLosses(top, height) {
    const pen = this.pen;
    for (const loss of this.data.meta.losses ?? []) {
      if (loss.end < this.view.begin || loss.begin > this.view.end) continue;
      const from = Math.max(GUTTER, this.xOf(loss.begin));
      const wide = Math.max(3, Math.min(GUTTER + this.width, this.xOf(loss.end)) - from);
      const place = loss.row === null ? null : this.layout.places.find((one) => one.indexes?.includes(loss.row));
      pen.fillStyle = hatch(pen, "warn");
      if (place) pen.fillRect(from, place.top - top + RULER, wide, place.height - 6);
      else pen.fillRect(from, RULER, wide, height);
    }
  }

  drawChosen(height) {
    const { chosen } = this.view;
    if (!chosen) return;
    const pen = this.pen;
    const from = Math.max(GUTTER, this.xOf(chosen[0]));
    const to = Math.min(GUTTER + this.width, this.xOf(chosen[1]));
    if (to < GUTTER || from > GUTTER + this.width) return;
    pen.fillStyle = colour("shade");
    pen.fillRect(from, RULER, to - from, height);
    pen.fillStyle = colour("accent");
    pen.fillRect(from, RULER, 1, height);
    pen.fillRect(to, RULER, 1, height);
  }

  /** The call at a point of the canvas, or null. */
  hit(x, y) {
    if (x < GUTTER || y < RULER) return null;
    const found = this.layout.at(y - RULER + this.box.scrollTop);
    if (!found || found.place.kind !== "row") return null;
    const { place } = found;
    const depth = place.row.kind === "calls" ? found.depth : 0;
    if (place.row.kind === "calls" && depth >= place.lanes) return null;
    const scale = (this.view.end - this.view.begin) / this.width;
    const time = this.timeOf(x);
    for (const blocks of this.parts ?? []) {
      for (const row of place.indexes) {
        const [first, last] = blocks.within(row, depth, time - scale, time + scale);
        if (first < last) return blocks.get(nearest(blocks, first, last, time), row, depth);
      }
    }
    return null;
  }

  /** What was lost at a point of the canvas, or undefined. */
  lossAt(x, y) {
    if (x < GUTTER || y < RULER) return undefined;
    const place = this.layout.at(y - RULER + this.box.scrollTop)?.place;
    const slack = (3 * (this.view.end - this.view.begin)) / this.width; // it is drawn that wide at least
    const time = this.timeOf(x);
    return (this.data.meta.losses ?? []).find(
      (loss) =>
        (loss.row === null || place?.indexes?.includes(loss.row)) &&
        time >= loss.begin && time <= Math.max(loss.end, loss.begin + slack),
    );
  }
}

/** Of the blocks within a pixel, the one at a time, or else the longest. */
function nearest(blocks, first, last, time) {
  let best = first;
  for (let at = first; at < last; at++) {
    if (blocks.start[at] <= time && blocks.start[at] + blocks.length[at] >= time) return at;
    if (blocks.length[at] > blocks.length[best]) best = at;
  }
  return best;
}

function label(known, count) {
  const name = known?.name ?? "?";
  return count > 1 ? `${name} ×${count}` : name;
}

/** As many letters as fit; what is cut off is told by dots. */
export function cut(text, width) {
  const room = Math.floor(width / LETTER);
  if (text.length <= room) return text;
  return room < 2 ? "" : `${text.slice(0, room - 1)}…`;
}
