// SPDX-License-Identifier: Apache-2.0
//
// Which orders of threads a campaign has seen (`--coverage`): a part of the overview.

import { baseName, h, plural, section, shown } from "./dom.js";
import { placeLink } from "./source.js";

/** @typedef {import("./model.js").Data} Data */
/** @typedef {import("./model.js").Coverage} Coverage */
/** @typedef {import("./model.js").CoveragePair} CoveragePair */
/** @typedef {import("./model.js").CoveragePlace} CoveragePlace */

const MOST_ROWS = 50;

/** How much of a whole, as a bar. @param {number} part @param {number} whole */
function share(part, whole) {
  return h("progress", { class: "share", max: String(Math.max(1, whole)), value: String(part), "aria-label": `${part} of ${whole}` });
}

/** @param {string} label @param {string[]} heads @param {HTMLElement} rows */
function table(label, heads, rows) {
  return h("div", { class: "wide-table", tabindex: "0", role: "group", "aria-label": label },
    h("table", { class: "summary coverage" }, h("thead", {}, h("tr", {}, ...heads.map((name) => h("th", { scope: "col" }, name)))), rows));
}

/** @param {Data} data @param {CoveragePlace} place */
function placeCell(data, place) {
  const what = place.variable ? h("code", {}, shown(place.variable, 120)) : null;
  return h("td", {}, h("div", {}, shown(place.operation, 40), what ? " " : "", what),
    h("div", { class: "where" }, place.file ? placeLink(data, place.file, place.line, place.column, baseName(place.file)) : shown(place.function, 200),
      place.file ? ` in ${shown(place.function, 80)}` : ""));
}

/** The order that was seen: the earlier place, then the later one. @param {Data} data @param {CoveragePair} pair */
function orderRow(data, pair) {
  const turned = pair.first_before_second === 0;
  const fresh = pair.new_first_before_second || pair.new_second_before_first;
  return h("tr", {}, placeCell(data, turned ? pair.second : pair.first), placeCell(data, turned ? pair.first : pair.second),
    h("td", { class: "number" }, (turned ? pair.second_before_first : pair.first_before_second).toLocaleString("en"),
      fresh ? h("span", { class: "badge since-new" }, "new") : null));
}

/** @param {Data} data @param {CoveragePair[]} pairs */
function oneOrderOnly(data, pairs) {
  const heads = ["always first", "always second", "runs"];
  const rows = h("tbody", {}, ...pairs.slice(0, MOST_ROWS).map((pair) => orderRow(data, pair)));
  const part = h("div", { class: "one-order" }, h("h4", {}, "Seen in one order only"), table("Pairs that were seen in one order only", heads, rows));
  const rest = pairs.length - MOST_ROWS;
  if (rest > 0) {
    const button = h("button", { type: "button", click: () => {
      rows.append(...pairs.slice(MOST_ROWS).map((pair) => orderRow(data, pair)));
      button.remove();
    } }, `Show ${plural(rest, "more pair")}`);
    part.append(button);
  }
  return part;
}

/** @param {Data} data */
function caseTable(data) {
  const cases = (data.document.cases ?? []).filter((one) => one.coverage);
  if (!cases.length) return null;
  const rows = cases.map((one) => {
    const { both, pairs, runs } = /** @type {{both: number, pairs: number, runs: number}} */ (one.coverage);
    return h("tr", {}, h("td", {}, h("code", {}, shown(one.name, 200))), h("td", {}, share(both, pairs), ` ${both} of ${pairs}`),
      h("td", { class: "number" }, runs.toLocaleString("en")));
  });
  return h("div", {}, h("h4", {}, "By test case"), table("Coverage of each test case", ["case", "seen in both orders", "runs"], h("tbody", {}, ...rows)));
}

/** @param {Data} data @returns {HTMLElement | null} */
export function coverageView(data) {
  const coverage = data.document.coverage;
  if (!coverage) return null;
  const part = section("Concurrency coverage", "coverage",
    h("p", {}, `${coverage.both} of ${plural(coverage.pairs.length, "pair")} seen in both orders, in ${plural(coverage.runs, "run")}.`));
  const since = coverage.since_last;
  if (since)
    part.append(h("p", { class: "since-last" }, `Since the last campaign: ${plural(since.gained, "order")} seen for the first time, ${plural(since.lost, "order")} not seen again.`));
  if (coverage.kinds?.length)
    part.append(table("Coverage by kind", ["what", "seen in both orders"], h("tbody", {}, ...coverage.kinds.map((one) =>
      h("tr", {}, h("td", {}, shown(one.name, 60)), h("td", {}, share(one.both, one.pairs), ` ${one.both} of ${one.pairs}`))))));
  const single = coverage.pairs.filter((pair) => !pair.both);
  if (single.length) part.append(oneOrderOnly(data, single));
  const cases = caseTable(data);
  if (cases) part.append(cases);
  part.append(h("p", { class: "hint" },
    "An order that was never seen is impossible, because a lock or a flag forbids it, or no run happened to show it: more runs, another seed or duress verify can tell. A pair that is missing was never visited by two threads at all."));
  return part;
}
