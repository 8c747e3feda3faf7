// SPDX-License-Identifier: Apache-2.0
//
// Everything about one finding.

import { ratesChart } from "./chart.js";
import { changeNote, comparisonView } from "./comparison.js";
import { coverageView } from "./coverage.js";
import { waitingView } from "./cycle.js";
import { baseName, copyButton, h, plural, section, shown } from "./dom.js";
import { LanesView } from "./lanes.js";
import { lanesAt, plainWords, VERDICTS } from "./model.js";
import { diffView, placeLink, snippet } from "./source.js";

/** @typedef {import("./model.js").Data} Data */
/** @typedef {import("./model.js").Evidence} Evidence */
/** @typedef {import("./model.js").Finding} Finding */
/** @typedef {import("./model.js").Frame} Frame */
/** @typedef {import("./model.js").Site} Site */

/** @param {string} verdict */
export function badge(verdict) {
  return h("span", { class: `badge ${verdict}` }, VERDICTS[verdict] ?? verdict);
}

/** @param {Data} data @param {Frame[]} stack @param {string} title @param {boolean} open */
function stackView(data, stack, title, open) {
  const list = h("ol", { class: "stack" });
  for (const frame of stack) {
    const link = frame.file ? placeLink(data, frame.file, frame.line, frame.column) : shown(frame.module ?? "", 300);
    const name = h("code", {}, shown(frame.function || "?", 400));
    if (frame.file && frame.line && data.sources[frame.file]?.lines) {
      // A link cannot be part of what opens and closes the lines.
      const more = h("details", {}, h("summary", {}, name, h("span", { class: "where" }, `${shown(frame.file, 300)}:${frame.line}`)));
      more.addEventListener("toggle", () => {
        if (more.open && more.childElementCount === 1)
          more.append(typeof link === "string" ? "" : h("p", { class: "where" }, "Open ", link), snippet(data.sources, frame.file, frame.line, 3, "here"));
      });
      list.append(h("li", {}, more));
    } else {
      list.append(h("li", {}, name, h("span", { class: "where" }, link)));
    }
  }
  return h("details", { class: "stack-box", open }, h("summary", {}, `${title} (${plural(stack.length, "frame")})`), list);
}

/** @param {Data} data @param {Site} site */
function siteView(data, site) {
  const reads = site.access.includes("read");
  const verb = site.frees ? "frees" : reads ? "reads" : site.access === "atomic-rmw" ? "updates" : "writes";
  const kind = reads ? "read" : "write";
  const locks = site.locks?.length ? site.locks.map((lock) => shown(lock, 200)).join(", ") : "nothing";
  return h("div", { class: `site ${kind}` },
    h("p", { class: "who" }, h("b", {}, `T${site.thread}`), site.thread_name ? ` ${shown(site.thread_name, 60)} ` : " ",
      h("span", { class: `access ${kind}` }, site.access.startsWith("atomic") ? `${verb} atomically` : verb),
      site.size ? ` ${plural(site.size, "byte")}` : "", ` · holds ${locks}`),
    h("p", { class: "where" }, h("code", {}, shown(site.function, 400)), " ", placeLink(data, site.file, site.line, site.column)),
    snippet(data.sources, site.file, site.line, 5, kind),
    stackView(data, site.stack, "Stack", false));
}

/** What the loads were given, with the technical names where the mouse rests. @param {string} before @param {Evidence} evidence */
function attackLine(before, evidence) {
  const names = [evidence.model, evidence.heuristic ?? evidence.strategy].filter((name) => name !== undefined && name !== "");
  return h("p", { class: "hint", title: names.join(", ") }, `${before}${names.map((name) => plainWords(name ?? "")).join(", ")}`);
}

/** What the document says of a race, and what to make of it. @param {Finding} finding @param {Data} data */
function story(finding, data) {
  const race = finding.race;
  if (!race) return [];
  const lines = [h("p", { class: "headline" }, shown(finding.title, 400))];
  if (Array.isArray(race.account)) lines.push(...race.account.map((line) => h("p", { class: "account" }, shown(line, 1000))));
  if (race.verdict === "destructive") lines.push(attackLine("Values that loads were given: ", race.evidence ?? {}));
  if (race.verdict === "slower") lines.push(attackLine("With other legal values: ", race.evidence ?? {}));
  if (race.verdict && race.verdict !== "destructive")
    lines.push(h("p", { class: "hint" }, "The race is still undefined behaviour, and this is no proof: other inputs, machines and compilers may see harm."));
  if (!race.verdict)
    lines.push(h("p", { class: "hint" }, data.document.command === "classify" ? "The campaign ended before every attack had its turn."
      : "Nothing orders the two accesses. duress classify says whether that does harm."));
  return lines;
}

