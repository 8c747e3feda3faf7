// SPDX-License-Identifier: Apache-2.0
//
// The data of the page: a `duress/1` document, source lines, and lanes that are unpacked when they are wanted.

/**
 * @typedef {{function: string, file?: string, line?: number, column?: number, module?: string}} Frame
 * @typedef {{file: string, line: number, column?: number, function: string, access: string, frees?: boolean,
 *            size?: number, thread: number, thread_name?: string, locks?: string[], stack: Frame[]}} Site
 * @typedef {{model: string, heuristic?: string, policy?: string, strategy?: string, fair?: boolean, failed: number,
 *            runs: number, invalid?: number}} Rate
 * @typedef {{failure?: string, text?: string, model?: string, heuristic?: string, strategy?: string, policy?: string,
 *            work?: number, rates?: Rate[], rate?: {failed: number, runs: number}, switches?: number, replaced_values?: number,
 *            replayed?: number, replays?: number, interleaving?: string[]}} Evidence
 * @typedef {{text?: string, diff?: string, kind?: string, passed?: number, interleavings?: number, schedules?: number}} Fix
 * @typedef {{id: string, variable: string, kind: string, sites: Site[], found_by: string[], count?: number,
 *            confirmed?: boolean, verdict?: string, evidence?: Evidence, fix?: Fix, runs?: number, test?: string,
 *            baseline?: boolean, title?: string, account?: string[], threads?: {id: number, parent?: number, name?: string, stack: Frame[]}[],
 *            block?: {kind: string, name?: string, size?: number, offset?: number, thread?: number, stack?: Frame[]}}} Race
 * @typedef {{id: string, failure: string, text?: string, strategy?: string, model?: string, heuristic?: string,
 *            switches?: number, found_at_run?: number, file?: string, line?: number, column?: number, stderr?: string,
 *            stacks?: {thread: number, thread_name?: string, state?: string, operation?: string, object?: string,
 *                      held_by?: number[], stack: Frame[]}[],
 *            memory?: {variable?: string, access: Site, freed?: Site, block?: Race["block"]}}} Failure
 * @typedef {{replay: string, token: string, rule?: string, headline?: number, lanes?: number, events?: number,
 *            lack?: string}} Extra
 * @typedef {{missing?: string, lines?: Record<string, string>}} Source
 * @typedef {{command: string, version?: string, seed: number, target: string[], runs: number, seconds?: number,
 *            complete?: boolean, bound?: string, interleavings?: number, incomplete?: string[], suppressed?: number,
 *            advice?: Fix, summary?: Record<string, number>, races: Race[], failures: Failure[], coverage?: Coverage,
 *            cases?: {name: string, outcome: string, coverage?: {runs: number, pairs: number, both: number}}[]}} Document
 * @typedef {{file: string, line: number, column: number, function: string, operation: string, variable?: string}} CoveragePlace
 * @typedef {{kind: string, first: CoveragePlace, second: CoveragePlace, first_before_second: number, second_before_first: number,
 *            both: boolean, new_first_before_second?: boolean, new_second_before_first?: boolean}} CoveragePair
 * @typedef {{runs: number, both: number, kinds?: {kind: string, name: string, pairs: number, both: number}[], pairs: CoveragePair[],
 *            since_last?: {gained: number, lost: number}}} Coverage
 * @typedef {{document: Document, findings: Record<string, Extra>, sources: Record<string, Source>,
 *            editor?: string, folder?: string, comparison?: Comparison}} Data
 * @typedef {{id: string, title: string, variable?: string, verdict?: string, failure?: string, file?: string, line?: number,
 *            column?: number, changes?: {what: string, before: string, now: string}[]}} Compared
 * @typedef {{before: {file: string}, now: {file: string}, new: Compared[], changed: Compared[], gone: Compared[],
 *            unchanged: string[], notes: string[]}} Comparison
 *
 * @typedef {object} Finding
 * @property {string} id
 * @property {string} verdict a key of VERDICTS
 * @property {string} title
 * @property {string} subject the variable, or the failure
 * @property {string} place "file:line"
 * @property {Race | null} race its first pair of accesses
 * @property {Race[]} pairs the others
 * @property {Failure | null} failure
 * @property {Extra} extra
 * @property {string} text everything that a search looks at, in lower case
 *
 * @typedef {object} Lanes
 * @property {{id: number, name: string}[]} threads
 * @property {string[]} words
 * @property {[string, number][]} places
 * @property {number} skipped
 * @property {string} note
 * @property {string[]} [decided] where the values came from that the failing thread read last
 * @property {number} count
 * @property {number[]} thread -1: the whole program
 * @property {number[]} operation
 * @property {number[]} object
 * @property {number[]} value
 * @property {number[]} newest
 * @property {number[]} place
 * @property {number[]} how 0: as memory held it, 1: stale, 2: of the future
 * @property {number[]} from distance to the event that stored the value; 0: not known
 * @property {number[]} after distance to an event that happens before; 0: none
 */

