// SPDX-License-Identifier: Apache-2.0
//
// The page: which finding is shown follows the address, so that a link to it and the back button work.

import { changeOf } from "./comparison.js";
import { by, h, plural, shown } from "./dom.js";
import { findingView, overview } from "./finding.js";
import { FindingList } from "./list.js";
import { findingsOf, readData, VERDICTS } from "./model.js";

/** @typedef {import("./lanes.js").LanesView} LanesView */

const data = readData();
const findings = findingsOf(data);
const detail = by("detail");
/** @type {LanesView | null} */
let lanes = null;

function showHeader() {
  const doc = data.document;
  const program = doc.target.join(" ");
  by("target").textContent = shown(`${doc.command} -- ${program}`, 200);
  document.title = shown(`Duress ${doc.command}: ${program}`, 120);
  const runs = doc.interleavings ?? doc.runs ?? 0;
  const races = doc.summary?.races ?? doc.races.length, pairs = doc.summary?.pairs ?? races;
  const parts = [plural(races, "race") + (pairs === races ? "" : ` (${pairs.toLocaleString("en")} pairs of accesses)`), plural(runs, doc.interleavings !== undefined ? "interleaving" : "run"), `seed ${doc.seed}`];
  if (doc.version) parts.push(`duress ${shown(doc.version, 40)}`);
  by("facts").textContent = parts.join(" · ");
}

/** @param {string} id "": the overview */
function show(id) {
  const finding = findings.find((one) => one.id === id);
  lanes = null;
  const back = h("button", { type: "button", class: "return", click: () => go("") }, "← All findings");
  detail.replaceChildren(finding ? back : "", finding ? findingView(finding, data, (view) => { lanes = view; }) : overview(data, findings));
  document.body.classList.toggle("chosen", Boolean(finding));
  list.mark(finding ? id : "");
  detail.scrollTop = 0;
  if (finding) {
    window.scrollTo(0, 0);
    detail.focus({ preventScroll: true });
  }
}

/** @param {string} id */
function go(id) {
  const hash = id ? "#" + encodeURIComponent(id) : "";
  if (location.hash === hash) return;
  if (hash) location.hash = hash;
  else {
    history.pushState(null, "", location.pathname + location.search);
    show("");
  }
}

function follow() {
  let wanted = location.hash.slice(1);
  try {
    wanted = decodeURIComponent(wanted);
  } catch {
    wanted = "";
  }
  if (wanted.startsWith("verdict=") && wanted.slice(8) in VERDICTS) {
    list.only(wanted.slice(8));
    wanted = "";
  }
  show(wanted);
}

/** @param {string} theme "light", "dark" */
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
}

function switchTheme() {
  const dark = document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  setTheme(dark ? "light" : "dark");
  try {
    localStorage.setItem("duress-theme", dark ? "light" : "dark");
  } catch {
    // A page from disk may have no storage.
  }
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (target.matches("input, textarea")) {
    if (event.key === "Escape") target.blur();
    return;
  }
  /** @type {Record<string, () => void>} */
  const keys = {
    "/": () => list.search.focus(), n: () => go(list.neighbour(1)), p: () => go(list.neighbour(-1)), t: switchTheme,
    Escape: () => go(""), r: () => lanes?.nextReplaced(),
  };
  const action = keys[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

try {
  const theme = localStorage.getItem("duress-theme");
  if (theme === "light" || theme === "dark") setTheme(theme);
} catch {
  // As above.
}
showHeader();
const list = new FindingList(findings, go, (id) => changeOf(data, id));
by("theme").addEventListener("click", switchTheme);
document.addEventListener("keydown", onKey);
window.addEventListener("hashchange", follow);
window.addEventListener("popstate", follow);
window.addEventListener("beforeprint", () => {
  for (const box of detail.querySelectorAll("details.stack-box")) box.setAttribute("open", "");  // paper does not unfold
  lanes?.print(true);
});
window.addEventListener("afterprint", () => lanes?.print(false));
follow();
