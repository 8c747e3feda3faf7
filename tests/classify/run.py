#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`duress classify` on the papers' programs: the verdict of every variable is written in the program's head.

  // EXPECT-VERDICT: NAME destructive | no-harm-found | slower | same-value
  // CLASSIFY-OPTIONS: --tear 4        more options; --runs 30 and --seed 1 unless they say otherwise
  // RUN-ARGS: 4 100                   arguments of the program

A destructive one must have a counterfactual that passes, a witness that replays 20 of 20 times, and an id and a token
that show it again; the document must fit the schema. The fast suite has fewer runs of fewer programs.
"""
import argparse
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FAST = {"double_checked_locking", "figure3"}
VERDICTS = {"destructive", "no-harm-found", "slower", "same-value"}


def run(words):
    return subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def words_of(source, key):
    return [word for value in re.findall(rf"^// {key}: (.*)$", source, re.M)[:1] for word in shlex.split(value)]


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


def check(program, options, out):
    source = program.read_text()
    expected = dict(re.findall(r"^// EXPECT-VERDICT: (.+) (\S+)$", source, re.M))
    if set(expected.values()) - VERDICTS:
        return f"no such verdict: {set(expected.values()) - VERDICTS}"
    binary = out / program.stem
    duress = options.build / "bin" / "duress"
    built = run([options.build / "bin" / "duress-c++", "-std=c++20", "-g", "-O2", "-pthread",
                 f"-I{ROOT}/examples/support", program, "-o", binary])
    if built.returncode != 0:
        return built.stderr
    target = [binary, *words_of(source, "RUN-ARGS")]
    with tempfile.TemporaryDirectory() as folder:
        runs = "10" if options.suite == "fast" else "30"
        done = run([duress, "classify", "--seed", "1", "--json", "--dir", folder,
                    *(words_of(source, "CLASSIFY-OPTIONS") or ["--runs", runs]), "--", *target])
        wanted = 66 if "destructive" in expected.values() else 0
        if done.returncode != wanted:
            return f"exit code {done.returncode}, expected {wanted}: {done.stdout[-2000:]} {done.stderr[-500:]}"
        document = json.loads(done.stdout)
        jsonschema.validate(document, json.loads((ROOT / "docs" / "duress-1.schema.json").read_text()))
        verdicts = {race["variable"]: race.get("verdict") for race in document["races"]}
        if verdicts != expected:
            return f"verdicts {verdicts}, expected {expected}"
        for race in document["races"]:
            problem = replays(duress, race, target, folder) if race["verdict"] == "destructive" else ""
            if problem:
                return f"{race['variable']}: {problem}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--suite", choices=("fast", "all"), default="all")
    parser.add_argument("programs", nargs="*", help="names of the programs to check; default: all")
    options = parser.parse_args()
    options.build = options.build.resolve()
    out = options.build / "tests" / "classify"
    out.mkdir(parents=True, exist_ok=True)
    programs = [p for p in sorted((ROOT / "examples").rglob("*.cc")) if "EXPECT-VERDICT" in p.read_text()]
    if options.suite == "fast":
        programs = [p for p in programs if p.stem in FAST]
    if options.programs:
        programs = [p for p in programs if p.stem in options.programs]
    if not programs:
        sys.exit("no program says what is expected of it")
    failed = 0
    for program in programs:
        problem = check(program, options, out)
        failed += bool(problem)
        print(f"{'FAIL' if problem else 'ok'} {program.relative_to(ROOT)} {problem}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