/** @param {Finding} finding */
function facts(finding) {
  const race = finding.race, failure = finding.failure, list = h("dl", { class: "facts" });
  /** @param {string} term @param {string | undefined} value */
  const add = (term, value) => value && list.append(h("div", {}, h("dt", {}, term), h("dd", {}, value)));
  if (race) {
    add("kind", race.kind);
    add("found by", race.found_by.join(", "));
    if (race.confirmed !== undefined) add("confirmed", race.confirmed ? "yes: the accesses were brought together" : "not brought together");
    add("test", race.test && shown(race.test));
    const evidence = race.evidence;
    if (evidence?.replays) add("replayed", `${evidence.replayed} of ${evidence.replays} times`);
    if (evidence?.switches !== undefined) add("needs", `${plural(evidence.switches, "switch").replace("switchs", "switches")}, ${plural(evidence.replaced_values ?? 0, "replaced value")}`);
    if (race.baseline) add("baseline", "known before");
    if (race.block && race.block.kind !== "unknown") {
      const size = race.block.size ? `, ${plural(race.block.size, "byte")}` : "";
      add("memory", `${race.block.kind}${race.block.name ? " " + shown(race.block.name, 200) : ""}${size}`);
    }
  }
  if (failure) {
    add("kind", shown(failure.failure, 200));
    add("strategy", failure.strategy);
    add("model", failure.model && [failure.model, failure.heuristic].filter(Boolean).join(", "));
    if (failure.switches !== undefined) add("needs", plural(failure.switches, "switch").replace("switchs", "switches"));
    if (failure.found_at_run) add("found at", `run ${failure.found_at_run.toLocaleString("en")}`);
  }
  return list;
}

/** @param {Finding} finding */
function replayView(finding) {
  const { replay, token } = finding.extra;
  if (!replay) return null;
  /** @param {string} line @param {string} label @param {string} id */
  const line = (line, label, id) => h("div", { class: "command", id }, h("code", { tabindex: "0" }, line), copyButton(line, label));
  return section("Replay", "replay",
    line(replay, "Copy the replay line", "replay-line"),
    token && token !== replay && h("details", {}, h("summary", {}, "In another folder, with the token itself"), line(token, "Copy the line with the token", "token-line")),
    h("p", { class: "hint" }, "The same execution again. With ", h("code", {}, "--trace"), " every step is printed, with ", h("code", {}, "--gdb"), " it stops in the debugger."));
}

/** @param {Finding} finding */
function ratesView(finding) {
  const evidence = finding.race?.evidence;
  const rates = Array.isArray(evidence?.rates) ? evidence.rates.filter((rate) => rate && typeof rate.failed === "number" && typeof rate.runs === "number") : [];
  if (!rates.length) return null;
  return section("How often it fails", "rates", ratesChart(rates));
}

/** @param {Finding} finding @param {Data} data */
function fixView(finding, data) {
  const fix = finding.race?.fix ?? (finding.race ? data.document.advice : undefined);
  if (!fix?.text) return null;
  const tried = fix.passed ?? fix.interleavings;
  return section("Fix", "fix", h("p", {}, shown(fix.text), tried ? ` — with it no race and no failure in ${plural(tried, "interleaving")}.` : "",
    fix.schedules ? ` — with it no race and no failure in ${plural(fix.schedules, "schedule")}; that is no proof.` : ""),
    fix.diff && diffView(fix.diff));
}

