/** Colours: those of the style sheet, and one for each function. */

let ofStyle = {};
let ofFunctions = [];

export function readStyle() {
  const style = getComputedStyle(document.documentElement);
  const names = ["paper", "panel", "ink", "faint", "line", "accent", "warn", "shade", "bar", "light", "strong", "on-block", "wait"];
  ofStyle = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  ofFunctions = [];
  hatches.clear();
}

export function colour(name) {
  return ofStyle[name];
}

/** The same function has the same colour in each page; its object gives a part of the hue. */
export function functionColour(functions, id) {
  const known = ofFunctions[id];
  if (known) return known;
  const { name, object } = functions[id] ?? { name: "", object: "" };
  const hash = hashed(`${object}:${name}`);
  const saturation = 42 + ((hash >>> 9) % 24);
  const lift = ((hash >>> 16) % 9) - 4;
  const made = `hsl(${hash % 360} ${saturation}% ${parseInt(ofStyle.light, 10) + lift}%)`;
  ofFunctions[id] = made;
  return made;
}

function hashed(text) {
  let hash = 2166136261;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 16777619);
  return (hash ^ (hash >>> 15)) >>> 0;
}

const hatches = new Map();

/** A pattern of slanted lines: what was lost, or where a call has no end. */
export function hatch(context, name) {
  const known = hatches.get(name);
  if (known) return known;
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const pen = tile.getContext("2d");
  pen.strokeStyle = ofStyle[name];
  pen.lineWidth = 1.4;
  for (const shift of [-6, 0, 6]) {
    pen.beginPath();
    pen.moveTo(shift, 6);
    pen.lineTo(shift + 6, 0);
    pen.stroke();
  }
  const made = context.createPattern(tile, "repeat");
  hatches.set(name, made);
  return made;
}

/** Size a canvas for the screen's pixels; coordinates stay those of the style sheet. */
export function sized(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const context = canvas.getContext("2d");
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}
