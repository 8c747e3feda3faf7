// SPDX-License-Identifier: Apache-2.0
//
// axe.mjs PAGE...: the overview and every kind of finding of each page, held to all rules of axe-core: on a desktop in light colours, on a phone
// in dark ones. Prints how many views were looked at.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, withPage } from "./browser.mjs";

const source = readFileSync(join(process.env.DURESS_NODE_MODULES, "axe-core/axe.min.js"), "utf8");
const SCREENS = [
  { viewport: { width: 1360, height: 900 }, colorScheme: "light" },
  { viewport: { width: 390, height: 844 }, colorScheme: "dark", isMobile: true, hasTouch: true },
];
const problems = [];
let views = 0;

/** What axe finds fault with in what is shown now. */
async function violations(page) {
  const found = await page.evaluate(async () => (await window.axe.run(document, { resultTypes: ["violations"] })).violations
    .map((rule) => `${rule.id}: ${rule.help}\n` + rule.nodes.slice(0, 5).map((node) => `    ${node.html.slice(0, 200)}\n    ${node.failureSummary}`).join("\n")));
  ++views;
  return found;
}

for (const file of process.argv.slice(2)) {
  for (const screen of SCREENS) {
    await withPage(screen, async (page) => {
      await page.goto(pathToFileURL(file).href);
      await page.evaluate(source);
      const check = async (what) => {
        for (const found of await violations(page)) problems.push(`${file}, ${what}, ${screen.viewport.width} wide, ${screen.colorScheme}: ${found}`);
      };
      await check("the overview");
      const ids = await page.evaluate(() => {
        const first = new Map();  // of each verdict
        for (const item of document.querySelectorAll("#list li")) if (!first.has(item.className)) first.set(item.className, item.querySelector("a").dataset.id);
        return [...first.values()];
      });
      for (const id of ids) {
        await page.evaluate((wanted) => { location.hash = "#" + encodeURIComponent(wanted); }, id);
        await page.waitForSelector(`article .id:has-text("${id}")`);
        if (await page.locator("#interleaving").count()) await page.waitForSelector(".lanes .row, #interleaving .missing, #interleaving .text");
        await page.evaluate(() => { for (const box of document.querySelectorAll("details")) box.open = true; });
        await check(id);
      }
    });
  }
}
expect(problems.length === 0, `no violations:\n${problems.join("\n")}`);
console.log(JSON.stringify({ views }));
