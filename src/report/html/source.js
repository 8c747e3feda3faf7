// SPDX-License-Identifier: Apache-2.0
//
// A few lines of a source file, and diffs.

import { h, shown } from "./dom.js";

/** @typedef {import("./model.js").Data} Data */
/** @typedef {import("./model.js").Source} Source */

const TOKENS =
  /(\/\/.*|\/\*.*?\*\/)|("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|\b(\d[\w.']*)\b|\b(alignas|auto|bool|break|case|catch|char|class|const|constexpr|continue|default|delete|do|double|else|enum|explicit|extern|float|for|friend|if|inline|int|long|mutable|namespace|new|nullptr|operator|private|protected|public|return|short|signed|sizeof|static|struct|switch|template|this|throw|try|typedef|typename|union|unsigned|using|virtual|void|volatile|while)\b/g;
const KINDS = ["comment", "string", "number", "keyword"];

/** @param {string} line @returns {(Node | string)[]} */
function colored(line) {
  const parts = [];
  let at = 0;
  for (const match of line.matchAll(TOKENS)) {
    const kind = KINDS.findIndex((_, i) => match[i + 1] !== undefined);
    if (match.index > at) parts.push(line.slice(at, match.index));
    parts.push(h("span", { class: "tok-" + KINDS[kind] }, match[0]));
    at = match.index + match[0].length;
  }
  parts.push(line.slice(at));
  return parts;
}

/**
 * The lines around `line` of `file`.
 * @param {Record<string, Source>} sources
 * @param {string | undefined} file
 * @param {number | undefined} line
 * @param {number} around
 * @param {string} kind class of the line itself: "read", "write" or "here"
 * @returns {HTMLElement}
 */
export function snippet(sources, file, line, around, kind) {
  if (!file || !line) return h("p", { class: "missing" }, "No place in a source file is known.");
  const source = Object.hasOwn(sources, file) ? sources[file] : undefined;
  if (!source?.lines) {
    const why = source?.missing ? `: ${source.missing}` : "";
    return h("p", { class: "missing" }, `The source ${shown(file, 300)} cannot be shown${why}.`);
  }
  const code = h("code");
  let any = false;
  for (let number = Math.max(1, line - around); number <= line + around; ++number) {
    const text = source.lines[String(number)];
    if (text === undefined) continue;
    any = any || number === line;
    const marked = number === line;
    code.append(h("span", { class: marked ? `line hit ${kind}` : "line", "aria-current": marked && "true" },
      h("span", { class: "no", "aria-hidden": "true" }, String(number)), h("span", { class: "words" }, ...colored(shown(text)))));
  }
  if (!any) return h("p", { class: "missing" }, `The source ${shown(file, 300)} has no line ${line} any more.`);
  return h("pre", { class: "source", tabindex: "0", "aria-label": `${shown(file, 300)}, line ${line}` }, code);
}

/**
 * What opens a place in the editor that --editor names; "" if there is nothing to open.
 * @param {Data} data
 * @param {string} file
 * @param {number} line
 * @param {number} [column]
 */
function editorLink(data, file, line, column) {
  if (!data.editor || (Object.hasOwn(data.sources, file) && data.sources[file].missing)) return "";
  const path = file.startsWith("/") ? file : `${data.folder ?? ""}/${file}`;
  /** @type {Record<string, string>} */
  const parts = { line: String(line), column: String(column || 1) };
  try {
    parts.file = path.split("/").map(encodeURIComponent).join("/");
  } catch {
    return "";  // half a character
  }
  return data.editor.replace(/\{(file|line|column)\}/g, (_, name) => parts[name]);
}

/**
 * "file:line", which opens the editor there.
 * @param {Data} data
 * @param {string | undefined} file
 * @param {number | undefined} line
 * @param {number} [column]
 * @param {string} [name] what to show instead of the whole path
 * @returns {Node | string}
 */
export function placeLink(data, file, line, column, name) {
  if (!file) return "";
  const text = `${shown(name ?? file, 300)}:${line || "?"}`, link = line ? editorLink(data, file, line, column) : "";
  return link ? h("a", { class: "open", href: link, title: "Open in the editor" }, text) : text;
}

/** @param {string} text a unified diff @returns {HTMLElement} */
export function diffView(text) {
  const code = h("code");
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const head = line.startsWith("---") || line.startsWith("+++");
    const kind = head ? "file" : line.startsWith("@@") ? "hunk" : line[0] === "+" ? "add" : line[0] === "-" ? "del" : "same";
    code.append(h("span", { class: "line " + kind }, shown(line)));
  }
  return h("pre", { class: "diff", tabindex: "0", "aria-label": "The change as a diff" }, code);
}
