// SPDX-License-Identifier: Apache-2.0
//
// picture.mjs PAGE FILE SELECTOR [first]: one part of a report as a picture; with "first" of its first finding, else of the overview.
import { pathToFileURL } from "node:url";
import { withPage } from "./browser.mjs";

const [page_file, file, selector, which] = process.argv.slice(2);
await withPage({ viewport: { width: 1200, height: 900 }, colorScheme: "light" }, async (page) => {
  await page.goto(pathToFileURL(page_file).href);
  if (which === "first") await page.locator("#list a").first().click();
  await page.locator(selector).screenshot({ path: file });
});
