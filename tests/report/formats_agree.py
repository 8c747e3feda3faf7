#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every format says the same: for each program one command writes text, JSON, HTML, SARIF, JUnit and Perfetto at once, and this
compares what a reader finds in them: races (counted by variable), their pairs, verdicts, each "N of M", failures, runs.

Numbers are compared as they are printed, so it does not matter which sentence holds them. The page is read with its own script
(page/text.mjs). The numbers of the JSON document are held against its own lists.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

ROOT = harness.ROOT
PAGE = ROOT / "tests/report/page/text.mjs"
CASES = {
    "classify": [
        "examples/jumble/double_checked_locking.cc",
        "examples/jumble/racy_initialisation.cc",
        "examples/jumble/read_then_write.cc",
        "examples/patterns/ring_buffer.cc",
        "examples/patterns/withdraw.cc",
        "examples/pm/figure1.cc",
        "examples/pm/figure11.cc",
        "examples/racefuzzer/cache4j.cc",
        "examples/racefuzzer/figure1.cc",
        "examples/tutorial/bank.cc",
        "tests/report/formats/pool.cc",
    ],
    "explore": [
        "tests/explore/programs/abba.cc",
        "tests/explore/programs/account.cc",
        "tests/explore/programs/lost_wakeup.cc",
    ],
    "verify": [
        "tests/report/formats/late_reader.cc",
        "tests/verify/programs/deadlock.cc",
        "tests/verify/programs/lost_update.cc",
        "tests/verify/programs/two_statements.cc",
    ],
    "run": ["tests/programs/racy/same_sites_two_variables.cc", "tests/programs/racy/types.cc"],
    "test": ["examples/fit/cache_test.cc"],
}
OPTIONS = {
    "classify": ["--runs", "10", "--no-advice"],
    "explore": ["--runs", "200", "--keep-going"],
    "test": ["--runs", "10"],
}
NUMBER = r"(\d[\d,]*)"
# What is said about how often something happens. `replayed N of N` is one of these.
CLAIMS = re.compile(
    rf"{NUMBER} of {NUMBER}|\bin (all )?{NUMBER} runs?\b|the same {NUMBER} schedules|([\d.]+) times the work"
)
COUNT = r"(?P<races>\d+) (?:data )?races?(?: \((?P<pairs>\d+) pairs of accesses\))?"


def claims(text):
    return {re.sub(r"[, ]+", " ", match[0].replace(",", "")).strip() for match in CLAIMS.finditer(text)}


def same(what, expected, **found):
    for name, value in found.items():
        harness.expect(value == expected, f"{what}: {name} has {value}, the document {expected}")


class Outputs:
    """Everything that one command wrote."""

    def __init__(self, tool, command, words, folder):
        files = {name: folder / f"out.{name}" for name in ("json", "html", "sarif", "junit", "perfetto")}
        options = [
            f"--json={files['json']}",
            *(word for name in list(files)[1:] for word in (f"--{name}", files[name])),
        ]
        line = [tool.duress, command, "--seed", "1", *OPTIONS.get(command, []), "--dir", folder / "d", *options, *words]
        code, out, err = tool.run(line, folder)
        harness.expect(code in (0, 1, 66), f"exit code {code}: {err.decode()}")
        self.text = out.decode() + err.decode()
        self.command = command
        self.json = harness.valid(json.loads(files["json"].read_text()))
        page = subprocess.run(["node", PAGE, files["html"]], capture_output=True, text=True, check=True)
        self.page = json.loads(page.stdout)
        self.sarif = json.loads(files["sarif"].read_text())["runs"][0]
        self.junit = xml.etree.ElementTree.parse(files["junit"]).getroot()
        self.perfetto = json.loads(files["perfetto"].read_text())
        self.races = collections.defaultdict(list)  # pairs by variable
        for race in self.json["races"]:
            self.races[race["variable"]].append(race)
        self.failures = {failure["id"] for failure in self.json.get("failures", [])}

    def about(self, variable):
        """What each format says of a race, as text."""
        ids = [race["id"] for race in self.races[variable]]
        found = [r for r in self.sarif["results"] if r["partialFingerprints"]["duressId/v1"] in ids]
        harness.expect(len(found) == 1, f"SARIF has {len(found)} results for {variable}, one race")
        cases = [case for case in self.junit.iter("testcase") if any(f"[{i}]" in case.get("name") for i in ids)]
        harness.expect(len(cases) == 1, f"JUnit has {len(cases)} cases for {variable}, one race")
        blocks = re.split(r"^(?=\S.*: (?:error|warning): |duress: )", self.text, flags=re.M)
        text = "\n".join(block for block in blocks if any(f"[{i}]" in block for i in ids))
        return {
            **({"text": text} if self.command != "explore" else {}),  # its text is about failures
            "sarif": found[0]["message"]["text"],
            "junit": "\n".join(
                [cases[0].get("name"), *(node.get("message", "") + "\n" + (node.text or "") for node in cases[0])]
            ),
            "html": "\n".join(self.page["findings"][i]["text"] for i in ids),
        }