/** @param {Finding} finding @param {Data} data @param {(view: LanesView) => void} onView */
function lanesSection(finding, data, onView) {
  const part = section("Interleaving", "interleaving");
  const index = finding.extra.lanes;
  if (index === undefined) {
    const lines = finding.race?.evidence?.interleaving;
    if (finding.extra.lack) part.append(h("p", { class: "missing" }, shown(finding.extra.lack, 500)));
    if (lines?.length) part.append(h("pre", { class: "text" }, lines.map((line) => shown(line)).join("\n")));
    return finding.extra.lack || lines?.length ? part : null;
  }
  const waiting = h("p", { class: "hint" }, `${plural(finding.extra.events ?? 0, "step")} …`);
  part.append(waiting);
  lanesAt(index).then((lanes) => {
    const view = new LanesView(lanes, data);
    const notes = view.notes();
    waiting.replaceWith(view.element);
    if (lanes.decided?.length)
      part.append(h("p", {}, "The values that were read last, and where they came from:"), h("ul", { class: "decided" }, ...lanes.decided.map((line) => h("li", {}, shown(line, 600)))));
    if (notes.length) part.append(h("p", { class: "hint" }, notes.map((note) => shown(note)).join(" · ")));
    view.settle();
    onView(view);
  }).catch((error) => { waiting.textContent = `The interleaving cannot be shown: ${error.message}`; });
  return part;
}

/** The use, the free and the allocation of memory that was used wrongly. @param {import("./model.js").Failure} failure @param {Data} data */
function memoryView(failure, data) {
  const { access, freed, block } = failure.memory ?? {};
  const ended = failure.failure === "double-init" ? "Initialised before" : failure.failure === "use-after-destroy" ? "Destroyed" : "Freed";
  const stacks = [];
  if (access?.stack?.length) stacks.push(stackView(data, access.stack, `Used by T${access.thread}`, true));
  if (freed?.stack?.length) stacks.push(stackView(data, freed.stack, `${ended} by T${freed.thread}`, true));
  if (block?.stack?.length) stacks.push(stackView(data, block.stack, `Allocated by T${block.thread ?? "?"}`, true));
  return stacks.length ? section("The memory", "memory", ...stacks) : null;
}

/** @param {Finding} finding @param {Data} data */
function failureParts(finding, data) {
  const failure = finding.failure;
  if (!failure) return [];
  const parts = [];
  const waiting = waitingView(failure, data);
  if (waiting) parts.push(waiting);
  const memory = memoryView(failure, data);
  if (memory) parts.push(memory);
  if (failure.file) parts.push(section("Where", "where", h("p", { class: "where" }, placeLink(data, failure.file, failure.line, failure.column)), snippet(data.sources, failure.file, failure.line, 5, "write")));
  if (failure.stacks?.length)
    parts.push(section("Stacks", "stacks", ...failure.stacks.map((stack) =>
      stackView(data, stack.stack ?? [], `T${stack.thread}${stack.thread_name ? " " + shown(stack.thread_name, 60) : ""}${stack.operation ? `, ${stack.state ?? ""} in ${stack.operation} ${shown(stack.object ?? "", 100)}` : ""}`, true))));
  if (failure.stderr) parts.push(section("Output", "output", h("pre", { class: "text", tabindex: "0" }, failure.stderr.split("\n").slice(-200).map((line) => shown(line)).join("\n"))));
  return parts;
}

/**
 * @param {Finding} finding
 * @param {Data} data
 * @param {(view: LanesView) => void} onView called when the interleaving is there
 * @returns {HTMLElement}
 */
export function findingView(finding, data, onView) {
  const race = finding.race;
  const article = h("article", { "aria-label": shown(finding.title, 200) },
    h("div", { class: "title" },
      h("div", { class: "line" }, badge(finding.verdict), h("code", { class: "id" }, finding.id),
        h("span", { class: "where" }, shown(finding.place, 300))),
      h("h2", {}, race ? "Data race on " : "", race ? h("code", {}, shown(finding.subject, 400)) : shown(finding.subject, 400))),
    changeNote(data, finding.id), ...story(finding, data), facts(finding));
  /** @param {HTMLElement | null | undefined} part */
  const add = (part) => part && article.append(part);
  add(replayView(finding));
  if (race) {
    add(section("The two accesses", "sites", h("div", { class: "sites" }, ...race.sites.map((site) => siteView(data, site)))));
  }
  add(lanesSection(finding, data, onView));
  for (const part of failureParts(finding, data)) add(part);
  add(ratesView(finding));
  add(fixView(finding, data));
  for (const [index, pair] of finding.pairs.entries())
    add(section("Another pair of accesses", `pair${index + 1}`, h("div", { class: "sites" }, ...pair.sites.map((site) => siteView(data, site)))));
  const stacks = (race?.threads ?? []).filter((thread) => thread.stack?.length);
  if (stacks.length || race?.block?.stack?.length) {
    add(section("Where the threads and the memory come from", "origins",
      ...stacks.map((thread) => stackView(data, thread.stack, `T${thread.id}${thread.name ? " " + shown(thread.name, 60) : ""} was created`, false)),
      race?.block?.stack?.length ? stackView(data, race.block.stack, "The memory was allocated", false) : null));
  }
  return article;
}

