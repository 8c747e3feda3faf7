// SPDX-License-Identifier: Apache-2.0
//
// An execution as lanes: a column per thread, a row per event, arrows for what happens before what and for where
// values come from. Only the rows in sight exist, so ten thousand cost no more than forty.

import { baseName, h, plural, shown, svg } from "./dom.js";
import { placeLink, snippet } from "./source.js";

/** @typedef {import("./model.js").Lanes} Lanes */
/** @typedef {import("./model.js").Data} Data */
/** @typedef {{from: number, to: number, kind: string}} Arrow */

const ROW = 28;
const HEAD = 36;
const OVERSCAN = 10;
const MOST_PRINTED = 400;
const HOW = ["", "stale", "future"];

/** What an event does, for people. @type {Record<string, string>} */
const VERBS = {
  read: "reads", write: "writes", "atomic read": "reads atomically", "atomic write": "writes atomically",
  "atomic update": "updates atomically", lock: "locks", unlock: "unlocks", create: "creates a thread", join: "joins a thread",
  start: "starts", end: "ends", wait: "waits for", signal: "signals", broadcast: "wakes all at", post: "posts", acquire: "acquires",
  yield: "yields",
};

export class LanesView {
  /**
   * @param {Lanes} lanes
   * @param {Data} data
   */
  constructor(lanes, data) {
    this.lanes = lanes;
    this.data = data;
    this.selected = 0;
    this.accessesOnly = false;
    this.hidden = new Set(["value"]);
    this.printing = false;
    this.gutter = 60;
    this.column = 210;
    /** @type {number[]} events by row */
    this.rows = [];
    /** @type {Map<number, number>} row by event */
    this.rowOf = new Map();
    this.mainFile = this.commonFile();
    this.arrows = this.findArrows();
    this.drawn = "";

    this.head = h("div", { class: "lanes-head", "aria-hidden": "true" });
    this.rails = h("div", { class: "rails", "aria-hidden": "true" });
    this.highlight = h("div", { class: "highlight", "aria-hidden": "true" });
    this.overlay = svg("svg", { class: "arrows", "aria-hidden": "true" });
    this.body = h("div", { class: "rows" });
    this.canvas = h("div", { class: "lanes-body" }, this.rails, this.highlight, this.overlay, this.body);
    this.scroller = h("div", {
      class: "lanes", tabindex: "0", role: "listbox", "aria-label": "Interleaving: one row per step, one column per thread",
      scroll: () => this.draw(), keydown: (/** @type {KeyboardEvent} */ event) => this.onKey(event),
    }, this.head, this.canvas);
    this.position = h("span", { class: "position" });
    this.explanation = h("div", { class: "explain", role: "status", "aria-live": "polite" });
    this.element = h("div", { class: "interleaving" }, this.toolbar(), this.scroller, this.explanation);
    new ResizeObserver(() => this.layout()).observe(this.scroller);
    this.applyFilter();
    this.select(this.firstTelling(), false);
  }

  /** @param {number} i */
  operation(i) { return this.lanes.words[this.lanes.operation[i]] ?? ""; }
  /** @param {number} i */
  object(i) { return this.lanes.words[this.lanes.object[i]] ?? ""; }
  /** @param {number} i */
  value(i) { return this.lanes.words[this.lanes.value[i]] ?? ""; }

  /** @returns {Arrow[]} those between threads, and of replaced values all */
  findArrows() {
    const { count, thread, from, after, how } = this.lanes;
    /** @type {Arrow[]} */
    const arrows = [];
    for (let i = 0; i < count; ++i) {
      if (after[i]) arrows.push({ from: i - after[i], to: i, kind: "order" });
      const missed = how[i] === 1 ? this.missedStore(i) : -1;
      if (missed >= 0) arrows.push({ from: missed, to: i, kind: "missed" });
      if (!from[i]) continue;
      const source = i - from[i];
      if (how[i]) arrows.push({ from: source, to: i, kind: HOW[how[i]] });
      else if (thread[source] !== thread[i]) arrows.push({ from: source, to: i, kind: "value" });
    }
    return arrows;
  }

