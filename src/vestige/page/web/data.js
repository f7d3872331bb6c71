/** Where the page's data comes from: what the file holds, or a server that reads the trace. */

import { fromColumns, singleCalls, unpacked } from "vestige/blocks.js";

const SINGLE = -1; // the level of single calls, which only a server has
const TILE = 16384; // how many widths of a level a tile is long
const TILES = 200; // how many tiles are kept

export async function openData() {
  const embedded = document.getElementById("facts-of-trace");
  if (embedded) return new EmbeddedData(JSON.parse(embedded.textContent));
  return new ServedData(await asked("meta"));
}

class Data {
  constructor(meta) {
    this.meta = meta;
    this.span = meta.span;
    this.rows = meta.rows;
    this.functions = meta.functions;
    this.levels = meta.levels; // finest first: {width}
    this.onTile = () => {}; // called when there is more to draw
    this.onProblem = () => {};
  }

  /** The coarsest level whose blocks are still about as narrow as a pixel. */
  levelFor(nsPerPixel) {
    let found = 0;
    for (let level = 0; level < this.levels.length; level++) {
      if (this.levels[level].width <= nsPerPixel * 1.5) found = level;
    }
    return found;
  }
}

class EmbeddedData extends Data {
  constructor(meta) {
    super(meta);
    this.blocks = [];
    this.isServed = false;
  }

  /** Unpack the coarsest level, which is enough for the first picture; the others follow. */
  async load() {
    if (this.levels.length) await this.unpack(this.levels.length - 1);
  }

  async loadRest() {
    for (let level = this.levels.length - 2; level >= 0; level--) {
      await this.unpack(level);
      this.onTile();
    }
  }

  async unpack(level) {
    const element = document.getElementById(`level-${level}`);
    this.blocks[level] = unpacked(await inflated(element.textContent));
    element.remove();
  }

  at(nsPerPixel) {
    const wanted = this.levelFor(nsPerPixel);
    const level = this.blocks.findIndex((blocks, index) => blocks && index >= wanted);
    return { level, parts: level < 0 ? [] : [this.blocks[level]] };
  }

  /** The finest blocks there are, for sums over a range. */
  get finest() {
    return this.blocks.find((blocks) => blocks);
  }

  async events(begin, end, limit) {
    const all = this.meta.events ?? [];
    const found = all.filter(([time]) => time >= begin && time <= end);
    return { events: found.slice(0, limit), more: found.length > limit, hasMore: this.meta.hasMoreEvents };
  }

  async source(functionId) {
    return this.meta.sources?.[functionId] ?? null;
  }
}

class ServedData extends Data {
  constructor(meta) {
    super(meta);
    this.isServed = true;
    this.tiles = new Map();
  }

  async load() {
    await this.tile(this.levels.length - 1, 0);
  }

  levelFor(nsPerPixel) {
    const finest = this.levels[0]?.width ?? 0;
    return nsPerPixel * 1.5 < finest ? SINGLE : super.levelFor(nsPerPixel);
  }

  at(nsPerPixel, begin, end) {
    const level = this.levelFor(nsPerPixel);
    const parts = this.loaded(level, begin, end);
    if (parts) return { level, parts };
    for (let coarser = level + 1; coarser < this.levels.length; coarser++) {
      const there = this.loaded(coarser, begin, end, false);
      if (there) return { level: coarser, parts: there };
    }
    return { level, parts: [] };
  }

  /** The tiles of a range if all are there; those that are not are asked for. */
  loaded(level, begin, end, ask = true) {
    const long = this.tileLength(level);
    const last = Math.floor(Math.min(end, this.span) / long);
    const found = [];
    let isComplete = true;
    for (let index = Math.floor(Math.max(begin, 0) / long); index <= last; index++) {
      const tile = this.tiles.get(`${level}/${index}`);
      if (tile?.blocks) found.push(tile.blocks);
      else isComplete = false;
      if (!tile && ask) this.tile(level, index).then(() => this.onTile(), this.onProblem);
    }
    return isComplete ? found : null;
  }

  tileLength(level) {
    if (level === this.levels.length - 1) return Infinity;
    return level === SINGLE ? this.levels[0].width * 256 : this.levels[level].width * TILE;
  }

  async tile(level, index) {
    const key = `${level}/${index}`;
    const tile = {};
    this.tiles.set(key, tile);
    if (this.tiles.size > TILES) this.tiles.delete(this.tiles.keys().next().value);
    const long = this.tileLength(level);
    const begin = index ? index * long : 0;
    const end = Math.min(begin + long, this.span);
    if (level !== SINGLE) {
      tile.blocks = await this.columns(`blocks?level=${level}&`, begin, end);
      return;
    }
    const { width } = this.levels[0];
    const [read, finest] = await Promise.all([
      this.columns("window?", Math.max(begin - width, 0), end + width),
      this.columns("blocks?level=0&", begin, end),
    ]);
    tile.blocks = singleCalls(read, finest, begin, end < this.span ? end : Infinity, width);
  }

  async columns(what, begin, end) {
    const answer = await fetch(`api/${what}begin=${Math.floor(begin)}&end=${Math.ceil(end)}`);
    if (!answer.ok) throw new Error(`${what}: status ${answer.status}`);
    return fromColumns(await answer.arrayBuffer());
  }

  async loadRest() {} // it comes as it is needed

  async tree(begin, end) {
    return asked(`tree?begin=${Math.floor(begin)}&end=${Math.ceil(end)}`);
  }

  async events(begin, end, limit) {
    return asked(`events?begin=${Math.floor(begin)}&end=${Math.ceil(end)}&limit=${limit}`);
  }

  async source(functionId) {
    return asked(`source?function=${functionId}`);
  }

  /** Ask whether a recording has grown, or sums have been made; true if there is more now. */
  async refresh() {
    const meta = await asked("meta");
    this.meta.isGrowing = meta.isGrowing;
    if (meta.version === this.meta.version) return false;
    const isSame = meta.span === this.span && meta.rows.length === this.rows.length;
    Object.assign(this, { meta, span: meta.span, rows: meta.rows, functions: meta.functions, levels: meta.levels });
    if (isSame) return true; // sums of what is there already
    this.tiles.clear();
    await this.load();
    return true;
  }
}

/** Ask the server; what it cannot do is an error with what it says. */
async function asked(what) {
  const answer = await fetch(`api/${what}`);
  if (!answer.ok) throw new Error(`${what}: ${await answer.text()} (status ${answer.status})`);
  return answer.json();
}

async function inflated(base64) {
  const packed = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
