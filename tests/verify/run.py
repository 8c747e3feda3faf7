#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`duress verify` on small programs whose header states the verdict.

  // EXPECT-VERIFY: COUNT|* VERDICT...   how many interleavings (or any number), and what is found in them:
        none; race NAME (once for each variable); failure KIND
  // VERIFY-FLAGS: ...   VERIFY-BOUND    options; the answer is `bounded`, not `complete`
  // VERIFY-FAULT: -DNAME VERDICT        built so, it has a fault: this must be found
  // VERIFY-ALSO: -DNAME COUNT VERDICT   built so
  // VERIFY-WITH: FLAGS: COUNT VERDICT   with these options
  // VERIFY-FIX: TEXT                    what is proposed begins so; if it is a diff, made it must compile, and
        be free of races and failures in as many interleavings as were tried as if it had been made
  // VERIFY-FIX: none                    nothing is proposed
  // VERIFY-RC11: COUNT VERDICT|* VERDICT   the same under --model rc11, which must be complete; `=` for COUNT: as many
        as under sc, as it must be where there are no atomics. No VERDICT: the same. `bounded` for COUNT: it must not be complete
  // VERIFY-ASSUMES: TEXT                what a proof takes for granted; with --spurious nothing
  // VERIFY-SUITE: fast                  one of the few of the fast suite

