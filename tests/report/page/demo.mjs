// SPDX-License-Identifier: Apache-2.0
//
// demo.mjs PAGE: uses the report of the demo as a person does, with mouse and keyboard. Prints what it copied.
import { pathToFileURL } from "node:url";
import { equal, expect, withPage } from "./browser.mjs";

const url = pathToFileURL(process.argv[2]).href;

const copied = await withPage({}, async (page, events) => {
  await page.goto(url);
  // The overview, then a race.
  equal(await page.locator(".tile.destructive b").textContent(), "2", "destructive races in the overview");
  equal(await page.locator("#list li:visible").count(), 3, "findings in the list");
  await page.fill("#search", "no-harm point");
  equal(await page.locator("#list li:visible").count(), 1, "findings after a search");
  await page.fill("#search", "");
  await page.click("#verdicts .destructive");
  equal(await page.locator("#list li:visible").count(), 2, "findings of one verdict");
  await page.click("#verdicts .destructive");
  await page.click("#list li.destructive >> text=Point::x");
  equal(await page.locator("h2").textContent(), "Data race on Point::x", "title");
  expect(page.url().includes("#R-"), "the address names the race");

  // Both accesses in their source, with the line that matters.
  equal(await page.locator(".site").count(), 2, "accesses");
  const hits = await page.locator(".site .hit .words").allTextContents();
  expect(hits.some((line) => line.includes("x = 1.0")) && hits.some((line) => line.includes("get()->x")), `highlighted lines: ${hits}`);
  await page.click(".site .stack-box > summary >> nth=0");
  expect(await page.locator(".site >> nth=0 >> .stack li").first().isVisible(), "a stack that opens");

  // The interleaving: a lane per thread, the stale value with its arrow, step by step.
  await page.waitForSelector(".lanes .row");
  expect(await page.locator(".lane-name").count() >= 2, "lanes");
  const selected = () => page.locator(".row.selected .no").textContent();
  expect((await page.locator(".row.selected .cell").getAttribute("class")).includes("stale"), "it opens at the stale value");
  expect((await page.locator(".explain").textContent()).includes("stale: memory holds 1"), "what is stale is said in words");
  const start = Number(await selected());
  await page.click(".steps .back");
  equal(Number(await selected()), start - 1, "a step back");
  await page.click(".steps .forward");
  await page.locator(".lanes").focus();
  await page.keyboard.press("ArrowDown");
  equal(Number(await selected()), start + 1, "a step with the keyboard");
  await page.keyboard.press("Home");
  equal(Number(await selected()), 1, "the first step");
  let steps = 1;
  for (let last = 0; Number(await selected()) !== last; ++steps) {
    last = Number(await selected());
    await page.keyboard.press("ArrowDown");
  }
  expect((await page.locator(".row.selected").textContent()).includes("exit code 1"), "the last step is the failure");
  await page.keyboard.press("r");
  equal(Number(await selected()), start, "back to the replaced value");
  equal(await page.locator(".arrow.order").count(), 4, "arrows of what happens before: two creations, two joins");
  equal(await page.locator(".arrow.missed").count(), 1, "an arrow from the store that was not seen");

  // Rates, counterfactual; then the replay line.
  expect(await page.locator(".rates tbody tr").count() > 3, "rates for each model and heuristic");
  expect((await page.locator(".account").nth(1).textContent()).includes("schedules pass"), "the counterfactual");
  await page.click("#replay-line .copy");
  await page.waitForSelector("#replay-line .copy:has-text('Copied')");
  // Pasted where a person would see it.
  await page.fill("#search", "");
  await page.focus("#search");
  await page.keyboard.press("Control+V");
  const line = await page.inputValue("#search");
  await page.fill("#search", "");

  // Everything without a mouse: search, enter, next, back.
  await page.keyboard.press("Escape");
  await page.locator("#detail").focus();
  await page.keyboard.press("Escape");
  await page.waitForSelector(".overview");
  await page.keyboard.press("/");
  await page.keyboard.type("point::y");
  await page.keyboard.press("Enter");
  await page.waitForSelector("h2:has-text('Point::y')");
  await page.keyboard.press("t");
  expect(["dark", "light"].includes(await page.evaluate(() => document.documentElement.dataset.theme ?? "")), "a theme was chosen");
  await page.goBack();
  await page.waitForSelector(".overview");

  equal(events.errors.join("\n"), "", "errors in the page");
  equal(events.requests.join("\n"), "", "requests to anywhere");
  return line;
});
console.log(JSON.stringify({ copied }));
