// SPDX-License-Identifier: Apache-2.0
//
// coverage.mjs PAGE EXPECTED: a page with more pairs than are shown at first; the counts are the document's.
import { pathToFileURL } from "node:url";
import { equal, expect, withPage } from "./browser.mjs";

const url = pathToFileURL(process.argv[2]).href, expected = JSON.parse(process.argv[3]);

for (const width of [1360, 390]) {
  await withPage({ viewport: { width, height: 900 } }, async (page, events) => {
    await page.goto(url);
    const kinds = await page.locator("#coverage table").first().locator("tbody tr").evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent.trim()).join("|")));
    equal(kinds.join("\n"), expected.kinds.join("\n"), "pairs of each kind");
    expect((await page.locator("#coverage .since-last").textContent()).startsWith("Since the last campaign: "), "the delta");
    const rows = page.locator("#coverage .one-order tbody tr");
    equal(await rows.count(), 50, "rows at first");
    await page.locator("#coverage .one-order button").click();
    equal(await rows.count(), expected.single, "all rows");
    expect((await rows.first().textContent()).includes("atomic write flag"), "operation and variable");
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), `no sideways scrolling of the page at ${width}`);
    equal(events.errors.concat(events.requests).join("\n"), "", "errors and requests");
  });
}
console.log("{}");
