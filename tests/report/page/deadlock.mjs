// SPDX-License-Identifier: Apache-2.0
//
// deadlock.mjs PAGE FOLDER: the report of two threads that lock two mutexes in different orders; the program's source is in FOLDER.
import { pathToFileURL } from "node:url";
import { equal, expect, withPage } from "./browser.mjs";

const url = pathToFileURL(process.argv[2]).href, folder = process.argv[3];

for (const screen of [{}, { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }]) {
  await withPage(screen, async (page, events) => {
    await page.goto(url);
    await page.locator("#list a").first().click();
    await page.waitForSelector("#waiting .cycle");
    const texts = async (kind) => (await page.locator(`.cycle ${kind} text`).allTextContents()).sort().join(" ");
    equal(await texts(".node.thread"), "T1 T2 abba.cc:5 abba.cc:6", "threads of the cycle, and where they wait");
    equal(await texts(".node.lock"), "accounts journal", "locks of the cycle");
    equal(await texts(".edge"), "held by held by waits for waits for", "arrows");
    const label = await page.locator(".cycle").getAttribute("aria-label");
    expect(/T1 waits in lock journal/.test(label) && /T2 waits in lock accounts/.test(label), `the cycle in words: ${label}`);
    // Every box is within what can be seen without scrolling sideways.
    const outside = await page.evaluate(() => [...document.querySelectorAll(".cycle rect")].filter((box) => box.getBoundingClientRect().left < 0 || box.getBoundingClientRect().right > window.innerWidth).length);
    equal(outside, 0, "boxes out of sight");
    const links = await page.locator("#waiting a.open").evaluateAll((all) => all.map((link) => link.getAttribute("href")));
    expect(links.includes(`vscode://file${folder}/abba.cc:5:64`), `links that open the editor: ${links}`);
    equal(events.errors.concat(events.requests).join("\n"), "", "errors and requests");
  });
}
console.log("{}");
