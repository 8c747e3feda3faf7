#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`duress classify` on the papers' programs: the verdict of every variable is written in the program's head.

  // EXPECT-VERDICT: NAME VERDICT [FAILURE]        destructive, slower, same-value or no-harm-found; and how the witness
  of
                                                   a destructive one fails, alternatives separated by `|`
  // EXPECT-VERDICT-LATER: NAME VERDICT [FAILURE]  what the paper says and what no attack of today shows: either that,
  or
                                                   no harm found
  // CLASSIFY-OPTIONS: --tear 4        more options; --runs 30 and --seed 1 unless they say otherwise
  // CLASSIFY-ARGS: 4 100                   arguments of the program

A destructive one must have a counterfactual that passes, a witness that replays 20 of 20 times, and an id and a token
that show it again; the document must fit the schema. The fast suite has fewer runs of fewer programs. Advice, which takes
most of the time and is checked by use.py, is asked for only of the programs of the fast suite.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

ROOT = harness.ROOT

FAST = {"double_checked_locking", "figure3"}
VERDICTS = {"destructive", "no-harm-found", "slower", "same-value"}


def run(words):
    return subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def replays(duress, race, target, folder):
    """What is wrong with the replay of a destructive race; "" if nothing is."""
    evidence = race["evidence"]
    if evidence["counterfactual"]["failed"] or not evidence["counterfactual"]["runs"]:
        return f"the counterfactual fails too: {evidence}"
    if (evidence["replayed"], evidence["replays"]) != (20, 20):
        return f"replayed {evidence['replayed']} of {evidence['replays']}"
    ways = [[race["id"]]]
    if evidence["failure"] != "output":  # which output is wrong, only the record knows
        ways.append([evidence["replay"], "--", *target])
    for way in ways:
        what, *rest = way
        again = run([duress, "replay", what, "--times", "20", "--dir", folder, *rest])
        if again.returncode != 66 or "failed 20 of 20 times, in the same way 20 times" not in again.stderr:
            return f"{what} does not replay: {again.stderr[-500:]}"
    return ""


def expectations(source):
    """Of each variable the verdicts that are right, and how its witness fails (or None)."""
    expected = {}
    for later, name, verdict, failure in re.findall(
        r"^// EXPECT-VERDICT(-LATER)?: (\S+) (\S+)(?: (\S+))?$", source, re.M
    ):
        verdicts = {verdict, "no-harm-found"} if later else {verdict}
        expected[name] = verdicts, set(failure.split("|")) if failure else None
    return expected


def check_verdicts(races, expected):
    names = {race["variable"] for race in races}
    if names != set(expected):
        return f"races on {sorted(names)}, expected on {sorted(expected)}"
    for race in races:
        verdicts, failures = expected[race["variable"]]
        if race.get("verdict") not in verdicts:
            return f"{race['variable']}: {race.get('verdict')}, expected {sorted(verdicts)}: {race.get('evidence')}"
        if race["verdict"] == "destructive" and failures and race["evidence"]["failure"] not in failures:
            return f"{race['variable']} fails with {race['evidence']['failure']}, expected {sorted(failures)}"
    return ""


def check(program, suite, tool):
    source = program.read_text()
    statements = harness.Statements(source)
    expected = expectations(source)
    wrong = {verdict for verdicts, _ in expected.values() for verdict in verdicts} - VERDICTS
    if wrong:
        return f"no such verdict: {wrong}"
    duress = tool.duress
    target = [tool.compile(program), *harness.words(statements, "CLASSIFY-ARGS")]
    with tempfile.TemporaryDirectory() as folder:
        runs = "10" if suite == "fast" else "30"
        advice = [] if program.stem in FAST else ["--no-advice"]
        done = run(
            [
                duress,
                "classify",
                "-j",
                "1",
                "--seed",
                "1",
                "--json",
                *advice,
                "--dir",
                folder,
                *(harness.words(statements, "CLASSIFY-OPTIONS") or ["--runs", runs]),
                "--",
                *target,
            ]
        )
        if done.returncode not in (0, 66):
            return f"exit code {done.returncode}: {done.stdout[-2000:]} {done.stderr[-500:]}"
        document = harness.valid(json.loads(done.stdout))
        problem = check_verdicts(document["races"], expected)
        if problem:
            return problem
        wanted = 66 if any(race["verdict"] == "destructive" for race in document["races"]) else 0
        if done.returncode != wanted:
            return f"exit code {done.returncode}, expected {wanted}: {done.stderr[-500:]}"
        judged = set()
        for race in document["races"]:  # several of one variable share its witness
            if race["verdict"] != "destructive" or race["variable"] in judged:
                continue
            judged.add(race["variable"])
            problem = replays(duress, race, target, folder)
            if problem:
                return f"{race['variable']}: {problem}"
    return ""


def main():
    options = harness.parser(__doc__).parse_args()
    tool = harness.Tool(options.build, options.duress)
    programs = [p for p in sorted((ROOT / "examples").rglob("*.cc")) if "EXPECT-VERDICT" in p.read_text()]
    if options.suite == "fast":
        programs = [p for p in programs if p.stem in FAST]
    harness.report(
        (harness.case_of(p), lambda p=p: check(p, options.suite, tool))
        for p in harness.chosen(programs, options.programs)
    )


if __name__ == "__main__":
    main()
