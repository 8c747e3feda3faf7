// SPDX-License-Identifier: Apache-2.0
//
// text.mjs PAGE: what a page of --html says, as JSON. Its script runs on the few parts of the DOM that it needs: this takes a tenth
// of a second, no browser and no package. How the page looks and behaves is tested in Chromium (pages.py).
import { readFileSync } from "node:fs";

class Element {
  constructor(tag) {
    this.tag = tag;
    this.children = [];
    this.attributes = {};
    this.style = {};
    this.dataset = {};
    this.value = "";
    this.classList = { toggle() {}, add() {}, remove() {} };
  }
  append(...nodes) { for (const node of nodes) if (node !== "") this.children.push(node); }
  replaceChildren(...nodes) { this.children = []; this.append(...nodes); }
  replaceWith() {}
  setAttribute(name, value) { this.attributes[name] = value; }
  getAttribute(name) { return this.attributes[name] ?? null; }
  removeAttribute(name) { delete this.attributes[name]; }
  addEventListener() {}
  focus() {}
  scrollIntoView() {}
  matches() { return false; }
  querySelector() { return null; }
  querySelectorAll() { return []; }
  get firstChild() { return this.children[0]; }
  get childElementCount() { return this.children.length; }
  get textContent() { return this.children.map((child) => typeof child === "string" ? child : child.textContent).join(""); }
  set textContent(text) { this.children = [text]; }
  is(name) { return (this.attributes.class ?? "").split(" ").includes(name); }
  /** Elements of that class below this one. */
  all(name) {
    return this.children.flatMap((child) => typeof child === "string" ? [] : [...(child.is(name) ? [child] : []), ...child.all(name)]);
  }
  /** Text with a space between elements, without elements of that class. */
  words(without) {
    return this.children.map((child) => typeof child === "string" ? child : child.is(without) ? "" : child.words(without)).join(" ");
  }
}

const page = readFileSync(process.argv[2], "utf8");
const data = page.match(/<script type="application\/json" id="data">(.*?)<\/script>/s)[1];
const script = page.match(/<script>(.*?)<\/script>/s)[1];
const ids = {}, listeners = {};
for (const [, id] of page.matchAll(/ id="([\w-]+)"/g)) ids[id] = new Element("div");
ids.data.textContent = data;
const location = { hash: "", pathname: "/", search: "" };
const fake = {
  document: {
    readyState: "complete", documentElement: new Element("html"), body: new Element("body"), title: "",
    getElementById: (id) => ids[id] ?? null, createElement: (tag) => new Element(tag), createElementNS: (_, tag) => new Element(tag),
    addEventListener() {},
  },
  window: { addEventListener: (name, listener) => { listeners[name] = listener; }, scrollTo() {} },
  location, history: { pushState() {} }, localStorage: { getItem: () => null }, matchMedia: () => ({ matches: false }), navigator: {},
};
new Function(...Object.keys(fake), script)(...Object.values(fake));

/** What the page shows of one finding, the table of rates apart. */
function shown(id) {
  location.hash = "#" + encodeURIComponent(id);
  listeners.hashchange();
  const rows = ids.detail.all("rates").flatMap((table) => table.all("amount")).map((cell) => cell.textContent);
  return { text: ids.detail.words("rates"), rates: rows };
}

const tiles = {};
for (const tile of ids.detail.all("tile")) tiles[tile.children[1].textContent] = Number(tile.children[0].textContent);
const document = JSON.parse(data).document;
const result = { document, overview: ids.detail.words(), facts: ids.facts.textContent, count: ids.count.textContent, tiles, findings: {} };
for (const finding of [...document.races, ...document.failures]) result.findings[finding.id] = shown(finding.id);
console.log(JSON.stringify(result));
