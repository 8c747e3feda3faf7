// SPDX-License-Identifier: Apache-2.0
//
// Starts Chromium for a test: from disk, without network, with a profile of its own.
import { createRequire } from "node:module";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const require = createRequire(join(process.env.DURESS_NODE_MODULES, "x.js"));
const { chromium } = require("playwright-core");

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"];

/**
 * Runs `body(page, events)` with a page of that size; `events` collects what must not happen.
 */
export async function withPage(options, body) {
  const profile = mkdtempSync(join(tmpdir(), "duress-chromium-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.DURESS_CHROMIUM || "/usr/bin/chromium", headless: true, args: FLAGS, viewport: { width: 1360, height: 900 },
    timeout: 120000, permissions: ["clipboard-read", "clipboard-write"], ...options,
  });
  try {
    const page = context.pages()[0] ?? await context.newPage();
    page.setDefaultTimeout(60000);
    const events = { errors: [], requests: [], dialogs: [] };
    page.on("pageerror", (error) => events.errors.push(String(error)));
    page.on("console", (message) => { if (message.type() === "error") events.errors.push(message.text()); });
    page.on("request", (request) => { if (!request.url().startsWith("file:") && !request.url().startsWith("blob:")) events.requests.push(request.url()); });
    page.on("dialog", (dialog) => { events.dialogs.push(dialog.message()); dialog.dismiss(); });
    return await body(page, events);
  } finally {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  }
}

/** Ends the test with a word if `condition` does not hold. */
export function expect(condition, what) {
  if (!condition) throw new Error(`expected: ${what}`);
}

export function equal(got, wanted, what) {
  if (got !== wanted) throw new Error(`${what}: got ${JSON.stringify(got)}, wanted ${JSON.stringify(wanted)}`);
}
