// SPDX-License-Identifier: Apache-2.0
//
// roundtrip.mjs PAGE DOCUMENT: the lanes that the page's script unpacks are those of `duress report --json`.
import { readFileSync } from "node:fs";
import { inflateSync } from "node:zlib";
import { expand } from "../../../src/report/html/model.js";
import { equal, expect } from "./browser.mjs";

const page = readFileSync(process.argv[2], "utf8"), wanted = JSON.parse(readFileSync(process.argv[3], "utf8"));
const data = JSON.parse(/id="data">(.*?)<\/script>/s.exec(page)[1]);
let compared = 0;
for (const finding of [...wanted.races, ...wanted.failures]) {
  if (typeof finding.lanes !== "object") continue;
  const block = new RegExp(`id="lanes-${data.findings[finding.id].lanes}">([^<]*)<`).exec(page)[1];
  const lanes = expand(JSON.parse(inflateSync(Buffer.from(block, "base64")).toString()));
  equal(lanes.count, finding.lanes.events.length, "events");
  finding.lanes.events.forEach((event, i) => {
    const got = {}, put = (key, value) => { if (value !== "" && value !== undefined) got[key] = value; };
    put("thread", lanes.threads[lanes.thread[i]]?.id);
    got.operation = lanes.words[lanes.operation[i]];
    put("object", lanes.words[lanes.object[i]]);
    put("value", lanes.words[lanes.value[i]]);
    if (lanes.how[i]) [got.how, got.newest] = [["", "stale", "future"][lanes.how[i]], lanes.words[lanes.newest[i]]];
    if (lanes.place[i]) [got.file, got.line] = lanes.places[lanes.place[i]];
    if (lanes.from[i]) got.from = i - lanes.from[i];
    if (lanes.after[i]) got.after = i - lanes.after[i];
    equal(JSON.stringify(got), JSON.stringify(event), `event ${i} of ${finding.id}`);
    ++compared;
  });
}
expect(compared > 0, "lanes");
console.log(JSON.stringify({ compared }));
