#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`duress classify` on the papers' programs: the verdict of every variable is written in the program's head.

  // EXPECT-VERDICT: NAME destructive | no-harm-found

A destructive one must have a counterfactual that passes and a token that replays 20 of 20 times, and the document must
fit the schema.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FAST = {"double_checked_locking", "figure3"}


def check(program, options, out):
    source = program.read_text()
    expected = dict(re.findall(r"^// EXPECT-VERDICT: (\S+) (\S+)$", source, re.M))
    binary = out / program.stem
    subprocess.run([options.build / "bin" / "duress-c++", "-std=c++20", "-g", "-O2", f"-I{ROOT}/examples/support",
                    str(program), "-o", str(binary)], check=True)
    with tempfile.TemporaryDirectory() as folder:
        command = [options.build / "bin" / "duress", "classify", "--runs", "30", "--json", "--dir", folder, "--",
                   str(binary)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wanted = 66 if "destructive" in expected.values() else 0
        if done.returncode != wanted:
            return f"exit code {done.returncode}, expected {wanted}: {done.stderr[-500:]}"
        document = json.loads(done.stdout)
        jsonschema.validate(document, json.loads((ROOT / "docs" / "duress-1.schema.json").read_text()))
        verdicts = {race["variable"]: race.get("verdict") for race in document["races"]}
        if verdicts != expected:
            return f"verdicts {verdicts}, expected {expected}"
        for race in document["races"]:
            if race["verdict"] != "destructive":
                continue
            evidence = race["evidence"]
            if evidence["counterfactual"]["failed"] or not evidence["counterfactual"]["runs"]:
                return f"{race['variable']}: the counterfactual fails too: {evidence}"
            if evidence["replayed"] != 20:
                return f"{race['variable']}: replayed {evidence['replayed']} of 20"
            replay = [options.build / "bin" / "duress", "replay", evidence["replay"], "--times", "20", "--dir", folder,
                      "--", str(binary)]
            again = subprocess.run(replay, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            if again.returncode != 66 or "failed 20 of 20 times" not in again.stderr:
                return f"{race['variable']}: the token does not replay: {again.stderr[-500:]}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--suite", choices=("fast", "all"), default="all")
    options = parser.parse_args()
    options.build = options.build.resolve()
    out = options.build / "tests" / "classify"
    out.mkdir(parents=True, exist_ok=True)
    programs = [p for p in sorted((ROOT / "examples").rglob("*.cc")) if "EXPECT-VERDICT" in p.read_text()]
    if options.suite == "fast":
        programs = [p for p in programs if p.stem in FAST]
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
