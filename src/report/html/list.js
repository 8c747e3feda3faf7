// SPDX-License-Identifier: Apache-2.0
//
// The list of findings with its search and its filters.

import { baseName, by, h, plural, shown } from "./dom.js";
import { VERDICTS } from "./model.js";
import { badge } from "./finding.js";

/** @typedef {import("./model.js").Finding} Finding */

export class FindingList {
  /**
   * @param {Finding[]} findings
   * @param {(id: string) => void} onChoose
   * @param {(id: string) => string} changeOf "new", "changed" or "", since an older report
   */
  constructor(findings, onChoose, changeOf) {
    this.findings = findings;
    this.onChoose = onChoose;
    this.changeOf = changeOf;
    this.chosen = "";
    /** @type {Set<string>} none: all */
    this.verdicts = new Set();
    this.confirmedOnly = false;
    /** @type {Finding[]} */
    this.visible = findings;
    this.list = by("list");
    this.search = /** @type {HTMLInputElement} */ (by("search"));
    this.search.addEventListener("input", () => this.filter());
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown" || event.key === "Enter") {
        event.preventDefault();
        if (event.key === "Enter" && this.visible.length) this.onChoose(this.visible[0].id);
        else /** @type {HTMLElement | null} */ (this.list.querySelector("a"))?.focus();
      }
    });
    this.list.addEventListener("keydown", (event) => this.onKey(event));
    /** @type {Map<string, HTMLElement>} made once: a filter only hides */
    this.items = new Map(findings.map((finding) => [finding.id, this.item(finding)]));
    this.list.append(...this.items.values());
    this.addFilters();
    this.filter();
  }

  addFilters() {
    const group = by("verdicts");
    /** @param {string} label @param {number} count @param {string} name @param {(on: boolean) => void} change */
    const chip = (label, count, name, change) => {
      const button = h("button", { type: "button", class: `chip ${name}`, "aria-pressed": "false", "data-verdict": name, click: () => {
        const on = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(on));
        change(on);
        this.filter();
      } }, h("span", { class: "swatch" }), `${label} `, h("b", {}, String(count)));
      return button;
    };
    for (const [verdict, label] of Object.entries(VERDICTS)) {
      const count = this.findings.filter((finding) => finding.verdict === verdict).length;
      if (!count) continue;
      group.append(chip(label, count, verdict, (on) => { if (on) this.verdicts.add(verdict); else this.verdicts.delete(verdict); }));
    }
    const confirmed = this.findings.filter((finding) => this.isConfirmed(finding)).length;
    if (confirmed && confirmed !== this.findings.length)
      group.append(chip("Confirmed", confirmed, "confirmed", (on) => { this.confirmedOnly = on; }));
  }

  /** @param {Finding} finding */
  isConfirmed(finding) {
    return finding.failure !== null || finding.race?.confirmed === true || finding.extra.rule === "race/confirmed";
  }

  /** @param {Finding} finding */
  item(finding) {
    const change = this.changeOf(finding.id);
    const link = h("a", { href: "#" + encodeURIComponent(finding.id), "data-id": finding.id, click: (/** @type {MouseEvent} */ event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.onChoose(finding.id);
    } },
    h("span", { class: "top" }, h("span", {}, badge(finding.verdict), " ", change && h("span", { class: `badge since-${change}` }, change)), h("code", { class: "id" }, finding.id)),
    h("span", { class: "subject" }, shown(finding.subject, 200)),
    h("span", { class: "where", title: shown(finding.place, 300) }, shown(baseName(finding.place), 200)));
    return h("li", { class: `item ${finding.verdict}` }, link);
  }

  filter() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    this.visible = this.findings.filter((finding) =>
      (this.verdicts.size === 0 || this.verdicts.has(finding.verdict)) && (!this.confirmedOnly || this.isConfirmed(finding)) &&
      words.every((word) => finding.text.includes(word)));
    const visible = new Set(this.visible.map((finding) => finding.id));
    for (const [id, item] of this.items) item.hidden = !visible.has(id);
    const all = this.findings.length;
    by("count").textContent = all === 0 ? "No findings" : visible.size !== all ? `${visible.size} of ${plural(all, "finding")}` : plural(all, "finding");
  }

  /** Shows only this verdict. @param {string} verdict */
  only(verdict) {
    this.verdicts = new Set([verdict]);
    for (const chip of by("verdicts").querySelectorAll("button")) {
      if (chip.dataset.verdict !== "confirmed") chip.setAttribute("aria-pressed", String(chip.dataset.verdict === verdict));
    }
    this.filter();
  }

  /** @param {string} id "": none */
  mark(id) {
    this.items.get(this.chosen)?.querySelector("a")?.removeAttribute("aria-current");
    this.chosen = id;
    const link = this.items.get(id)?.querySelector("a");
    link?.setAttribute("aria-current", "true");
    link?.scrollIntoView({ block: "nearest" });
  }

  /** The id of the finding `by` places from the chosen one. @param {number} by */
  neighbour(by) {
    const at = this.visible.findIndex((finding) => finding.id === this.chosen);
    const next = at < 0 ? (by > 0 ? 0 : this.visible.length - 1) : Math.max(0, Math.min(this.visible.length - 1, at + by));
    return this.visible[next]?.id ?? "";
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const links = [...this.list.querySelectorAll("li:not([hidden]) a")];
    const at = links.indexOf(/** @type {Element} */ (document.activeElement));
    const next = /** @type {HTMLElement | undefined} */ (links[at + (event.key === "ArrowDown" ? 1 : -1)]);
    event.preventDefault();
    if (next) next.focus();
    else if (event.key === "ArrowUp") this.search.focus();
  }
}
