// SPDX-License-Identifier: Apache-2.0
//
// comparison.mjs PAGE: the report of the demo, compared with an older one: Point::y is new, Point::z is gone, the others were judged.
import { pathToFileURL } from "node:url";
import { equal, expect, withPage } from "./browser.mjs";

const url = pathToFileURL(process.argv[2]).href;

await withPage({}, async (page, events) => {
  await page.goto(url);
  const rows = await page.locator("#comparison tbody tr").evaluateAll((all) => all.map((row) => [...row.children].slice(0, 2).map((cell) => cell.textContent)));
  equal(rows[0].join("|"), "new|Point::y", "what is new");
  expect(rows.some(([kind, name]) => kind === "changed" && name === "Point::xverdict: not judged → destructive"), `what changed: ${JSON.stringify(rows)}`);
  equal(rows.at(-1).join("|"), "gone|Point::z", "what is gone");
  expect((await page.locator("#comparison").textContent()).includes("1 new, 2 changed, 1 gone, 0 findings unchanged"), "the counts");
  expect((await page.locator("#comparison .hint").textContent()).includes("duress run ./point before, duress classify ./point now"), "that the campaigns differ");
  equal(await page.locator("#list .since-new").count(), 1, "marks in the list");
  await page.locator("#comparison a >> text=Point::y").click();
  await page.waitForSelector("h2:has-text('Point::y')");
  expect((await page.locator(".since").textContent()).startsWith("new since"), "the mark of the finding");
  equal(await page.locator("a.open").count(), 0, "links, with --editor none");
  equal(events.errors.concat(events.requests).join("\n"), "", "errors and requests");
});
console.log("{}");
