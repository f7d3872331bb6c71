/** The page: what is shown where, and what keys and the pointer do. */

import { ACROSS_LOSS, MERGED, OPEN_AT_BEGIN, OPEN_AT_END } from "vestige/blocks.js";
import { readStyle } from "vestige/colours.js";
import { openData } from "vestige/data.js";
import { Details } from "vestige/details.js";
import { Events } from "vestige/events.js";
import { Flame } from "vestige/flame.js";
import { GUTTER } from "vestige/layout.js";
import { Minimap } from "vestige/minimap.js";
import { threadName } from "vestige/names.js";
import { listenToPrinter } from "vestige/paper.js";
import { Search } from "vestige/search.js";
import { Table, note } from "vestige/table.js";
import { Timeline } from "vestige/timeline.js";
import { Tip } from "vestige/tip.js";
import { count, duration, since } from "vestige/times.js";
import { exactTree, functionsOf, rangeTree } from "vestige/tree.js";
import { View } from "vestige/view.js";

const CALM = 180; // milliseconds without a change, before sums of a range are made
const GROWING = 2000;
/** The same for who follows it, and how much is shown then, in nanoseconds. */
const FOLLOWING = 500;
const FOLLOWED = 10e9;
const NOTHING = { rows: [], leftOut: 0 };

const element = (name) => document.getElementById(name);

class Page {
  constructor(data) {
    this.data = data;
    this.view = new View(data.span);
    this.tip = new Tip();
    this.timeline = new Timeline(data, this.view, this.tip);
    this.minimap = new Minimap(data, this.view);
    this.flame = new Flame(data, this.view, this.tip);
    this.details = new Details(data, this.view, this.tip);
    this.events = new Events(data, this.view);
    this.search = new Search(data, this.view);
    this.functions = new Table(element("functions"), this.functionColumns(), {
      sort: 2, choose: (row) => this.view.chooseFunction(row.functionId), empty: "No calls in this range.",
    });
    this.whole = exactTree(data.meta.tree ?? NOTHING);
    this.sums = [];
    this.panel = data.rows.some((row) => row.kind === "calls") ? "flame" : "events";
  }

  functionColumns() {
    const known = (row) => this.data.functions[row.functionId];
    const quantile = (row, part) => {
      const quantiles = this.isExact ? this.data.meta.durations?.[row.functionId]?.quantiles : null;
      return quantiles?.find(([one]) => one === part)?.[1] ?? null;
    };
    const time = (name, title, value) => ({ name, title, value: (row) => value(row) ?? -1, text: (row) => (value(row) === null ? "" : duration(value(row))) });
    return [
      { name: "Function", isName: true, text: (row) => known(row).name, value: (row) => known(row).name },
      { name: "Calls", text: (row) => count(row.calls), value: (row) => row.calls },
      time("Time", "with what it called", (row) => row.duration),
      time("Itself", "without what it called", (row) => row.self),
      time("Mean", "of a call", (row) => (row.mean !== undefined ? row.mean : row.calls ? row.duration / row.calls : 0)),
      time("p50", "half of the calls are shorter; of the whole trace", (row) => quantile(row, 0.5)),
      time("p99", "99 of 100 calls are shorter; of the whole trace", (row) => quantile(row, 0.99)),
      time("Longest", "of the whole trace", (row) => quantile(row, 1)),
      { name: "Source", isName: true, text: (row) => known(row).source ?? known(row).object ?? "", value: (row) => known(row).source ?? "" },
    ];
  }

  start() {
    readStyle();
    element("title").textContent = this.data.meta.title;
    document.title = `${this.data.meta.title} - Vestige`;
    this.tellFacts();
    this.listen();
    this.showPanel(this.panel);
    this.draw();
    this.sum();
    this.details.draw();
  }

  tellFacts() {
    element("facts").textContent = this.data.meta.facts ?? "";
    element("trouble").textContent = this.data.meta.trouble ?? "";
  }

