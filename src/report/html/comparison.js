// SPDX-License-Identifier: Apache-2.0
//
// What changed since an older document (`duress report --compare`): a part of the overview, and a word at each finding.

import { h, plural, section, shown } from "./dom.js";
import { VERDICTS } from "./model.js";
import { placeLink } from "./source.js";

/** @typedef {import("./model.js").Data} Data */
/** @typedef {import("./model.js").Compared} Compared */

/** "new", "changed" or "", by the finding's id. @param {Data} data @param {string} id */
export function changeOf(data, id) {
  const comparison = data.comparison;
  if (comparison?.new.some((one) => one.id === id)) return "new";
  return comparison?.changed.some((one) => one.id === id) ? "changed" : "";
}

/** A word of a change in plain English. @param {string} text */
function plain(text) {
  return VERDICTS[text]?.toLowerCase() ?? shown(text, 300);
}

/** @param {Compared} one */
function changeList(one) {
  if (!one.changes?.length) return null;
  return h("ul", { class: "changes" }, ...one.changes.map((change) =>
    h("li", {}, `${shown(change.what, 60)}: `, h("del", {}, plain(change.before)), " → ", h("ins", {}, plain(change.now)))));
}

/** What is said of the changes of one finding. @param {Data} data @param {string} id */
export function changeNote(data, id) {
  const kind = changeOf(data, id);
  if (!kind) return null;
  const one = data.comparison?.changed.find((other) => other.id === id);
  return h("div", { class: "since" }, h("span", { class: `badge since-${kind}` }, kind), ` since ${shown(data.comparison?.before.file ?? "", 200)}`, one ? changeList(one) : null);
}

/** @param {Data} data @returns {HTMLElement | null} */
export function comparisonView(data) {
  const comparison = data.comparison;
  if (!comparison) return null;
  const part = section(`Since ${shown(comparison.before.file, 200)}`, "comparison",
    h("p", {}, `${comparison.new.length} new, ${comparison.changed.length} changed, ${comparison.gone.length} gone, ${plural(comparison.unchanged.length, "finding")} unchanged.`));
  const rows = h("tbody");
  for (const [kind, list] of /** @type {[string, Compared[]][]} */ ([["new", comparison.new], ["changed", comparison.changed], ["gone", comparison.gone]])) {
    for (const one of list) {
      const name = shown(one.variable || one.title, 200);
      // What is gone has no page of its own.
      const subject = kind === "gone" ? h("code", {}, name) : h("a", { href: "#" + encodeURIComponent(one.id) }, h("code", {}, name));
      rows.append(h("tr", {}, h("td", {}, h("span", { class: `badge since-${kind}` }, kind)),
        h("td", {}, subject, changeList(one)), h("td", {}, plain(one.verdict ?? one.failure ?? "not judged")),
        h("td", { class: "where" }, placeLink(data, one.file, one.line, one.column))));
    }
  }
  if (rows.childElementCount)
    part.append(h("div", { class: "wide-table", tabindex: "0", role: "group", "aria-label": "The changes as a table" },
      h("table", { class: "summary" }, h("thead", {}, h("tr", {}, ...["", "finding", "verdict", "where"].map((name) => h("th", { scope: "col" }, name || h("span", { class: "offscreen" }, "change"))))), rows)));
  if (comparison.notes.length)
    part.append(h("p", { class: "hint" }, "The two campaigns differ, and a finding may be gone or new for that: ", comparison.notes.map((note) => shown(note, 500)).join("; "), "."));
  return part;
}