def check_race(outputs, variable):
    pairs = outputs.races[variable]
    said = outputs.about(variable)
    verdicts = {race.get("verdict") for race in pairs}
    harness.expect(len(verdicts) == 1, f"{variable} has verdicts {verdicts}")
    for name, text in said.items():
        for race in pairs:
            harness.expect(race["id"] in text, f"{name} does not list {race['id']} below {variable}:\n{text}")
        if outputs.command in ("classify", "test"):
            harness.expect(
                ("DESTRUCTIVE" in text) == (verdicts == {"destructive"}), f"{name} on {variable}, {verdicts}:\n{text}"
            )
    found = {name: claims(text) for name, text in said.items()}
    same(f"{variable}: rates", found["sarif"], **found)
    for race in pairs:
        evidence = race.get("evidence", {})
        rows = [
            f"{r['failed']:,} of {r['runs']:,}" for r in evidence.get("rates", []) if r["runs"] + r.get("invalid", 0)
        ]
        same(f"{race['id']}: table of rates", rows, html=outputs.page["findings"][race["id"]]["rates"])
        rates = [evidence[key] for key in ("rate", "charged", "counterfactual") if key in evidence]
        known = {f"{rate['failed']} of {rate['runs']}" for rate in rates}
        known |= {f"{evidence['replayed']} of {evidence['replays']}"} if "replays" in evidence else set()
        known |= {f"{race['executions']} of {outputs.json['interleavings']}"} if "executions" in race else set()
        unknown = {claim for claim in found["sarif"] if " of " in claim} - known
        harness.expect(not unknown, f"{race['id']}: {unknown} is not in the document, which has {known}")


def check_counts(outputs):
    document, page, races = outputs.json, outputs.page, outputs.races
    summary = document["summary"]
    by_verdict = collections.Counter(pairs[0].get("verdict", "not-judged") for pairs in races.values())
    expected = {"races": len(races), "pairs": len(document["races"]), "failures": len(outputs.failures)}
    same("summary", expected, json={key: summary[key] for key in expected})
    same("page", document, html={key: value for key, value in page["document"].items() if key in document})
    runs = document.get("interleavings", document["runs"])
    line = outputs.text.replace(",", "")
    if outputs.command != "explore":
        match = re.search(COUNT, line) if races else None
        found = (int(match["races"]), int(match["pairs"] or match["races"])) if match else (0, 0)
        same("counts", (expected["races"], expected["pairs"]), text=found)
        header = re.search(COUNT, page["facts"])
        same(
            "counts",
            (expected["races"], expected["pairs"]),
            html=(int(header["races"]), int(header["pairs"] or header["races"])),
        )
    if outputs.command in ("classify", "test"):
        same(
            "destructive", by_verdict["destructive"], text=int(re.search(r"(\d+) destructive", line)[1]) if races else 0
        )
    if outputs.command != "run":
        same("runs", True, text=re.search(rf"\b{runs} (runs?|interleavings?)\b", line) is not None)
    same(
        "runs", True, html=re.search(rf"\b{runs} (runs?|interleavings?)\b", page["facts"].replace(",", "")) is not None
    )
    names = {
        "destructive": "Destructive",
        "slower": "Slower",
        "same-value": "Same value",
        "no-harm-found": "No harm found",
        "not-judged": "Race",
    }
    tiles = {names[verdict]: count for verdict, count in by_verdict.items()} | (
        {"Failure": len(outputs.failures)} if outputs.failures else {}
    )
    same("tiles", tiles, html=page["tiles"])
    results = collections.Counter("failure" if r["ruleId"] == "failure" else "race" for r in outputs.sarif["results"])
    same("results", (len(races), len(outputs.failures)), sarif=(results["race"], results["failure"]))
    same("summary", summary, sarif=outputs.sarif["properties"]["summary"])
    cases = [case for case in outputs.junit.iter("testcase") if case.get("name") != "no finding"]
    without = sum(not case.get("races") for case in outputs.json.get("cases", []))  # JUnit has these by their own names
    same("cases", len(races) + len(outputs.failures) + without, junit=len(cases))
    properties = {p.get("name"): p.get("value") for p in outputs.junit.iter("property")}
    same("summary", {key: str(value) for key, value in summary.items()}, junit=properties)


