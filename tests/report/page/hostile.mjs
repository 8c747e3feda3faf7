// SPDX-License-Identifier: Apache-2.0
//
// hostile.mjs PAGE: names that try to be markup, scripts and styles stay text; nothing runs, nothing is fetched.
import { pathToFileURL } from "node:url";
import { equal, expect, withPage } from "./browser.mjs";

const url = pathToFileURL(process.argv[2]).href;

await withPage({}, async (page, events) => {
  await page.goto(url);
  const count = await page.locator("#list a").count();
  expect(count >= 3, "findings");
  for (let i = 0; i < count; ++i) {
    await page.locator("#list a").nth(i).click();
    await page.waitForSelector("article h2");
    if (await page.locator("#interleaving").count()) {
      await page.waitForSelector(".lanes .row, #interleaving .missing, #interleaving .text");
      for (const key of ["Home", "ArrowDown", "End"]) {
        if (await page.locator(".lanes").count()) await page.locator(".lanes").press(key);
      }
    }
    for (const box of await page.locator("details > summary").all()) await box.click();
    equal(await page.evaluate(() => window.hacked), undefined, "scripts that ran");
    // Everything on the page was made by our script: no element of the target's making.
    equal(await page.locator("img, iframe, object, embed, link, form, base, [onerror], [onclick], [onload]").count(), 0, "elements from names");
    const width = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(width <= 0, `a long name makes the page wider: ${width}`);
  }
  const text = await page.evaluate(() => document.body.innerText);
  expect(!/[\u0000-\u0008\u000e-\u001f\u202a-\u202e]/.test(text), "control characters are made visible");
  expect(await page.locator("text=<script>window.hacked").count() > 0, "names are shown as they are");
  expect(await page.locator(".missing").count() > 0, "a source that is not there is said");
  equal(events.dialogs.join("\n"), "", "dialogs");
  equal(events.requests.join("\n"), "", "requests to anywhere");
  equal(events.errors.join("\n"), "", "errors in the page");
});
console.log("{}");