/** The verdicts, the worst first, and what they are called. @type {Record<string, string>} */
export const VERDICTS = {
  destructive: "Destructive",
  failure: "Failure",
  slower: "Slower",
  race: "Race",
  "same-value": "Same value",
  "no-harm-found": "No harm found",
};

/** Models, and which value a load is given, in plain words. @type {Record<string, string>} */
const PLAIN_WORDS = {
  sc: "thread timing alone", stale: "old values", future: "future values", both: "old and future values", rc11: "C++ memory model",
  SequentiallyConsistent: "newest value", Oldest: "oldest value", OldestButDifferent: "oldest value that differs from the last one",
  All: "values that are stored later, for all loads", Selective: "values that are stored later, for some loads",
  PerSite: "values that are stored later, at one place", racefuzzer: "threads are held at the accesses",
  Random: "any allowed value", RandomButDifferent: "any allowed value that differs from the last one",
};

/** What a model, a heuristic or a strategy is called on the page; its own name where there are no plainer words. @param {string} name */
export function plainWords(name) {
  return PLAIN_WORDS[name] ?? name;
}

/** @template T @param {T[] | undefined} list @returns {T[]} */
function listed(list) {
  return Array.isArray(list) ? list : [];
}

/** @returns {Data} */
export function readData() {
  const block = document.getElementById("data");
  const data = JSON.parse(block?.textContent ?? "{}");
  data.document.races = listed(data.document.races);
  data.document.failures = listed(data.document.failures);
  data.document.target = listed(data.document.target).map(String);
  for (const race of data.document.races) {
    race.sites = listed(race.sites).filter((site) => site && typeof site === "object");
    race.found_by = listed(race.found_by);
    for (const site of race.sites) site.stack = listed(site.stack);
  }
  data.document.coverage = coverageIn(data.document.coverage);
  data.document.cases = listed(data.document.cases).filter((one) => one && typeof one === "object");
  return data;
}

/** The coverage, if it has the shape that it should have. @param {any} coverage @returns {Coverage | undefined} */
function coverageIn(coverage) {
  if (!coverage || typeof coverage !== "object" || typeof coverage.runs !== "number" || typeof coverage.both !== "number") return undefined;
  /** @param {any} place */
  const isPlace = (place) => typeof place?.file === "string" && typeof place.function === "string" && typeof place.operation === "string";
  const pairs = listed(coverage.pairs).filter((pair) => isPlace(pair?.first) && isPlace(pair.second) &&
    typeof pair.first_before_second === "number" && typeof pair.second_before_first === "number");
  const kinds = listed(coverage.kinds).filter((one) => typeof one?.name === "string");
  return { ...coverage, pairs, kinds };
}

/** @param {string | undefined} file @param {number | undefined} line */
function placeText(file, line) {
  return file ? `${file}${line ? ":" + line : ""}` : "";
}

/** @param {Race} race @param {Extra} extra @returns {Finding} */
function raceFinding(race, extra) {
  const verdict = race.verdict && race.verdict in VERDICTS ? race.verdict : "race";
  const site = race.sites[extra.headline ?? 0] ?? race.sites[0];
  const words = [race.id, race.variable, verdict, race.kind, race.test ?? "", race.evidence?.text ?? ""];
  for (const one of race.sites) words.push(placeText(one.file, one.line), one.function, ...one.stack.map((f) => f.function));
  return {
    id: race.id, verdict, title: race.title ?? `data race on ${race.variable}`, subject: race.variable,
    place: placeText(site?.file, site?.line), race, pairs: [], failure: null, extra, text: words.join("\n").toLowerCase(),
  };
}