def check_texts(outputs):
    for name, text in (
        ("text", outputs.text),
        ("html", outputs.page["overview"]),
        ("sarif", json.dumps(outputs.sarif, ensure_ascii=False)),
    ):
        share = re.search(r"\d+ %", text)
        harness.expect(share is None, f"{name} has a share that nobody can check: {share}")
    titles = {race["id"]: race["title"] for race in reversed(outputs.json["races"])}  # of the first pair
    for event in outputs.perfetto["traceEvents"]:
        if event["name"] == "process_name":
            identifier, title = event["args"]["name"].split(" ", 1)
            same("title", titles.get(identifier, title), perfetto=title)
    for failure in outputs.json.get("failures", []):
        harness.expect(failure["id"] in outputs.text, f"text does not have {failure['id']}")
        harness.expect(failure["id"] in outputs.page["findings"], f"html does not have {failure['id']}")


def check_memory(outputs):
    """Of a memory error every format shows the stacks of the use, the free and the allocation."""
    for failure in outputs.json.get("failures", []):
        memory = failure.get("memory")
        if not memory:
            continue
        page = outputs.page["findings"][failure["id"]]["text"]
        result = [r for r in outputs.sarif["results"] if r["partialFingerprints"]["duressId/v1"] == failure["id"]][0]
        stacks = [stack["message"]["text"] for stack in result["stacks"]]
        for word, part in (("freed", memory.get("freed")), ("allocated", memory["block"])):
            if not part or not part.get("stack"):
                continue
            words = f"{word} by T{part['thread']}"
            harness.expect(words in outputs.text, f"text does not have '{words}'")
            harness.expect(words in stacks, f"sarif does not have '{words}' but {stacks}")
            harness.expect(words[0].upper() + words[1:] in page, f"html does not have '{words}': {page}")


def words_for(command, source, tool, folder):
    if command != "test":
        return ["--", tool.compile(source)]
    binary = tool.compile(source, flags=("-lgtest", "-lgtest_main"))
    (folder / "CTestTestfile.cmake").write_text(f'add_test(cache "{binary}")\n')
    return [folder]


def check(source, tool):
    command = next(name for name, sources in CASES.items() if str(source.relative_to(ROOT)) in sources)
    with tempfile.TemporaryDirectory(prefix="duress-formats-") as scratch:
        folder = pathlib.Path(scratch)
        outputs = Outputs(tool, command, words_for(command, source, tool, folder), folder)
    check_counts(outputs)
    check_texts(outputs)
    check_memory(outputs)
    for variable in outputs.races:
        check_race(outputs, variable)
    return ""


def main():
    options = harness.parser(__doc__).parse_args()
    tool = harness.Tool(options.build, options.duress)
    programs = [ROOT / source for sources in CASES.values() for source in sources]
    harness.report((harness.case_of(p), lambda p=p: check(p, tool)) for p in harness.chosen(programs, options.programs))


if __name__ == "__main__":
    main()