  listen() {
    const { view } = this;
    view.addEventListener("range", () => this.later());
    view.addEventListener("range", () => this.whenCalm());
    view.addEventListener("scope", () => {
      this.later();
      this.whenCalm();
    });
    view.addEventListener("search", () => {
      this.later();
      this.flame.draw();
      this.listFunctions();
      this.events.list();
    });
    view.addEventListener("call", () => {
      this.later();
      this.details.draw();
      this.listFunctions();
    });
    this.data.onTile = () => {
      this.minimap.isComplete = false;
      this.later();
    };
    this.data.onProblem = (problem) => this.tellProblem(problem);
    const again = () => {
      this.later();
      this.flame.draw();
    };
    new ResizeObserver(again).observe(element("timeline"));
    window.addEventListener("resize", again);
    element("timeline").addEventListener("scroll", () => this.later());
    for (const name of ["flame", "functions", "details", "events"]) {
      element(`tab-${name}`).addEventListener("click", () => this.showPanel(name));
    }
    element("fit").addEventListener("click", () => view.fit());
    element("help").addEventListener("click", () => element("keys").showModal());
    element("theme").addEventListener("click", () => this.setDark(!document.documentElement.classList.contains("dark")));
    const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
    prefersDark.addEventListener("change", (event) => this.setDark(event.matches));
    if (prefersDark.matches) this.setDark(true);
    this.listenToPointer();
    this.listenToDivider();
    listenToPrinter(this);
    window.addEventListener("keydown", (event) => this.key(event));
    const { isGrowing, isFollowed } = this.data.meta;
    if (isFollowed) view.follow(FOLLOWED);
    if (isGrowing) this.growing = setInterval(() => this.grow(), isFollowed ? FOLLOWING : GROWING);
  }

  setDark(isDark) {
    document.documentElement.classList.toggle("dark", isDark);
    readStyle();
    this.later();
    this.flame.draw();
    this.details.draw();
  }

