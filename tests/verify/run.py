#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`duress verify` on small programs whose header states the verdict.

  // EXPECT-VERIFY: COUNT|* VERDICT...   how many interleavings (or any number), and what is found in them:
        none; race NAME (once for each variable); failure KIND; failure KIND xN: at N places
  // VERIFY-FLAGS: ...   VERIFY-BOUND[: TEXT]   options; the answer is `bounded` (by TEXT), not `complete`
  // VERIFY-FAULT: -DNAME VERDICT        built so, it has a fault: this must be found
  // VERIFY-ALSO: -DNAME COUNT VERDICT   built so
  // VERIFY-WITH: FLAGS: COUNT VERDICT   with these options
  // VERIFY-FIX: TEXT                    what is proposed begins so; if it is a diff, made it must compile, and
        be free of races and failures in as many interleavings as were tried as if it had been made
  // VERIFY-FIX: none                    nothing is proposed
  // VERIFY-RC11: COUNT VERDICT|* VERDICT   the same under --model rc11, which must be complete; `=` for COUNT: as many
        as under sc, as it must be where there are no atomics. No VERDICT: the same. `bounded` for COUNT: it must not be
        complete
  // VERIFY-BLOCKED: N                   at most so many executions do not count; not stated: twice as many as count, unless
        the program has assumptions
  // VERIFY-ASSUMES: TEXT                what a proof takes for granted; not stated or with --spurious: nothing
  // VERIFY-ASSUMES-WITH: FLAG TEXT       with this option of VERIFY-WITH, or this flag of VERIFY-FAULT
  // VERIFY-ASSUMES-NOTHING: FLAG        not so when it is compiled with this flag of VERIFY-ALSO
  // VERIFY-PAIR: FUNCTION FUNCTION: N   in so many interleavings accesses of these two were seen to race
  // VERIFY-SUITE: fast                  one of the few of the fast suite

