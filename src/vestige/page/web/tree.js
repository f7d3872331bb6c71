/**
 * Calls by path. The whole trace's tree is exact and comes with the data; that of a range is
 * made of blocks where no server can make it. Trees may be deep: nothing here recurs.
 */

import { MERGED } from "vestige/blocks.js";

export class Node {
  constructor(functionId) {
    this.functionId = functionId;
    this.calls = 0;
    this.complete = 0;
    this.duration = 0;
    this.self = 0;
    this.callees = new Map();
  }

  callee(functionId) {
    let found = this.callees.get(functionId);
    if (!found) this.callees.set(functionId, (found = new Node(functionId)));
    return found;
  }

  /** Its callees, those with most time first. */
  byTime() {
    return [...this.callees.values()].sort((one, other) => other.duration - one.duration);
  }
}

/** @param told rows [caller or -1, function, calls, complete, duration, self], callers first */
export function exactTree(told) {
  const root = new Node(null);
  const nodes = [];
  for (const [caller, functionId, calls, complete, duration, self] of told.rows) {
    const node = new Node(functionId);
    Object.assign(node, { calls, complete, duration, self });
    (caller < 0 ? root : nodes[caller]).callees.set(functionId, node);
    if (caller < 0) root.duration += duration;
    nodes.push(node);
  }
  root.leftOut = told.leftOut;
  return root;
}

/**
 * The tree of a range, of all rows. Calls are cut at the edges of the range; blocks of many
 * short calls count as calls of the function that has most of their time.
 */
export function rangeTree(data, begin, end) {
  const blocks = data.finest;
  const root = new Node(null);
  root.isApproximate = false;
  data.rows.forEach((row, index) => {
    if (row.kind !== "calls") return;
    let above = [];
    for (let depth = 0; depth < row.depths; depth++) {
      const [first, last] = blocks.within(index, depth, begin, end);
      if (first === last) break;
      above = addLane(root, blocks, first, last, above, [begin, end], depth);
    }
  });
  for (const node of root.callees.values()) root.duration += node.duration;
  return root;
}

/** Add the blocks of a lane below those of the lane above; return where they went. */
function addLane(root, blocks, first, last, above, [begin, end], depth) {
  const here = [];
  let parent = 0;
  for (let at = first; at < last; at++) {
    const start = blocks.start[at];
    const from = Math.max(start, begin);
    const to = Math.min(start + blocks.length[at], end);
    const isMerged = (blocks.flags[at] & MERGED) !== 0;
    while (parent + 1 < above.length && above[parent + 1].start <= start) parent++;
    if (depth && !above.length) break;
    const caller = depth ? above[parent].node : root;
    const node = caller.callee(blocks.functionId[at]);
    const part = blocks.length[at] ? Math.max(0, to - from) / blocks.length[at] : 1;
    const time = blocks.busy[at] * part;
    node.calls += blocks.count[at];
    node.complete += blocks.count[at];
    node.duration += time;
    node.self += time;
    if (depth) caller.self = Math.max(0, caller.self - time);
    if (isMerged) root.isApproximate = true;
    here.push({ start, node });
  }
  return here;
}

/** Each function once, with all of its calls; a recursion's time counts once. */
export function functionsOf(root) {
  const rows = new Map();
  const open = new Map(); // how many nodes around are of the function
  const waiting = [[root, false]];
  while (waiting.length) {
    const [node, isDone] = waiting.pop();
    const id = node.functionId;
    if (isDone) {
      open.set(id, open.get(id) - 1);
      continue;
    }
    if (id !== null) {
      const row = rows.get(id) ?? { functionId: id, calls: 0, complete: 0, duration: 0, self: 0 };
      rows.set(id, row);
      row.calls += node.calls;
      row.complete += node.complete;
      row.self += node.self;
      if (!open.get(id)) row.duration += node.duration;
      open.set(id, (open.get(id) ?? 0) + 1);
      waiting.push([node, true]);
    }
    for (const callee of node.callees.values()) waiting.push([callee, false]);
  }
  return [...rows.values()];
}
