/** What is shown, chosen and searched for. Parts of the page listen to it. */

const LEAST = 50; // nanoseconds from edge to edge

export class View extends EventTarget {
  constructor(span) {
    super();
    this.span = Math.max(span, 1);
    this.begin = 0;
    this.end = this.span;
    this.chosen = null; // a range [begin, end], or null
    this.call = null; // a block of the timeline
    this.functionId = null;
    this.matches = null; // a Set of functions, or null
    this.most = Infinity; // nanoseconds that are shown of what grows
    this.test = null; // tells whether a text is searched for, or null
  }

  /** Show a range; it is moved and shortened until it lies in the trace. */
  show(begin, end) {
    const wide = Math.min(Math.max(end - begin, LEAST), this.span);
    const from = Math.min(Math.max(begin, 0), this.span - wide);
    if (from === this.begin && from + wide === this.end) return;
    this.begin = from;
    this.end = from + wide;
    this.tell("range");
  }

  zoom(factor, at = (this.begin + this.end) / 2) {
    const wide = Math.min(Math.max((this.end - this.begin) * factor, LEAST), this.span);
    const part = (at - this.begin) / (this.end - this.begin);
    this.show(at - part * wide, at - part * wide + wide);
  }

  move(part) {
    const by = part * (this.end - this.begin);
    this.show(this.begin + by, this.end + by);
  }

  fit() {
    this.most = Infinity;
    this.show(0, this.span);
  }

  /** Show the end of what grows, no more than so many nanoseconds, and move on with it. */
  follow(most) {
    this.most = most;
    this.show(this.span - most, this.span);
  }

  /** Bring a call into the middle, with a bit of what is around it. */
  bring(begin, length) {
    const margin = Math.max(length * 0.3, LEAST);
    this.show(begin - margin, begin + length + margin);
  }

  choose(range) {
    this.chosen = range;
    this.tell("scope");
  }

  chooseCall(call) {
    this.call = call;
    if (call) this.functionId = call.functionId;
    this.tell("call");
  }

  chooseFunction(functionId) {
    this.functionId = functionId;
    this.call = null;
    this.tell("call");
  }

  search(matches, test = null) {
    this.matches = matches;
    this.test = test;
    this.tell("search");
  }

  /** The range that flame graph, functions and events are of. */
  get scope() {
    return this.chosen ?? [this.begin, this.end];
  }

  get isWhole() {
    const [begin, end] = this.scope;
    return begin <= 0 && end >= this.span;
  }

  grow(span) {
    const atEnd = this.end >= this.span;
    const wide = this.end - this.begin;
    const all = wide >= this.span;
    this.span = span;
    if (all && span <= this.most) this.show(0, span);
    else if (atEnd) this.show(span - Math.min(wide, this.most), span);
    else this.tell("range");
  }

  tell(what) {
    this.dispatchEvent(new Event(what));
  }
}
