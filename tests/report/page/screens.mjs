// SPDX-License-Identifier: Apache-2.0
//
// screens.mjs PAGE FOLDER [SEARCH]: pictures of a report at the widths of a desktop and a phone.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { withPage } from "./browser.mjs";

const url = pathToFileURL(process.argv[2]).href, folder = process.argv[3], wanted = process.argv[4] ?? "";

async function open(page) {
  await page.goto(url);
  if (wanted) await page.fill("#search", wanted);
  await page.locator("#list li:visible a").first().click();
  if (wanted) await page.evaluate(() => { const box = document.getElementById("search"); box.value = ""; box.dispatchEvent(new Event("input")); });
  await page.waitForTimeout(300);
}

await withPage({ viewport: { width: 1360, height: 900 }, colorScheme: "light" }, async (page) => {
  await page.goto(url);
  await page.screenshot({ path: join(folder, "report-overview.png") });
  await open(page);
  await page.screenshot({ path: join(folder, "report-race.png") });
  await page.locator("#interleaving").scrollIntoViewIfNeeded().catch(() => {});
  await page.screenshot({ path: join(folder, "report-lanes.png") });
  await page.evaluate(() => { document.getElementById("detail").scrollTop = 1e6; });
  await page.screenshot({ path: join(folder, "report-rates.png") });
  await page.pdf({ path: join(folder, "report.pdf") }).catch(() => {});
});
await withPage({ viewport: { width: 1360, height: 900 }, colorScheme: "dark" }, async (page) => {
  await open(page);
  await page.locator("#interleaving").scrollIntoViewIfNeeded().catch(() => {});
  await page.screenshot({ path: join(folder, "report-dark.png") });
});
await withPage({ viewport: { width: 390, height: 844 }, colorScheme: "light", isMobile: true, hasTouch: true }, async (page) => {
  await page.goto(url);
  await page.screenshot({ path: join(folder, "report-phone-list.png") });
  await open(page);
  await page.screenshot({ path: join(folder, "report-phone.png") });
  await page.locator("#interleaving").scrollIntoViewIfNeeded().catch(() => {});
  await page.screenshot({ path: join(folder, "report-phone-lanes.png") });
});
