// SPDX-License-Identifier: Apache-2.0
//
// sarif.mjs FILE...: holds each file to the published schema of SARIF 2.1.0.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const modules = process.env.DURESS_NODE_MODULES;
const require = createRequire(join(modules, "x.js"));
const Ajv = require("ajv").default;
const addFormats = require("ajv-formats").default ?? require("ajv-formats");
const schema = JSON.parse(readFileSync(join(modules, "schemastore/schemas/json/sarif-2.1.0.json"), "utf8"));

const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false });
addFormats(ajv);
const validate = ajv.compile(schema);
let failed = false;
for (const file of process.argv.slice(2)) {
  if (validate(JSON.parse(readFileSync(file, "utf8")))) continue;
  failed = true;
  for (const error of validate.errors.slice(0, 20)) console.error(`${file}: ${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`);
}
process.exit(failed ? 1 : 0);