  /** The file that most events are in: it needs no name in every row. */
  commonFile() {
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (const place of this.lanes.place) {
      const file = this.lanes.places[place]?.[0];
      if (file) counts.set(file, (counts.get(file) ?? 0) + 1);
    }
    return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? "";
  }

  /** The store that a stale load did not see. @param {number} i */
  missedStore(i) {
    const { object, value, newest } = this.lanes;
    for (let k = i - 1; k >= 0; --k) {
      if (object[k] === object[i] && value[k] === newest[i] && /write|update/.test(this.operation(k))) return k;
    }
    return -1;
  }

  /** Where to begin reading: at the first replaced value, else at the failure. */
  firstTelling() {
    const replaced = this.lanes.how.findIndex((how) => how !== 0);
    return replaced >= 0 ? replaced : Math.max(0, this.lanes.count - 1);
  }

  toolbar() {
    /** @param {string} text @param {string} label @param {() => void} action @param {string} [name] */
    const button = (text, label, action, name = "") =>
      h("button", { type: "button", class: name, title: label, "aria-label": label, click: action }, text);
    /** @param {string} kind @param {string} text @param {boolean} on */
    const toggle = (kind, text, on) => {
      const box = h("input", { type: "checkbox", checked: on, change: () => {
        for (const one of kind === "stale" ? ["stale", "missed"] : [kind]) {
          if (box.checked) this.hidden.delete(one); else this.hidden.add(one);
        }
        this.redraw();
      } });
      return h("label", { class: `toggle ${kind}` }, box, h("span", { class: "swatch" }), text);
    };
    const telling = this.lanes.how.some((how) => how !== 0);
    const filter = h("input", { type: "checkbox", change: () => {
      this.accessesOnly = filter.checked;
      this.applyFilter();
      this.select(this.selected, true);
    } });
    return h("div", { class: "toolbar" },
      h("div", { class: "steps" },
        button("|◀", "First step", () => this.move(-this.rows.length)), button("◀", "Step back", () => this.move(-1), "back"),
        this.position,
        button("▶", "Step forward", () => this.move(1), "forward"), button("▶|", "Last step", () => this.move(this.rows.length)),
        telling && button("Next replaced value", "Next stale or future value (r)", () => this.nextReplaced(), "wide")),
      h("div", { class: "legend" },
        toggle("order", "happens before", true),
        this.lanes.how.includes(1) && toggle("stale", "stale value", true),
        this.lanes.how.includes(2) && toggle("future", "future value", true),
        toggle("value", "value comes from", false),
        h("label", { class: "toggle" }, filter, "accesses only")));
  }

  applyFilter() {
    this.rows = [];
    this.rowOf.clear();
    for (let i = 0; i < this.lanes.count; ++i) {
      const access = this.lanes.value[i] !== 0 || this.operation(i) === "failure" || /read|write|update/.test(this.operation(i));
      if (this.accessesOnly && !access) continue;
      this.rowOf.set(i, this.rows.length);
      this.rows.push(i);
    }
    this.canvas.style.height = `${this.rows.length * ROW}px`;
    this.scroller.style.height = `${Math.min(this.rows.length * ROW + HEAD + 18, Math.max(320, window.innerHeight * 0.62))}px`;
    this.layout();
  }

