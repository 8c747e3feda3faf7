// SPDX-License-Identifier: Apache-2.0
//
// Who waits for whom at the end of a run that got stuck: the cycle of a deadlock as a drawing, and all of it in words.

import { baseName, h, section, shown, svg } from "./dom.js";
import { placeLink } from "./source.js";

/** @typedef {import("./model.js").Data} Data */
/** @typedef {import("./model.js").Failure} Failure */
/** @typedef {NonNullable<Failure["stacks"]>[number]} Waiting */
/** @typedef {{kind: string, text: string, full: string, under: string}} CycleNode */

const BOX = { width: 118, height: 42 };
const ACROSS = 112, DOWN = 92;
const MOST_DRAWN = 12;

/** The middle of a long name says least. @param {string} name @param {number} most */
function shortened(name, most) {
  const text = shown(name, 400);
  return text.length <= most ? text : `${text.slice(0, Math.ceil(most / 2) - 1)}…${text.slice(-Math.floor(most / 2))}`;
}

/** The frame of the program's own in which a thread waits. @param {Data} data @param {Waiting} one */
function waitingFrame(data, one) {
  const known = (one.stack ?? []).filter((frame) => frame.file && frame.line);
  return known.find((frame) => !frame.file?.startsWith("/usr/") && Object.hasOwn(data.sources, frame.file ?? "") && data.sources[frame.file ?? ""].lines) ?? known[0];
}

/**
 * Threads of which each waits for the next, and the last for the first; none: nobody waits in a circle.
 * @param {Waiting[]} waiting
 * @returns {Waiting[]}
 */
function cycleOf(waiting) {
  const byThread = new Map(waiting.map((one) => [one.thread, one]));
  const done = new Set();
  for (const first of waiting) {
    /** @type {Waiting[]} */
    const path = [];
    for (let at = /** @type {Waiting | undefined} */ (first); at && !done.has(at.thread);) {
      const again = path.indexOf(at);
      if (again >= 0) return path.slice(again);
      path.push(at);
      const next = (at.held_by ?? []).find((thread) => byThread.has(thread));
      at = next === undefined ? undefined : byThread.get(next);
    }
    for (const one of path) done.add(one.thread);
  }
  return [];
}

/** @param {Data} data @param {Waiting[]} cycle @returns {CycleNode[]} threads, and between two of them what is waited for */
function nodesOf(data, cycle) {
  return cycle.flatMap((one) => {
    const name = `T${one.thread}${one.thread_name ? " " + one.thread_name : ""}`, frame = waitingFrame(data, one);
    const thread = { kind: "thread", text: shortened(name, 14), full: shown(name, 200), under: frame ? `${shortened(baseName(frame.file ?? ""), 12)}:${frame.line}` : "" };
    if (one.operation === "join") return [thread];
    const object = one.object || "a lock";
    return [thread, { kind: "lock", text: shortened(object, 14), full: shown(object, 200), under: "" }];
  });
}

/** Where a line from the middle of a box to `to` leaves the box. @param {number[]} at @param {number[]} to */
function border([x, y], to) {
  const dx = to[0] - x, dy = to[1] - y;
  const part = Math.min((BOX.width / 2 + 3) / Math.max(Math.abs(dx), 1e-6), (BOX.height / 2 + 3) / Math.max(Math.abs(dy), 1e-6));
  return [x + dx * part, y + dy * part];
}

/**
 * The middles of the boxes: the first above, then down on the right and up on the left. Never wider than a phone.
 * @param {number} count
 */
function layout(count) {
  const middle = 8 + ACROSS + BOX.width / 2, top = BOX.height / 2 + (count === 2 ? 44 : 24);
  if (count === 2) return { middle, height: 2 * top, places: [[middle - ACROSS, top], [middle + ACROSS, top]] };
  const right = Math.ceil((count - 2) / 2), left = count - 2 - right, rows = right + 1;
  const places = [[middle, top]];
  for (let i = 1; i <= right; ++i) places.push([middle + ACROSS, top + i * DOWN]);
  places.push([middle, top + rows * DOWN]);
  for (let i = left; i >= 1; --i) places.push([middle - ACROSS, top + (i * rows * DOWN) / (left + 1)]);
  return { middle, height: top + rows * DOWN + BOX.height / 2 + 24, places };
}

