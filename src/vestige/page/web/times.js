/** Times and durations as people read them, all in nanoseconds. */

const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

/** "4.603 ms": four digits, in the unit that fits. */
export function duration(ns) {
  const size = Math.abs(ns);
  for (const [factor, unit] of UNITS) {
    if (size >= factor) return `${digits(ns / factor)} ${unit}`;
  }
  return ns ? `${digits(ns)} ns` : "0 ns";
}

function digits(value) {
  const text = value.toPrecision(4);
  const plain = text.includes("e") ? String(Math.round(value)) : text;
  return plain.includes(".") ? plain.replace(/\.?0+$/, "") : plain;
}

/**
 * A time since the begin of the trace: "+34.427629 ms".
 *
 * @param step how exact it is to be, in nanoseconds
 * @param like a time whose unit it has, so that times side by side have the same
 */
export function since(ns, step = 1, like = ns) {
  const [factor, unit] = UNITS.find(([one]) => Math.abs(like) >= one) ?? UNITS.at(-1);
  const places = Math.max(0, Math.ceil(Math.log10(factor / Math.max(step, 1)) - 1e-9));
  return `+${(ns / factor).toFixed(places)} ${unit}`;
}

/** Steps of a ruler: 1, 2 or 5 times a power of ten, about as many as asked for. */
export function step(span, count) {
  const rough = Math.max(1, span / count);
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
}

/** The time of day, from nanoseconds since the epoch as text (more than a number holds). */
export function clock(epoch, ns) {
  const time = BigInt(epoch) + BigInt(Math.round(ns));
  const date = new Date(Number(time / 1000000n));
  const rest = String(time % 1000000000n).padStart(9, "0");
  const two = (number) => String(number).padStart(2, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${rest}`;
}

export function count(number) {
  return number.toLocaleString("en-US");
}
