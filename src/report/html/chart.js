// SPDX-License-Identifier: Apache-2.0
//
// How often each attack made the program fail: a table whose last column is a bar.

import { h, plural } from "./dom.js";
import { plainWords } from "./model.js";

/** @typedef {import("./model.js").Rate} Rate */

/** @param {Rate} rate */
function attackName(rate) {
  const name = plainWords(rate.heuristic || rate.strategy || "");
  return rate.fair === false ? `${name}, for ever` : name;
}

/**
 * @param {Rate[]} rates
 * @returns {HTMLElement}
 */
export function ratesChart(rates) {
  const rows = h("tbody");
  let model = "";
  for (const rate of rates) {
    if (rate.runs + (rate.invalid ?? 0) === 0) continue;
    const share = rate.runs === 0 ? 0 : rate.failed / rate.runs;
    const bar = h("span", { class: "bar" }, h("span", { class: share > 0 ? "fill" : "fill none" }));
    /** @type {HTMLElement} */ (bar.firstChild).style.width = `${(share * 100).toFixed(2)}%`;
    rows.append(h("tr", { class: rate.model !== model ? "first" : "" },
      h("th", { scope: "row", title: rate.model }, h("span", { class: rate.model !== model ? "" : "offscreen" }, plainWords(rate.model))),
      h("td", { title: rate.heuristic || rate.strategy || null }, attackName(rate)),
      h("td", { class: "amount" }, `${rate.failed.toLocaleString("en")} of ${rate.runs.toLocaleString("en")}`),
      h("td", { class: "bars", title: rate.invalid ? `${plural(rate.invalid, "run")} proved nothing and were thrown away` : null }, bar)));
    model = rate.model;
  }
  return h("table", { class: "rates" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "model"), h("th", { scope: "col" }, "choice"),
      h("th", { scope: "col" }, "failed"), h("th", { scope: "col", class: "bars" }, h("span", { class: "offscreen" }, "share")))),
    rows);
}
