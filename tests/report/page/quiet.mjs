// SPDX-License-Identifier: Apache-2.0
//
// quiet.mjs PAGE: opens every finding; nothing may run, be fetched or go wrong.
import { pathToFileURL } from "node:url";
import { equal, expect, withPage } from "./browser.mjs";

await withPage({}, async (page, events) => {
  await page.goto(pathToFileURL(process.argv[2]).href);
  const count = await page.locator("#list a").count();
  expect(count > 0, "findings");
  for (let i = 0; i < count; ++i) {
    await page.locator("#list a").nth(i).click();
    await page.waitForSelector("article h2");
    if (await page.locator("#interleaving").count()) await page.waitForSelector(".lanes .row, #interleaving .missing");
    await page.evaluate(() => { for (const box of document.querySelectorAll("details")) box.open = true; });
    equal(await page.evaluate(() => window.hacked), undefined, "scripts that ran");
    equal(await page.locator("img, iframe, object, embed, link, form, base").count(), 0, "elements from names");
  }
  equal(events.dialogs.concat(events.requests, events.errors).join("\n"), "", "dialogs, requests, errors");
});
console.log("{}");
