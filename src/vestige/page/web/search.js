/** Searching for functions and events by a part of what they say, or by /a pattern/. */

import { count } from "vestige/times.js";

export class Search {
  constructor(data, view) {
    Object.assign(this, { data, view, places: [], at: -1 });
    this.input = document.getElementById("search");
    this.found = document.getElementById("found");
    this.input.addEventListener("input", () => this.look());
    document.getElementById("later").addEventListener("click", () => this.step(1));
    document.getElementById("earlier").addEventListener("click", () => this.step(-1));
  }

  look() {
    const text = this.input.value.trim();
    const test = text ? tester(text) : null;
    this.at = -1;
    if (!test) {
      this.found.textContent = text ? "not a pattern" : "";
      this.view.search(null);
      this.places = [];
      return;
    }
    const matches = new Set();
    this.data.functions.forEach((known, id) => {
      if (test(known.name)) matches.add(id);
    });
    this.places = this.longest(matches);
    this.found.textContent = matches.size ? `${count(matches.size)} function${matches.size > 1 ? "s" : ""}` : "no function";
    this.view.search(matches, test);
  }

  /** Their longest calls, by time: what the buttons go through. */
  longest(matches) {
    const places = [];
    for (const id of matches) {
      for (const [row, start, length] of this.data.meta.durations?.[id]?.longest ?? []) places.push({ row, start, length, functionId: id });
    }
    return places.sort((one, other) => one.start - other.start);
  }

  step(by) {
    if (!this.places.length) return;
    const first = by > 0 ? 0 : this.places.length - 1;
    this.at = this.at < 0 ? first : (this.at + by + this.places.length) % this.places.length;
    const place = this.places[this.at];
    this.found.textContent = `${this.at + 1} of ${this.places.length} longest calls`;
    this.view.chooseFunction(place.functionId);
    this.view.bring(place.start, place.length);
  }
}

function tester(text) {
  const pattern = /^\/(.+)\/$/.exec(text);
  if (!pattern) {
    const wanted = text.toLowerCase();
    return (name) => name.toLowerCase().includes(wanted);
  }
  try {
    const expression = new RegExp(pattern[1], "i");
    return (name) => expression.test(name);
  } catch {
    return null;
  }
}
