// SPDX-License-Identifier: Apache-2.0
//
// big.mjs PAGE: 500 races of 10,000 events. Prints how long the first paint and the first interleaving took.
import { pathToFileURL } from "node:url";
import { equal, expect, withPage } from "./browser.mjs";

const url = pathToFileURL(process.argv[2]).href;

const times = await withPage({}, async (page, events) => {
  await page.goto(url, { waitUntil: "load" });
  const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? -1);
  equal(await page.locator("#count").textContent(), "500 findings", "findings");
  const before = Date.now();
  await page.click("#list a >> nth=0");
  await page.waitForSelector(".lanes .row");
  const opened = Date.now() - before;
  const rows = () => page.locator(".lanes .row").count();
  const position = await page.locator(".position").textContent();
  expect(/ of [\d,]+$/.test(position), `position: ${position}`);
  const total = Number(position.replace(/.* of |,/g, ""));
  equal(total, 10000, "steps");
  expect(await rows() < 100, `only rows in sight exist: ${await rows()}`);
  // To the end, by keyboard; the last row is there, the first is not.
  await page.locator(".lanes").focus();
  await page.keyboard.press("End");
  equal(await page.locator(".row.selected .no").textContent(), "10000", "the last step");
  expect(await rows() < 100, `still only rows in sight: ${await rows()}`);
  await page.locator(".lanes").evaluate((element) => { element.scrollTop = element.scrollHeight / 2; });
  // The frame after the one in which it scrolled.
  const numbers = await page.evaluate(async () => {
    for (let frame = 0; frame < 3; ++frame) await new Promise(requestAnimationFrame);
    return [...document.querySelectorAll(".row .no")].map((no) => Number(no.textContent));
  });
  expect(numbers.length > 10 && numbers.every((no) => no > 4900 && no < 5100), `rows of the middle: ${numbers}`);
  // Search among all of them.
  await page.fill("#search", "field_499");
  equal(await page.locator("#count").textContent(), "1 of 500 findings", "a search");
  equal(events.errors.join("\n"), "", "errors in the page");
  return { paint: Math.round(paint), opened };
});
console.log(JSON.stringify(times));