/** @param {CycleNode[]} nodes @param {number} i @param {number[][]} places @param {number} middle */
function cycleArrow(nodes, i, places, middle) {
  const next = (i + 1) % nodes.length, from = places[i], to = places[next];
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
  const upright = nodes.length > 2 && from[0] === to[0];
  const bend = nodes.length === 2 ? 70 : upright ? 0 : 26;
  const out = [(to[1] - from[1]) / length, -(to[0] - from[0]) / length];  // the left hand of one who goes round with the clock
  const over = [(from[0] + to[0]) / 2 + out[0] * bend, (from[1] + to[1]) / 2 + out[1] * bend];
  const [start, end] = [border(from, over), border(to, over)];
  const kind = nodes[i].kind === "lock" ? "held" : "waits";
  const angle = (Math.atan2(end[1] - over[1], end[0] - over[0]) * 180) / Math.PI;
  const label = kind === "held" ? "held by" : nodes[next].kind === "lock" ? "waits for" : "joins";
  const onRight = over[0] > middle;
  // Between two boxes above each other there is room inside the ring, elsewhere outside.
  const side = nodes.length === 2 ? "middle" : onRight !== upright ? "start" : "end";
  const x = over[0] + (nodes.length === 2 ? 0 : (side === "start" ? 6 : -6)), y = over[1] + (nodes.length === 2 ? (out[1] < 0 ? 20 : -12) : 4);
  return svg("g", { class: `edge ${kind}` },
    svg("path", { class: "line", d: `M${start.join(" ")} Q${over.join(" ")} ${end.join(" ")}` }),
    svg("path", { class: "tip", d: "M0 0 l-9 -4.5 v9 z", transform: `translate(${end.join(" ")}) rotate(${angle})` }),
    svg("text", { x, y, "text-anchor": side }, label));
}

/** @param {Data} data @param {Waiting[]} cycle */
function drawing(data, cycle) {
  const nodes = nodesOf(data, cycle), { middle, height, places } = layout(nodes.length), width = 2 * middle;
  const words = cycle.map((one) => `T${one.thread} waits in ${shown(one.operation ?? "", 60)} ${shown(one.object ?? "", 200)}`).join("; ");
  const picture = svg("svg", { class: "cycle", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `A cycle: ${words}; and so on from the first.` });
  nodes.forEach((_, i) => picture.append(cycleArrow(nodes, i, places, middle)));
  nodes.forEach((node, i) => {
    const [x, y] = places[i];
    picture.append(svg("g", { class: `node ${node.kind}` }, svg("title", {}, node.full),
      svg("rect", { x: x - BOX.width / 2, y: y - BOX.height / 2, width: BOX.width, height: BOX.height, rx: node.kind === "thread" ? BOX.height / 2 : 6 }),
      svg("text", { x, y: y + (node.under ? -3 : 4), "text-anchor": "middle" }, node.text),
      node.under && svg("text", { class: "under", x, y: y + 13, "text-anchor": "middle" }, node.under)));
  });
  return h("div", { class: "cycle-box", tabindex: "0", role: "group", "aria-label": "The cycle as a drawing" }, picture);
}

/** Who waits for what, and who holds it. @param {Failure} failure @param {Data} data */
export function waitingView(failure, data) {
  const waiting = (Array.isArray(failure.stacks) ? failure.stacks : []).filter((stack) => stack?.state === "blocked");
  if (!waiting.length) return null;
  const cycle = cycleOf(waiting);
  const list = h("ul", { class: "waiting" });
  for (const one of waiting) {
    const holders = (one.held_by ?? []).map((thread) => `T${thread}`).join(", "), frame = waitingFrame(data, one);
    const object = one.object && one.operation !== "join" ? h("code", {}, shown(one.object, 200)) : null;
    list.append(h("li", {}, h("b", {}, `T${one.thread}`), ` waits in ${shown(one.operation ?? "", 60)} `, object,
      holders ? (one.operation === "join" ? ` for the end of ${holders}` : `, held by ${holders}`) : " and nobody is left who could wake it",
      frame && h("span", { class: "where" }, " at ", placeLink(data, frame.file, frame.line, frame.column))));
  }
  return section("Who waits for whom", "waiting",
    cycle.length > 0 && cycle.length <= MOST_DRAWN && h("p", { class: "hint" }, cycle.length === 1 ? "The thread waits for what it holds itself." : "A cycle: each thread waits for what the next one holds."),
    cycle.length > 0 && cycle.length <= MOST_DRAWN && drawing(data, cycle), list);
}