Programs without a fault are verified with one worker and with two (the documents must be the same but for the time), and
in two orders (as many interleavings). Each failure is replayed, by its id and by its token.
"""
import argparse
import fnmatch
import json
import pathlib
import re
import shutil
import subprocess
import sys

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import precompiled  # noqa: E402


def statements(path):
    found = {}
    for line in path.read_text().splitlines():
        match = re.match(r"//\s*((?:EXPECT-VERIFY|VERIFY-[A-Z0-9]+))(?::\s*(.*))?$", line)
        if match:
            found.setdefault(match[1], []).append((match[2] or "").strip())
    return found


def verify(build, program, flags, jobs, work):
    command = [str(build / "bin/duress"), "verify", "--json", "-j", str(jobs), "--dir", str(work / "dir"), *flags, "--", str(program)]
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=250, check=False)
    if not ended.stdout:
        raise AssertionError(f"{' '.join(command)}: {ended.returncode}: {ended.stderr}")
    document = json.loads(ended.stdout)
    jsonschema.validate(document, json.loads((ROOT / "docs/duress-1.schema.json").read_text()))
    return ended.returncode, document


def variants(path):
    """What is stated of the program as it is, and of each of its faults."""
    found = statements(path)
    faults = found.pop("VERIFY-FAULT", [])
    also = found.pop("VERIFY-ALSO", [])
    options = found.pop("VERIFY-WITH", [])
    yield "", found
    for other in options:
        flags, verdict = other.split(": ", maxsplit=1)
        nothing = {"VERIFY-ASSUMES": [""]} if "--spurious" in flags else {}
        yield "", {**found, **nothing, "VERIFY-FLAGS": [flags], "EXPECT-VERIFY": [verdict], "VERIFY-FIX": []}
    for other in also:
        flag, verdict = other.split(maxsplit=1)
        yield flag, {**found, "EXPECT-VERIFY": [verdict]}
    for fault in faults:
        flag, verdict = fault.split(maxsplit=1)
        yield flag, {**found, "EXPECT-VERIFY": [f"* {verdict}"], "any": True}


def compile_program(build, path, flags, program):
    command = [str(build / "bin/duress-c++"), "-std=c++20", "-g", "-O1", "-pthread"]
    headers = precompiled.flags_for(command, build / "tests/verify")
    subprocess.run([*command, *headers, "-DDURESS_ANY_ORDER", *flags, f"-I{ROOT}/examples/support", path, "-o", program], check=True)


def problems_of_fix(path, wanted, build, work, flags):
    """The fix of a copy of the program, made and verified."""
    folder = work / "fix"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for source in [path, *path.parent.glob("*.h")]:
        shutil.copy(source, folder)
    source, program = folder / path.name, folder / path.stem
    compile_program(build, source, [], program)
    _, document = verify(build, program, flags, 2, folder)
    advice = document.get("advice")
    if advice is None or wanted == "none":
        if (advice is None) != (wanted == "none"):
            yield f"proposed is {advice}, not {wanted}"
        return
    if not advice["text"].startswith(wanted):
        yield f"proposed is '{advice['text']}', not '{wanted}'"
    if "diff" not in advice:
        return
    finding = [*document["races"], *document["failures"]][0]["id"]
    fix = [build / "bin/duress", "fix", finding, "--dir", folder / "dir"]
    printed = subprocess.run(fix, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True, cwd=folder).stdout
    patched = subprocess.run(["patch", "-p1", "--dry-run"], input=printed, text=True, stdout=subprocess.PIPE, check=False, cwd=folder)
    if patched.returncode != 0:
        yield f"patch does not take the diff: {patched.stdout}"
    subprocess.run([*fix, "--apply"], stderr=subprocess.DEVNULL, check=True)
    again = subprocess.run([*fix, "--apply"], stderr=subprocess.DEVNULL, check=False)
    if again.returncode != 125:
        yield f"a fix that was made is made again: {again.returncode}"
    compile_program(build, source, [], program)
    code, fixed = verify(build, program, flags, 2, folder)
    if code != 0 or fixed["races"] or fixed["failures"] or not fixed["complete"]:
        yield f"the fix leaves {fixed['races']} {fixed['failures']} {fixed.get('bound')}"
    if fixed["interleavings"] != advice["interleavings"]:
        yield f"the fix was tried in {advice['interleavings']} interleavings, but there are {fixed['interleavings']}"


def problems_of_replays(document, build, program, work):
    """Each failure comes again."""
    for failure in document["failures"]:
        for words in ([failure["id"], "--dir", work / "dir"], [failure["replay"], "--", program]):
            command = [build / "bin/duress", "replay", "--times", "2", *words]
            ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=100, check=False)
            if ended.returncode != 66 or "in the same way 2 times; 2 times with equal choices" not in ended.stderr:
                yield f"{failure['failure']} does not come again: {words[0]} {ended.returncode} {ended.stderr[-400:]}"
            if "diverged" in ended.stderr or "another failure" in ended.stderr:
                yield f"{failure['failure']} is another one when replayed: {ended.stderr[-400:]}"


def problems_of(path, flag, expected, build, work):
    program = work / (path.stem + flag.replace("-D", "."))
    newest = max(p.stat().st_mtime for p in [path, *(build / "lib").glob("*.a"), *(build / "lib").glob("*.so")])
    if not program.exists() or program.stat().st_mtime < newest:
        compile_program(build, path, [*filter(None, [flag])], program)
    flags = " ".join(expected.get("VERIFY-FLAGS", [])).split()
    if "any" in expected:
        flags.append("--no-advice")
    code, document = verify(build, program, flags, 2, work)
    if "VERIFY-FAULT" not in statements(path):  # those are many
        _, again = verify(build, program, flags, 1, work)
        for one in (document, again):
            one.pop("seconds", None)
        if document != again:
            yield f"-j 1 says another thing than -j 2: {json.dumps(again)[:600]}"
        if document["complete"] and "rc11" not in flags:  # then the order in which they come cannot change how many there are
            _, other = verify(build, program, [*flags, "--no-advice", "--order", "watch-written"], 2, work)
            if other["interleavings"] != document["interleavings"]:
                yield f"{other['interleavings']} interleavings in another order, not {document['interleavings']}"
    if document.get("assumes", "") != expected.get("VERIFY-ASSUMES", [document.get("assumes", "")])[0]:
        yield f"it assumes '{document.get('assumes', '')}'"
    yield from problems_of_replays(document, build, program, work)
    count, *verdict = expected["EXPECT-VERIFY"][0].split(maxsplit=1)
    if count != "*" and document["interleavings"] != int(count):
        yield f"{document['interleavings']} interleavings, not {count}"
    if "any" not in expected and document["complete"] == ("VERIFY-BOUND" in expected):
        yield f"complete is {document['complete']}: {document.get('bound')}"
    for race in document["races"]:
        if "replay" not in race:
            yield f"no token shows the race on {race['variable']} at {race['sites'][0]['line']}:{race['sites'][0]['column']}"
        if race.get("fix", {}).get("text") != document.get("advice", {}).get("text"):
            yield f"the fix of {race['id']} is {race.get('fix')}"
    wanted = [line.split(maxsplit=1)[1] for line in expected["EXPECT-VERIFY"]]
    races = sorted({race["variable"] for race in document["races"]})
    failures = sorted({failure["failure"] for failure in document["failures"]})
    for want in wanted:
        kind, _, name = want.partition(" ")
        if kind == "none" and (races or failures):
            yield f"found {races} {failures}, expected nothing"
        if kind == "race" and not any(fnmatch.fnmatch(v, p) for v in races for p in name.split("|")):
            yield f"no race on {name}, only on {races}"
        if kind == "failure" and name not in failures:
            yield f"no failure {name}, only {failures}"
    for variable in races if "any" not in expected else []:
        names = [w.partition(" ")[2] for w in wanted if w.startswith("race")]
        if not any(fnmatch.fnmatch(variable, p) for n in names for p in n.split("|")):
            yield f"unexpected race on {variable}"
    if code != (66 if races or failures else 0):
        yield f"exit code {code}"
    if "VERIFY-RC11" in expected and "any" not in expected:
        count, *verdict = expected["VERIFY-RC11"][0].split(maxsplit=1)
        weak = {"EXPECT-VERIFY": [" ".join([count.replace("=", str(document["interleavings"])), *(verdict or [line.split(maxsplit=1)[1]])])
                                  for line in expected["EXPECT-VERIFY"]], "VERIFY-FLAGS": ["--model", "rc11"]}
        if count == "bounded":
            weak = {"EXPECT-VERIFY": ["* " + line.split(maxsplit=1)[1] for line in expected["EXPECT-VERIFY"]], "VERIFY-FLAGS": ["--model", "rc11"], "VERIFY-BOUND": [""]}
        for problem in problems_of(path, flag, weak, build, work):
            yield f"rc11: {problem}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--suite", choices=["fast", "all"], default="all")
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    work = build / "tests/verify/programs"
    work.mkdir(parents=True, exist_ok=True)
    failed = count = 0
    for folder in arguments.paths:
        for path in sorted(folder.resolve().rglob("*.cc")) if folder.is_dir() else [folder.resolve()]:
            stated = statements(path)
            if "EXPECT-VERIFY" not in stated or (arguments.suite == "fast" and stated.get("VERIFY-SUITE") != ["fast"]):
                continue
            for flag, expected in variants(path):
                count += 1
                problems = list(problems_of(path, flag, expected, build, work))
                if expected.get("VERIFY-FIX") and not flag and arguments.suite == "all":
                    problems += problems_of_fix(path, expected["VERIFY-FIX"][0], build, work, " ".join(expected.get("VERIFY-FLAGS", [])).split())
                for problem in problems:
                    failed += 1
                    print(f"{path.relative_to(ROOT)}: {flag} {problem}", flush=True)
    print(f"{count} programs, {failed} problems")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