/** @param {Failure} failure @param {Extra} extra @returns {Finding} */
function failureFinding(failure, extra) {
  const subject = failure.text || failure.failure;
  const words = [failure.id, subject, failure.failure, failure.file ?? "", failure.strategy ?? ""];
  for (const stack of listed(failure.stacks)) words.push(...listed(stack.stack).map((f) => f.function));
  return {
    id: failure.id, verdict: "failure", title: subject, subject, place: placeText(failure.file, failure.line),
    race: null, pairs: [], failure, extra, text: words.join("\n").toLowerCase(),
  };
}

/**
 * Every finding, the worst first. The pairs of accesses to one variable have one id and are one finding.
 * @param {Data} data
 * @returns {Finding[]}
 */
export function findingsOf(data) {
  /** @param {string} id @returns {Extra} */
  const extra = (id) => data.findings[id] ?? { replay: "", token: "" };
  /** @type {Map<string, Finding>} */
  const races = new Map();
  for (const race of data.document.races) {
    const finding = raceFinding(race, extra(race.id)), known = races.get(race.id);
    if (!known) races.set(race.id, finding);
    else known.pairs.push(race), known.text += "\n" + finding.text;
  }
  const all = [...races.values(), ...data.document.failures.map((failure) => failureFinding(failure, extra(failure.id)))];
  const order = Object.keys(VERDICTS);
  return all.map((finding, index) => ({ finding, index }))
    .sort((a, b) => order.indexOf(a.finding.verdict) - order.indexOf(b.finding.verdict) || a.index - b.index)
    .map((entry) => entry.finding);
}

/** @type {Map<number, Promise<Lanes>>} */
const unpacked = new Map();

/** Until the page is read to its end, a block may still come. */
function pageRead() {
  if (document.readyState !== "loading") return Promise.resolve();
  return new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve, { once: true }));
}

/** @param {number} index @returns {Promise<Lanes>} */
async function unpack(index) {
  await pageRead();
  const packed = atob(document.getElementById(`lanes-${index}`)?.textContent ?? "");
  const bytes = Uint8Array.from(packed, (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return expand(JSON.parse(await new Response(stream).text()));
}

/**
 * What lanes_columns() of src/report/lanes_json.cc left out because it follows from the rest.
 * @param {any} packed
 * @returns {Lanes}
 */
export function expand(packed) {
  /** @type {Lanes} */
  const lanes = { ...packed, operation: [], object: [], place: [] };
  /** @type {Map<number, number>} */
  const stored = new Map(), released = new Map();
  for (let i = 0; i < lanes.count; ++i) {
    const [operation, object, place] = packed.kinds[packed.kind[i]];
    lanes.operation.push(operation);
    lanes.object.push(object);
    lanes.place.push(place);
    const word = lanes.words[operation];
    const stores = word === "write" || word === "atomic write" || word === "atomic update";
    const loads = word === "read" || word === "atomic read" || word === "atomic update";
    const locks = word === "lock" || word === "read lock" || word === "acquire";
    const store = stored.get(object) ?? -1;
    let release = locks ? released.get(object) ?? -1 : -1;
    if (release >= 0 && lanes.thread[release] === lanes.thread[i]) release = -1;
    /** @param {number} code @param {number} usual */
    const distance = (code, usual) => code === 0 ? (usual < 0 ? 0 : i - usual) : code === 1 ? 0 : code / 2;
    lanes.from[i] = distance(lanes.from[i], loads ? store : -1);
    lanes.after[i] = distance(lanes.after[i], release);
    const source = stores ? store : lanes.how[i] === 0 && lanes.from[i] > 0 ? i - lanes.from[i] : -1;
    lanes.value[i] += source < 0 ? 0 : lanes.value[source];
    if (stores) stored.set(object, i);
    if (word === "unlock" || word === "post") released.set(object, i);
  }
  return lanes;
}

/** @param {number} index @returns {Promise<Lanes>} */
export function lanesAt(index) {
  let known = unpacked.get(index);
  if (!known) {
    known = unpack(index);
    unpacked.set(index, known);
    // Lanes of other findings can be made again; a page of 500 must not hold them all.
    if (unpacked.size > 8) unpacked.delete(unpacked.keys().next().value ?? -1);
  }
  return known;
}