  /** Columns as wide as there is room, or else one scrolls. */
  layout() {
    const width = this.scroller.clientWidth || 800;
    const narrow = width < 560;
    const threads = Math.max(1, this.lanes.threads.length);
    this.gutter = narrow ? 40 : 60;
    this.column = Math.max(narrow ? 184 : 210, Math.floor((width - this.gutter) / threads));
    const total = this.gutter + this.column * threads;
    this.head.style.width = this.canvas.style.width = `${total}px`;
    this.head.replaceChildren(...this.lanes.threads.map((thread, t) => {
      const cell = h("span", { class: `lane-name tone${t % 6}` }, h("b", {}, `T${thread.id}`), thread.name ? " " + shown(thread.name, 60) : "");
      cell.style.left = `${this.railAt(t) - 6}px`;
      cell.style.width = `${this.column - 12}px`;
      return cell;
    }));
    this.rails.replaceChildren(...this.lanes.threads.map((_, t) => {
      const rail = h("span", { class: `rail tone${t % 6}` });
      rail.style.left = `${this.railAt(t)}px`;
      return rail;
    }));
    this.redraw();
  }

  /** @param {number} t */
  railAt(t) { return this.gutter + t * this.column + 10; }

  redraw() {
    this.drawn = "";
    this.draw();
  }

  draw() {
    const top = this.scroller.scrollTop - HEAD;
    let first = Math.max(0, Math.floor(top / ROW) - OVERSCAN);
    let last = Math.min(this.rows.length, Math.ceil((top + (this.scroller.clientHeight || 600)) / ROW) + OVERSCAN);
    if (this.printing) [first, last] = [0, Math.min(this.rows.length, MOST_PRINTED)];
    const key = `${first} ${last} ${this.selected}`;
    if (key === this.drawn) return;
    this.drawn = key;
    const shownRows = document.createDocumentFragment();
    for (let row = first; row < last; ++row) shownRows.append(this.rowAt(row));
    this.body.replaceChildren(shownRows);
    this.highlight.style.top = `${(this.rowOf.get(this.selected) ?? 0) * ROW}px`;
    this.drawArrows(first, last);
  }

  /** @param {number} row */
  rowAt(row) {
    const i = this.rows[row], t = this.lanes.thread[i], chosen = i === this.selected;
    const element = h("div", {
      class: `row${chosen ? " selected" : ""}`, id: `event-${i}`, role: "option", "aria-selected": String(chosen),
      "aria-setsize": String(this.rows.length), "aria-posinset": String(row + 1), click: () => this.select(i, true),
    }, h("span", { class: "no" }, String(this.lanes.skipped + i + 1)), this.cell(i, t));
    element.style.top = `${row * ROW}px`;
    return element;
  }

  /** @param {number} i @param {number} t */
  cell(i, t) {
    const operation = this.operation(i), how = this.lanes.how[i];
    const [file, line] = this.lanes.places[this.lanes.place[i]] ?? ["", 0];
    const place = line ? `${file === this.mainFile ? "" : baseName(file)}:${line}` : "";
    const failed = operation === "failure";
    const cell = h("span", { class: `cell ${failed ? "failed" : ""} ${HOW[how]} ${t < 0 ? "all" : `tone${t % 6}`}` });
    if (t >= 0) {
      cell.style.left = `${this.railAt(t) - 5}px`;
      cell.style.width = `${this.column - 8}px`;
      cell.append(h("span", { class: "dot" }));
    } else {
      cell.style.left = `${this.gutter}px`;
    }
    const label = h("span", { class: "label" }, place && h("span", { class: "place" }, shown(place, 60)));
    cell.append(label);
    const object = this.object(i), value = this.value(i);
    if (failed) {
      label.append(h("span", { class: "what" }, shown(object, 200)));
    } else if (/^(atomic )?(read|write)$/.test(operation)) {
      const reads = operation.endsWith("read");
      label.append(h("span", { class: "what" }, shown(object, 120)),
        h("span", { class: "value" }, value ? (reads ? "→ " : "= ") + shown(value, 60) : reads ? "read" : "written"));
    } else {
      label.append(h("span", { class: "what sync" }, `${operation}${object ? " " + shown(object, 120) : ""}`));
      if (value) label.append(h("span", { class: "value" }, "= " + shown(value, 60)));
    }
    if (how) label.append(h("span", { class: "tag" }, HOW[how]));
    return cell;
  }

