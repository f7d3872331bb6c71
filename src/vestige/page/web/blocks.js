/**
 * Blocks: calls, or many short ones together, in columns.
 *
 * They come in two forms: packed (in a file: groups of one thread and depth, whose times are
 * differences) and as columns (from a server). grouped.rs and columns.rs of vestige-ctf write them.
 */

export const OPEN_AT_BEGIN = 1;
export const OPEN_AT_END = 2;
export const MERGED = 4;
export const ACROSS_LOSS = 8;

const DEPTHS = 65536;

export class Blocks {
  constructor(size) {
    this.size = size;
    this.start = new Float64Array(size);
    this.length = new Float64Array(size);
    this.functionId = new Uint32Array(size);
    this.count = new Uint32Array(size);
    this.busy = new Float64Array(size);
    this.flags = new Uint8Array(size);
    this.groups = new Map(); // row and depth -> [first, end)
  }

  /** The places [first, end) of the blocks of a row at a depth that touch a range. */
  within(row, depth, begin, end) {
    const group = this.groups.get(row * DEPTHS + depth);
    if (!group) return [0, 0];
    return [
      lowest(group[0], group[1], (at) => this.start[at] + this.length[at] >= begin),
      lowest(group[0], group[1], (at) => this.start[at] > end),
    ];
  }

  get(at, row, depth) {
    return {
      row, depth, start: this.start[at], length: this.length[at], functionId: this.functionId[at],
      count: this.count[at], busy: this.busy[at], flags: this.flags[at],
    };
  }
}

/** The lowest place of a sorted range where a test holds. */
export function lowest(low, high, test) {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (test(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

export function unpacked(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const groups = view.getUint32(0, true);
  const sizes = [];
  let size = 0;
  for (let at = 4; at < 4 + groups * 12; at += 12) {
    const one = [view.getUint32(at, true), view.getUint32(at + 4, true), view.getUint32(at + 8, true)];
    sizes.push(one);
    size += one[2];
  }
  const blocks = new Blocks(size);
  const place = { bytes, at: 4 + groups * 12 };
  column(place, blocks.start);
  column(place, blocks.length);
  column(place, blocks.functionId);
  column(place, blocks.count);
  column(place, blocks.busy);
  column(place, blocks.flags);
  let first = 0;
  for (const [row, depth, many] of sizes) {
    let end = 0;
    for (let at = first; at < first + many; at++) {
      blocks.start[at] += end; // was: since the end of the block before
      blocks.busy[at] = blocks.length[at] - blocks.busy[at]; // was: the time between its calls
      end = blocks.start[at] + blocks.length[at];
    }
    blocks.groups.set(row * DEPTHS + depth, [first, first + many]);
    first += many;
  }
  return blocks;
}

/** Read LEB128 numbers; they may be larger than 2^32. */
function column(place, into) {
  const { bytes } = place;
  let at = place.at;
  for (let index = 0; index < into.length; index++) {
    let byte = bytes[at++];
    let value = byte & 127;
    let factor = 128;
    while (byte > 127) {
      byte = bytes[at++];
      value += (byte & 127) * factor;
      factor *= 128;
    }
    into[index] = value;
  }
  place.at = at;
}

const COLUMNS = [
  ["row", 4, "getUint32"], ["depth", 2, "getUint16"], ["flags", 1, "getUint8"], ["functionId", 4, "getUint32"],
  ["start", 8, "getBigUint64"], ["length", 8, "getBigUint64"], ["count", 4, "getUint32"], ["busy", 8, "getBigUint64"],
];
const RECORD = COLUMNS.reduce((sum, [, width]) => sum + width, 0);

/** Read columns one after the other, whose blocks are in order of row, depth and start. */
export function fromColumns(buffer) {
  const size = buffer.byteLength / RECORD;
  const blocks = new Blocks(size);
  const view = new DataView(buffer);
  const rows = new Uint32Array(size);
  const depths = new Uint16Array(size);
  let from = 0;
  for (const [name, width, get] of COLUMNS) {
    const into = name === "row" ? rows : name === "depth" ? depths : blocks[name];
    for (let at = 0; at < size; at++) into[at] = Number(view[get](from + at * width, true));
    from += size * width;
  }
  for (let first = 0; first < size;) {
    const key = rows[first] * DEPTHS + depths[first];
    let end = first + 1;
    while (end < size && rows[end] * DEPTHS + depths[end] === key) end++;
    blocks.groups.set(key, [first, end]);
    first = end;
  }
  return blocks;
}

const OTHERS = 16; // of event records that are no calls

/**
 * The single calls of a tile. What is read from the trace is cut where the reading begins and
 * ends, so long calls are those of the finest level, which has them whole; the reading goes on
 * for a width beyond the tile, so that no short call is cut.
 *
 * @param read the calls of the tile and of a width before and behind it
 * @param finest the blocks of the finest level that touch the tile
 */
export function singleCalls(read, finest, begin, end, width) {
  const chosen = new Map();
  const take = (blocks, isWanted) => {
    for (const [key, [first, last]] of blocks.groups) {
      for (let at = first; at < last; at++) {
        if (!isWanted(at)) continue;
        if (!chosen.has(key)) chosen.set(key, []);
        chosen.get(key).push([blocks, at]);
      }
    }
  };
  take(read, (at) => read.length[at] < width && read.start[at] >= begin && read.start[at] < end);
  take(finest, (at) => (finest.flags[at] & OTHERS) !== 0 || ((finest.flags[at] & MERGED) === 0 && finest.length[at] >= width));
  const size = [...chosen.values()].reduce((sum, places) => sum + places.length, 0);
  const found = new Blocks(size);
  let first = 0;
  for (const [key, places] of chosen) {
    places.sort(([one, here], [other, there]) => one.start[here] - other.start[there]);
    places.forEach(([blocks, at], index) => {
      for (const name of ["start", "length", "functionId", "count", "busy", "flags"]) found[name][first + index] = blocks[name][at];
    });
    found.groups.set(key, [first, first + places.length]);
    first += places.length;
  }
  return found;
}