const MOST_SUMMARISED = 50;

/** What a finding does, in a line. @param {Finding} finding */
function effect(finding) {
  const race = finding.race, evidence = race?.evidence;
  if (!race) return finding.failure?.failure ?? "";
  if (race.verdict === "destructive")
    return `${evidence?.text ?? "fails"}${evidence?.rate ? `, ${evidence.rate.failed.toLocaleString("en")} of ${plural(evidence.rate.runs, "run")}` : ""}`;
  if (race.verdict === "slower" && evidence?.work) return `${evidence.work} times the work`;
  if (race.verdict === "no-harm-found") return `${plural(race.runs ?? 0, "run")} without harm`;
  return race.kind;
}

/** The findings as a table: the worst, and the others when they are asked for. @param {Finding[]} findings */
function summary(findings) {
  const rows = h("tbody");
  /** @param {Finding} finding */
  const add = (finding) =>
    rows.append(h("tr", {}, h("td", {}, badge(finding.verdict)),
      h("td", {}, h("a", { href: "#" + encodeURIComponent(finding.id) }, h("code", {}, shown(finding.subject, 160)))),
      h("td", {}, shown(effect(finding), 160)), h("td", { class: "where", title: shown(finding.place, 300) }, shown(baseName(finding.place), 120))));
  findings.slice(0, MOST_SUMMARISED).forEach(add);
  const rest = findings.slice(MOST_SUMMARISED);
  const more = rest.length === 0 ? null : h("button", { type: "button", class: "more", click: () => {
    rest.forEach(add);
    more?.remove();
  } }, `Show the other ${plural(rest.length, "finding")}`);
  const table = h("table", { class: "summary" }, h("thead", {}, h("tr", {}, ...["verdict", "variable", "what it does", "where"].map((name) => h("th", { scope: "col" }, name)))), rows);
  return h("div", {}, table, more);
}

/**
 * What the page shows when nothing is chosen.
 * @param {Data} data
 * @param {Finding[]} findings
 */
export function overview(data, findings) {
  const counts = h("div", { class: "tiles" });
  for (const [verdict, label] of Object.entries(VERDICTS)) {
    const count = findings.filter((finding) => finding.verdict === verdict).length;
    if (count) counts.append(h("a", { class: `tile ${verdict}`, href: `#verdict=${verdict}` }, h("b", {}, String(count)), h("span", {}, label)));
  }
  const doc = data.document;
  const rows = h("dl", { class: "facts" });
  /** @param {string} term @param {string} value */
  const add = (term, value) => value && rows.append(h("div", {}, h("dt", {}, term), h("dd", {}, value)));
  add("command", `duress ${doc.command}`);
  add("program", shown(doc.target.join(" "), 500));
  add("executions", (doc.interleavings ?? doc.runs ?? 0).toLocaleString("en"));
  add("seed", String(doc.seed));
  // Of a search that ended by itself it would look like a proof.
  if (doc.complete !== undefined && (doc.command === "verify" || !doc.complete)) add("complete", doc.complete ? "yes" : doc.bound ? `no: ${shown(doc.bound)}` : "no");
  if (doc.suppressed) add("suppressed", String(doc.suppressed));
  const incomplete = (doc.incomplete ?? []).map((line) => h("li", {}, shown(line)));
  return h("article", { class: "overview" }, h("h2", {}, findings.length ? "Overview" : "Nothing was found"), counts, rows, comparisonView(data), findings.length ? summary(findings) : null, coverageView(data),
    incomplete.length ? section("Not controlled or not supported", "incomplete", h("ul", {}, ...incomplete)) : null,
    findings.length ? h("p", { class: "hint" }, "Choose a finding to see its accesses, its interleaving and how to replay it.") : null);
}