  /** @param {number} first @param {number} last rows in sight */
  drawArrows(first, last) {
    this.overlay.replaceChildren();
    const width = this.gutter + this.column * this.lanes.threads.length;
    this.overlay.setAttribute("width", String(width));
    this.overlay.setAttribute("height", String((last - first) * ROW));
    this.overlay.style.top = `${first * ROW}px`;
    for (const arrow of this.arrows) {
      const own = arrow.from === this.selected || arrow.to === this.selected;
      if (this.hidden.has(arrow.kind) && !own) continue;
      const a = this.rowOf.get(arrow.from), b = this.rowOf.get(arrow.to);
      if (a === undefined || b === undefined || Math.max(a, b) < first || Math.min(a, b) >= last) continue;
      this.overlay.append(this.arrowPath(arrow, a - first, b - first, own));
    }
  }

  /** @param {Arrow} arrow @param {number} a @param {number} b rows, counted from the first in sight @param {boolean} own */
  arrowPath(arrow, a, b, own) {
    const x1 = this.railAt(this.lanes.thread[arrow.from]), x2 = this.railAt(this.lanes.thread[arrow.to]);
    const y1 = a * ROW + ROW / 2, y2 = b * ROW + ROW / 2;
    const side = x1 === x2 ? -1 : Math.sign(x2 - x1);
    const bend = x1 === x2 ? 14 : Math.min(70, Math.abs(x2 - x1) / 2);
    const end = x1 === x2 ? x2 - 6 : x2 - side * 7;
    const out = x1 === x2 ? -bend : side * bend, into = x1 === x2 ? -bend : -side * bend;
    const point = x1 === x2 ? 1 : side;
    return svg("g", { class: `arrow ${arrow.kind}${own ? " own" : ""}` },
      svg("path", { class: "line", d: `M${x1 + side * 5} ${y1} C${x1 + out} ${y1} ${x2 + into} ${y2} ${end} ${y2}` }),
      svg("path", { class: "tip", d: `M${end + point * 2} ${y2} l${-point * 7} -4 v8 z` }));
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / ROW) - 2);
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowDown: () => this.move(1), ArrowUp: () => this.move(-1), j: () => this.move(1), k: () => this.move(-1),
      PageDown: () => this.move(page), PageUp: () => this.move(-page),
      Home: () => this.move(-this.rows.length), End: () => this.move(this.rows.length), r: () => this.nextReplaced(),
    };
    const action = keys[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  }

  /** @param {number} by rows */
  move(by) {
    if (this.rows.length === 0) return;
    const row = this.rowOf.get(this.selected) ?? 0;
    this.select(this.rows[Math.max(0, Math.min(this.rows.length - 1, row + by))], true);
  }

  nextReplaced() {
    const { how, count } = this.lanes;
    for (let k = 1; k <= count; ++k) {
      const i = (this.selected + k) % count;
      if (how[i]) return this.select(i, true);
    }
  }

  /** @param {number} event @param {boolean} reveal */
  select(event, reveal) {
    if (!this.rowOf.has(event)) event = this.rows.find((i) => i >= event) ?? this.rows[this.rows.length - 1] ?? 0;
    this.selected = event;
    this.scroller.setAttribute("aria-activedescendant", `event-${event}`);
    this.position.textContent = `${this.lanes.skipped + event + 1} of ${(this.lanes.skipped + this.lanes.count).toLocaleString("en")}`;
    if (reveal) this.reveal(event);
    this.redraw();
    this.explain(event);
  }

  /** @param {number} event */
  reveal(event) {
    const y = (this.rowOf.get(event) ?? 0) * ROW, height = this.scroller.clientHeight - HEAD;
    if (y < this.scroller.scrollTop) this.scroller.scrollTop = Math.max(0, y - ROW);
    else if (y + 2 * ROW > this.scroller.scrollTop + height) this.scroller.scrollTop = y + 2 * ROW - height;
    const x = this.railAt(Math.max(0, this.lanes.thread[event])), width = this.scroller.clientWidth;
    if (x - 20 < this.scroller.scrollLeft) this.scroller.scrollLeft = x - 60;
    else if (x + 150 > this.scroller.scrollLeft + width) this.scroller.scrollLeft = x + 170 - width;
  }

  /** Scrolls to the chosen event; for when the view has come to have a size. */
  settle() {
    this.layout();
    this.reveal(this.selected);
    this.draw();
  }

  /** @param {number} i */
  threadName(i) {
    const thread = this.lanes.threads[this.lanes.thread[i]];
    return thread ? `T${thread.id}` : "The program";
  }

  /** @param {number} i */
  stepLink(i) {
    return h("button", { type: "button", class: "link", click: () => this.select(i, true) }, `step ${this.lanes.skipped + i + 1}`);
  }

  /** In words what the chosen event does. @param {number} i */
  explain(i) {
    if (this.lanes.count === 0) return;
    const operation = this.operation(i), object = shown(this.object(i), 300), value = shown(this.value(i), 100);
    const newest = shown(this.lanes.words[this.lanes.newest[i]] ?? "", 100);
    const source = this.lanes.from[i] ? i - this.lanes.from[i] : -1;
    const text = h("p");
    if (operation === "failure") {
      text.append(h("b", {}, `${this.threadName(i)} fails: `), object, ".");
    } else {
      text.append(h("b", {}, this.threadName(i)), ` ${VERBS[operation] ?? shown(operation, 60)}`);
      if (object) text.append(" ", h("code", {}, object));
      if (value) text.append(/read/.test(operation) ? " and gets " : ": ", h("code", {}, value));
      if (this.lanes.how[i] === 1) {
        text.append(", which is ", h("b", { class: "stale" }, "stale"), ": memory holds ", h("code", {}, newest), ".");
        text.append(source >= 0 ? " The value was stored in " : " The value is the one from before.");
        if (source >= 0) text.append(this.stepLink(source), ".");
        const missed = this.missedStore(i);
        text.append(" Nothing orders the newer store");
        if (missed >= 0) text.append(" (", this.stepLink(missed), ")");
        text.append(" before this load, so the memory model allows it.");
      } else if (this.lanes.how[i] === 2) {
        text.append(", a value of the ", h("b", { class: "future" }, "future"), ": memory still holds ", h("code", {}, newest), ".");
        if (source >= 0) text.append(" It is stored only in ", this.stepLink(source), ", which nothing orders after this load.");
      } else {
        if (source >= 0) text.append(", stored by ", this.threadName(source), " in ", this.stepLink(source));
        text.append(".");
      }
      if (this.lanes.after[i]) {
        const before = i - this.lanes.after[i];
        text.append(" It happens after ", this.stepLink(before), ` of ${this.threadName(before)} (${this.operation(before)}).`);
      }
    }
    const [file, line] = this.lanes.places[this.lanes.place[i]] ?? ["", 0];
    /** @type {HTMLElement[]} */
    const parts = [text];
    if (file) parts.push(h("p", { class: "where" }, placeLink(this.data, file, line)), snippet(this.data.sources, file, line, 2, "here"));
    this.explanation.replaceChildren(...parts);
  }

  /** On paper nothing scrolls. @param {boolean} on */
  print(on) {
    this.printing = on;
    const rows = Math.min(this.rows.length, MOST_PRINTED);
    if (on) {
      this.scroller.style.height = "auto";
      this.canvas.style.height = `${rows * ROW}px`;
      this.redraw();
    } else {
      this.applyFilter();
    }
  }

  /** What the reader must know of what is not shown. */
  notes() {
    const notes = [];
    if (this.lanes.skipped) notes.push(`${plural(this.lanes.skipped, "earlier step")} left out`);
    if (this.lanes.note) notes.push(this.lanes.note);
    return notes;
  }
}