  listenToPointer() {
    const canvas = element("picture");
    let drag = null;
    canvas.addEventListener("pointerdown", (event) => {
      element("timeline").focus({ preventScroll: true });
      canvas.setPointerCapture(event.pointerId);
      const { begin, end } = this.view;
      drag = { x: event.offsetX, y: event.clientY, top: element("timeline").scrollTop, begin, end, isChoice: event.shiftKey, moved: false };
    });
    canvas.addEventListener("pointermove", (event) => {
      if (drag) this.drag(drag, event);
      else this.point(event);
    });
    canvas.addEventListener("pointerup", (event) => {
      if (drag && !drag.moved) this.click(event);
      drag = null;
      canvas.classList.remove("moving");
    });
    canvas.addEventListener("pointerleave", () => this.tip.hide());
    canvas.addEventListener("dblclick", () => this.view.fit());
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  drag(drag, event) {
    const by = event.offsetX - drag.x;
    if (!drag.moved && Math.abs(by) + Math.abs(event.clientY - drag.y) < 4) return;
    drag.moved = true;
    this.tip.hide();
    if (drag.isChoice) {
      const times = [this.timeline.timeOf(drag.x), this.timeline.timeOf(event.offsetX)].sort((one, other) => one - other);
      this.view.choose([Math.max(0, times[0]), Math.min(this.data.span, times[1])]);
      return;
    }
    element("picture").classList.add("moving");
    const shift = (-by / this.timeline.width) * (drag.end - drag.begin);
    element("timeline").scrollTop = drag.top - (event.clientY - drag.y);
    this.view.show(drag.begin + shift, drag.end + shift);
  }

  point(event) {
    const call = this.timeline.hit(event.offsetX, event.offsetY);
    const wait = this.timeline.waitAt(event.offsetX, event.offsetY);
    const loss = call ? undefined : this.timeline.lossAt(event.offsetX, event.offsetY);
    if (wait) this.tip.show(event, this.timeline.waits.describe(wait));
    else if (call) this.tip.show(event, this.describe(call));
    else if (loss) this.tip.show(event, describeLoss(loss));
    else this.tip.hide();
  }

  click(event) {
    const found = this.timeline.layout.at(event.offsetY - 24 + element("timeline").scrollTop);
    if (found?.place.kind === "process") {
      this.timeline.layout.toggle(found.place.process);
      this.later();
      return;
    }
    if (found?.place.hidden && event.offsetX < GUTTER) {
      this.timeline.layout.opened.add(found.place.index);
      this.timeline.layout.arrange();
      this.later();
      return;
    }
    const wait = this.timeline.waitAt(event.offsetX, event.offsetY);
    if (wait) {
      this.view.choose([wait.begin, wait.begin + wait.length]);
      this.showPanel("events");
      return;
    }
    const call = this.timeline.hit(event.offsetX, event.offsetY);
    if (!call) {
      this.view.choose(null);
      return;
    }
    if (this.data.rows[call.row].kind === "events") {
      this.view.choose([call.start, call.start + call.length]);
      this.showPanel("events");
      return;
    }
    this.view.chooseCall(call);
    this.showPanel("details");
  }

  wheel(event) {
    event.preventDefault();
    if (event.shiftKey || event.offsetX < GUTTER) {
      element("timeline").scrollTop += event.deltaY || event.deltaX;
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      this.view.move(event.deltaX / this.timeline.width);
    } else {
      this.view.zoom(Math.exp(event.deltaY * 0.002), this.timeline.timeOf(event.offsetX));
    }
  }

  describe(call) {
    const row = this.data.rows[call.row];
    if (row.kind === "events") {
      if (call.count === 1) return ["1 event", since(call.start)];
      return [`${count(call.count)} events in ${duration(call.length)}`, since(call.start)];
    }
    const known = this.data.functions[call.functionId];
    const isMerged = (call.flags & MERGED) !== 0;
    const lines = [isMerged ? `${known.name} and others: ${count(call.count)} calls` : known.name];
    lines.push(isMerged ? `busy ${duration(call.busy)} of ${duration(call.length)}` : duration(call.length));
    if (call.flags & OPEN_AT_BEGIN) lines.push("its entry was not recorded");
    if (call.flags & OPEN_AT_END) lines.push("its exit was not recorded: it took at least this long");
    if (call.flags & ACROSS_LOSS) lines.push("events were lost in it: it may be two calls");
    lines.push(...this.timeline.turns.describe(call.row, call.start, call.length));
    lines.push(`${since(call.start)}, ${threadName(this.data, call.row)}`);
    if (known.source ?? known.object) lines.push(known.source ?? known.object);
    return lines;
  }

  listenToDivider() {
    const divider = element("divider");
    const set = (y) => {
      const top = element("timeline").getBoundingClientRect().top;
      const all = window.innerHeight - top;
      const part = Math.min(Math.max((y - top) / all, 0.1), 0.9);
      element("timeline").style.flex = `1 1 ${part * 100}%`;
      element("below").style.flex = `1 1 ${(1 - part) * 100}%`;
      this.later();
    };
    divider.addEventListener("pointerdown", (event) => divider.setPointerCapture(event.pointerId));
    divider.addEventListener("pointermove", (event) => {
      if (divider.hasPointerCapture(event.pointerId)) set(event.clientY);
    });
    divider.addEventListener("keydown", (event) => {
      const by = { ArrowUp: -30, ArrowDown: 30 }[event.key];
      if (by) set(divider.getBoundingClientRect().top + by);
    });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input")) {
      if (event.key === "Escape") event.target.blur();
      if (event.key === "Enter") this.search.step(event.shiftKey ? -1 : 1);
      return;
    }
    const { view } = this;
    const actions = {
      w: () => view.zoom(0.7), s: () => view.zoom(1 / 0.7), a: () => view.move(-0.25), d: () => view.move(0.25),
      ArrowLeft: () => view.move(-0.1), ArrowRight: () => view.move(0.1),
      f: () => view.fit(), z: () => view.chosen && view.show(...view.chosen),
      Escape: () => view.choose(null), "/": () => element("search").focus(), "?": () => element("keys").showModal(),
      n: () => this.search.step(1), N: () => this.search.step(-1),
    };
    const action = actions[event.key];
    if (!action || (event.key.startsWith("Arrow") && event.target.closest("[role=tabpanel], #divider"))) return;
    event.preventDefault();
    action();
  }

  showPanel(name) {
    this.panel = name;
    for (const one of ["flame", "functions", "details", "events"]) {
      element(one).hidden = one !== name;
      element(`tab-${one}`).setAttribute("aria-selected", String(one === name));
    }
    this.flame.draw();
    if (name === "events") this.events.draw(this.view.scope);
  }

