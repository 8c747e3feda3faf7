// SPDX-License-Identifier: Apache-2.0
//
// Makes elements. What comes from a target is only ever a text node or the value of a plain attribute.

/** @typedef {Node | string | null | undefined | false} Child */
/** @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} Props */

const SVG = "http://www.w3.org/2000/svg";

/**
 * @param {Element} element
 * @param {Props} props
 */
function apply(element, props) {
  for (const [key, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(key, value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
}

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Props} [props] functions are listeners, the rest attributes
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  apply(element, props);
  for (const child of children) {
    if (child) element.append(child);
  }
  return element;
}

/**
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Props} [props]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[T]}
 */
export function svg(tag, props = {}, ...children) {
  const element = /** @type {SVGElementTagNameMap[T]} */ (document.createElementNS(SVG, tag));
  apply(element, props);
  for (const child of children) {
    if (child) element.append(child);
  }
  return element;
}

/** A part of the page with a heading. @param {string} title @param {string} id @param {...Child} children */
export function section(title, id, ...children) {
  return h("section", { class: "part", id, "aria-label": title }, h("h3", {}, title), ...children);
}

/**
 * The element of that id, which the page has.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function by(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`no element ${id}`);
  return element;
}

/** @param {number} count @param {string} word */
export function plural(count, word) {
  return `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
}

/** @param {string} path */
export function baseName(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}

const REVERSING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/**
 * Text of the target as it can be shown: what is invisible or turns the direction of writing becomes visible.
 * @param {string} text
 * @param {number} [most] characters
 */
export function shown(text, most = 2000) {
  const cut = text.length > most ? text.slice(0, most) + " …" : text;
  return cut.replace(REVERSING, (c) => "\\u{" + c.charCodeAt(0).toString(16) + "}");
}

/**
 * A button that puts `text` on the clipboard.
 * @param {string} text
 * @param {string} label
 */
export function copyButton(text, label) {
  const button = h("button", { type: "button", class: "copy", "aria-label": label, title: label }, "Copy");
  button.addEventListener("click", async () => {
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // An insecure page, or an old browser.
      const area = h("textarea", { class: "offscreen", readonly: true });
      area.value = text;
      document.body.append(area);
      area.select();
      done = document.execCommand("copy");
      area.remove();
    }
    button.textContent = done ? "Copied" : "Press Ctrl+C";
    button.classList.toggle("done", done);
  });
  // It says so until somebody turns to something else.
  for (const leaving of ["blur", "pointerleave"]) {
    button.addEventListener(leaving, () => {
      button.textContent = "Copy";
      button.classList.remove("done");
    });
  }
  return button;
}