Programs without a fault are verified with one worker and with two (the documents must be the same but for the time),
and in two orders (as many interleavings). Each failure is replayed, by its id and by its token.
"""
import fnmatch
import json
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402
from harness import precompiled  # noqa: E402

ROOT = harness.ROOT
FOLDERS = ("tests/verify/programs", "examples/jrf", "examples/herlihy_shavit")


def statements(path):
    found = {}
    for key, value in harness.Statements(path.read_text()):
        if key == "EXPECT-VERIFY" or key.startswith("VERIFY-"):
            found.setdefault(key, []).append(value)
    return found


def verify(build, program, flags, jobs, work):
    command = [
        str(build / "bin/duress"),
        "verify",
        "--json",
        "-j",
        str(jobs),
        "--dir",
        str(work / "dir"),
        *flags,
        "--",
        str(program),
    ]
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=250, check=False)
    if not ended.stdout:
        raise AssertionError(f"{' '.join(command)}: {ended.returncode}: {ended.stderr}")
    return ended.returncode, harness.valid(json.loads(ended.stdout))


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
        for assumed in found.get("VERIFY-ASSUMES-WITH", []):
            option, text = assumed.split(maxsplit=1)
            if option in flags:
                nothing = {"VERIFY-ASSUMES": [text]}
        yield "", {**found, **nothing, "VERIFY-FLAGS": [flags], "EXPECT-VERIFY": [verdict], "VERIFY-FIX": []}
    for other in also:
        flag, verdict = other.split(maxsplit=1)
        nothing = {"VERIFY-ASSUMES": [""]} if flag in found.get("VERIFY-ASSUMES-NOTHING", []) else {}
        yield flag, {**found, **nothing, "EXPECT-VERIFY": [verdict]}
    assumed = dict(one.split(maxsplit=1) for one in found.get("VERIFY-ASSUMES-WITH", []))
    for fault in faults:
        flag, verdict = fault.split(maxsplit=1)
        more = {"VERIFY-ASSUMES": [assumed[flag]]} if flag in assumed else {}
        yield flag, {**found, **more, "EXPECT-VERIFY": [f"* {verdict}"], "any": True}


FLAGS = ["-DDURESS_ANY_ORDER"]


def compile_beside(tool, source):
    """The program of a source that is going to be edited: beside it, and never from the cache."""
    command = [*tool.compiler(is_c=False), "-std=c++20", "-g", "-O1", "-pthread", *FLAGS, f"-I{harness.SUPPORT}"]
    headers = precompiled.flags_for(command, tool.out, tool.stamp)
    subprocess.run([*command, *headers, source, "-o", source.with_suffix("")], check=True)
    return source.with_suffix("")


def problems_of_fix(path, wanted, tool, work, flags):
    """The fix of a copy of the program, made and verified."""
    build, folder = tool.build, work / "fix"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for source in [path, *path.parent.glob("*.h")]:
        shutil.copy(source, folder)
    source = folder / path.name
    program = compile_beside(tool, source)
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
    printed = subprocess.run(
        fix, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True, cwd=folder
    ).stdout
    patched = subprocess.run(
        ["patch", "-p1", "--dry-run"], input=printed, text=True, stdout=subprocess.PIPE, check=False, cwd=folder
    )
    if patched.returncode != 0:
        yield f"patch does not take the diff: {patched.stdout}"
    subprocess.run([*fix, "--apply"], stderr=subprocess.DEVNULL, check=True)
    again = subprocess.run([*fix, "--apply"], stderr=subprocess.DEVNULL, check=False)
    if again.returncode != 125:
        yield f"a fix that was made is made again: {again.returncode}"
    compile_beside(tool, source)
    code, fixed = verify(build, program, flags, 2, folder)
    if code != 0 or fixed["races"] or fixed["failures"] or not fixed["complete"]:
        yield f"the fix leaves {fixed['races']} {fixed['failures']} {fixed.get('bound')}"
    # Of a loop that waits, the code around it decides after how many rounds that is seen: executions more or less, none lost.
    waits = re.search(r"\bwhile \(", source.read_text())
    if fixed["interleavings"] != advice["interleavings"] and not waits:
        yield f"the fix was tried in {advice['interleavings']} interleavings, but there are {fixed['interleavings']}"


def problems_of_replays(document, build, program, work):
    """Each failure comes again."""
    for failure in document["failures"]:
        for words in ([failure["id"], "--dir", work / "dir"], [failure["replay"], "--", program]):
            command = [build / "bin/duress", "replay", "--times", "2", *words]
            ended = subprocess.run(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=100, check=False
            )
            if ended.returncode != 66 or "in the same way 2 times; 2 times with equal choices" not in ended.stderr:
                yield f"{failure['failure']} does not come again: {words[0]} {ended.returncode} {ended.stderr[-400:]}"
            if "diverged" in ended.stderr or "another failure" in ended.stderr:
                yield f"{failure['failure']} is another one when replayed: {ended.stderr[-400:]}"


def problems_of_pairs(document, expected):
    for stated in expected.get("VERIFY-PAIR", []):
        pair, _, number = stated.rpartition(":")
        found = [
            race["executions"]
            for race in document["races"]
            if sorted(site["function"] for site in race["sites"]) == sorted(pair.split())
        ]
        if found != [int(number)]:
            yield f"{pair} race in {found} interleavings, not in {number}"


def problems_of(path, flag, expected, tool, work):
    build = tool.build
    program = tool.compile(path, [*FLAGS, *filter(None, [flag])], "-O1")
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
        if (
            document["complete"] and "rc11" not in flags
        ):  # then the order in which they come cannot change how many there are
            _, other = verify(build, program, [*flags, "--no-advice", "--order", "watch-written"], 2, work)
            if other["interleavings"] != document["interleavings"]:
                yield f"{other['interleavings']} interleavings in another order, not {document['interleavings']}"
    assumed, wanted = document.get("assumes", ""), expected.get("VERIFY-ASSUMES", [""])[0]
    if assumed != wanted:
        yield f"it assumes '{assumed}', not '{wanted}'"
    yield from problems_of_replays(document, build, program, work)
    count, *verdict = expected["EXPECT-VERIFY"][0].split(maxsplit=1)
    if count != "*" and document["interleavings"] != int(count):
        yield f"{document['interleavings']} interleavings, not {count}"
    if "any" not in expected and document["complete"] == ("VERIFY-BOUND" in expected):
        yield f"complete is {document['complete']}: {document.get('bound')}"
    bound = "".join(expected.get("VERIFY-BOUND", []))
    if bound not in document.get("bound", ""):
        yield f"it is bounded by '{document.get('bound')}', not '{bound}'"
    for race in document["races"]:
        if "replay" not in race:
            yield f"no token shows the race on {race['variable']} at {race['sites'][0]['line']}:{race['sites'][0]['column']}"
        if race.get("fix", {}).get("text") != document.get("advice", {}).get("text"):
            yield f"the fix of {race['id']} is {race.get('fix')}"
    yield from problems_of_pairs(document, expected)
    most = 2 * document["interleavings"]
    if "VERIFY-BLOCKED" in expected:
        most = int(expected["VERIFY-BLOCKED"][0])
    if most < document.get("blocked", 0) and "assume(" not in path.read_text():
        yield f"{document['blocked']} executions do not count, more than {most}"
    wanted = [line.split(maxsplit=1)[1] for line in expected["EXPECT-VERIFY"]]
    races = sorted({race["variable"] for race in document["races"]})
    failures = sorted({failure["failure"] for failure in document["failures"]})
    for want in wanted:
        kind, _, name = want.partition(" ")
        if kind == "none" and (races or failures):
            yield f"found {races} {failures}, expected nothing"
        if kind == "race" and not any(fnmatch.fnmatch(v, p) for v in races for p in name.split("|")):
            yield f"no race on {name}, only on {races}"
        name, _, times = name.partition(" x")
        places = sum(failure["failure"] == name for failure in document["failures"])
        if kind == "failure" and (places == 0 or (times and places != int(times))):
            yield f"no failure {want}, only {[failure['failure'] for failure in document['failures']]}"
    for variable in races if "any" not in expected else []:
        names = [w.partition(" ")[2] for w in wanted if w.startswith("race")]
        if not any(fnmatch.fnmatch(variable, p) for n in names for p in n.split("|")):
            yield f"unexpected race on {variable}"
    if code != (66 if races or failures else 0):
        yield f"exit code {code}"
    if "VERIFY-RC11" in expected and "any" not in expected:
        count, *verdict = expected["VERIFY-RC11"][0].split(maxsplit=1)
        weak = {
            "EXPECT-VERIFY": [
                " ".join(
                    [count.replace("=", str(document["interleavings"])), *(verdict or [line.split(maxsplit=1)[1]])]
                )
                for line in expected["EXPECT-VERIFY"]
            ],
            "VERIFY-FLAGS": ["--model", "rc11"],
        }
        if count == "bounded":
            weak = {
                "EXPECT-VERIFY": ["* " + line.split(maxsplit=1)[1] for line in expected["EXPECT-VERIFY"]],
                "VERIFY-FLAGS": ["--model", "rc11"],
                "VERIFY-BOUND": [""],
            }
        weak["VERIFY-ASSUMES"] = expected.get("VERIFY-ASSUMES", [""])
        if "VERIFY-BLOCKED" in expected:
            weak["VERIFY-BLOCKED"] = expected["VERIFY-BLOCKED"]
        for problem in problems_of(path, flag, weak, tool, work):
            yield f"rc11: {problem}"


def flags_of(expected):
    return " ".join(expected.get("VERIFY-FLAGS", [])).split()


def cases(path, suite, tool):
    """(name, function) for each way in which the program is built and called. The fast suite makes no fixes."""
    stated = statements(path)
    fast = stated.get("VERIFY-SUITE") == ["fast"]
    work = tool.build / "tests/verify/programs" / path.parent.name / path.stem
    work.mkdir(parents=True, exist_ok=True)
    for flag, expected in variants(path) if fast or suite != "fast" else []:
        name = " ".join([harness.case_of(path), *filter(None, [flag]), *flags_of(expected)])
        if suite != "rest" or not fast:
            yield name, lambda flag=flag, expected=expected: problems_of(path, flag, expected, tool, work)
        if expected.get("VERIFY-FIX") and not flag and suite != "fast":
            yield f"{name}: fix", lambda expected=expected: problems_of_fix(
                path, expected["VERIFY-FIX"][0], tool, work, flags_of(expected)
            )


def main():
    options = harness.parser(__doc__).parse_args()
    tool = harness.Tool(options.build, options.duress)
    paths = [
        path
        for folder in FOLDERS
        for path in sorted((ROOT / folder).glob("*.cc"))
        if "EXPECT-VERIFY" in path.read_text()
    ]
    harness.report(
        case for path in harness.chosen(paths, options.programs) for case in cases(path, options.suite, tool)
    )


if __name__ == "__main__":
    main()