  /** Draw in the next frame, once. */
  later() {
    this.frame ??= requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.frame = null;
    this.timeline.draw();
    this.minimap.draw();
    const { begin, end } = this.view;
    element("range").textContent = `${since(begin, (end - begin) / 100)} · ${duration(end - begin)} shown`;
  }

  whenCalm() {
    clearTimeout(this.calm);
    this.calm = setTimeout(() => this.sum(), CALM);
  }

  /**
   * Make flame graph, functions and events of the range that is chosen or shown. Of a server one
   * range is asked for at a time: when it has come, what is wanted by then.
   */
  async sum() {
    this.isWanted = true;
    if (this.isSumming) return;
    this.isSumming = true;
    try {
      while (this.isWanted) {
        this.isWanted = false;
        await this.sumOnce();
      }
    } catch (problem) {
      this.tellProblem(problem);
    } finally {
      this.isSumming = false;
    }
  }

  async sumOnce() {
    const [begin, end] = this.view.scope;
    const isWhole = this.view.isWhole;
    const scope = `${isWhole ? "whole trace" : this.view.chosen ? "chosen range" : "what is shown"}: ${duration(end - begin)}`;
    const isRead = !this.data.isServed || (isWhole && this.data.meta.tree);
    if (!isRead) element("scope").textContent = `${scope}; it is being read …`;
    if (this.panel === "events") this.events.draw([begin, end]);
    if (isWhole && !this.data.meta.tree) return;
    const root = isWhole ? this.whole : this.data.isServed ? exactTree(await this.data.tree(begin, end)) : rangeTree(this.data, begin, end);
    if (this.isWanted) return; // another range, by now
    this.isExact = isWhole;
    const merged = root.isApproximate ? "; calls shorter than " + duration(this.data.levels[0].width) + " in sums with others" : "";
    const left = root.leftOut ? `; ${isWhole ? "flame graph " : ""}without the ${count(root.leftOut)} paths with least time` : "";
    element("scope").textContent = scope + merged + left;
    this.flame.show(root);
    this.sums = isWhole && this.data.meta.sums ? this.wholeSums() : functionsOf(root);
    this.listFunctions();
  }

  wholeSums() {
    return Object.entries(this.data.meta.sums).map(([id, sums]) => ({ functionId: Number(id), ...sums }));
  }

  listFunctions() {
    const { matches, functionId } = this.view;
    const rows = matches ? this.sums.filter((row) => matches.has(row.functionId)) : this.sums;
    this.functions.show(rows, (row) => row.functionId === functionId);
  }

  async grow() {
    try {
      const isNew = await this.data.refresh();
      if (!this.data.meta.isGrowing) clearInterval(this.growing);
      if (!isNew) return;
    } catch (problem) {
      this.tellProblem(problem);
      return;
    }
    this.whole = exactTree(this.data.meta.tree ?? NOTHING);
    this.tellFacts();
    this.timeline.changed();
    this.view.grow(this.data.span);
    this.whenCalm();
    this.later();
  }

  tellProblem(problem) {
    element("scope").textContent = `This cannot be read: ${problem.message}`;
    element("scope").className = "warn";
  }
}

function describeLoss(loss) {
  const many = loss.count === null ? "an unknown number of" : count(loss.count);
  const what = loss.count === 1 ? loss.kind.replace(/s$/, "") : loss.kind;
  return [`${many} ${what} lost`, `within ${duration(loss.end - loss.begin)} from ${since(loss.begin)} on`];
}

function nextFrame() {
  return new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
}

async function begin() {
  try {
    const data = await openData();
    await data.load();
    const page = new Page(data);
    page.start();
    window.vestige = page; // for those who look from a console
    await nextFrame();
    document.body.dataset.ready = String(Math.round(performance.now())); // milliseconds since it was opened
    await data.loadRest();
    document.body.dataset.complete = "";
    page.whenCalm();
  } catch (problem) {
    element("below").replaceChildren(note(`The page cannot be shown: ${problem.message}`, "note warn"));
    throw problem;
  }
}

begin();
