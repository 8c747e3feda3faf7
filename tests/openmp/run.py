#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""OpenMP programs: each file is two, the right half and the wrong one (-DWRONG).

`duress run` must find nothing in the right half, and in the wrong one a race on the variable that the head names
(`// WRONG: NAME`, `*` and `|` as in tests/programs/run.py) and on no other. The same holds for `duress explore`, where
the threads of the team are scheduled one at a time; the right half has no failure there. Names are the program's: of the
functions that the compiler makes of constructs there is none in a report, and workers have their number.

The programs are built by duress-cc -fopenmp; without LLVM's OpenMP runtime (libomp-19-dev) the test is skipped.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402
from harness import Failure  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().parent / "programs"
SKIPPED = 77
FAST = {"barrier", "reduction", "task_depend", "task_many", "task_reduction"}
RUNS = 20  # of explore
NAMED = re.compile(r'"omp thread \d+"|"parallel region in \w+"|"\(task\)"')


def wanted_name(path):
    name = re.search(r"^// WRONG: (.*)$", path.read_text(), re.MULTILINE)[1]
    parts = [re.escape(part).replace(r"\*", ".*") for part in name.split("|")]
    return re.compile("|".join(parts))


def document_of(command, binary, tool):
    """(exit code, document, text) of a command in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="duress-openmp-") as scratch:
        report = pathlib.Path(f"{scratch}/report.json")
        words = [tool.duress, *command, f"--json={report}", "--dir", f"{scratch}/d", "--", binary]
        code, out, err = tool.run(words, scratch)
        text = (out + err).decode(errors="replace")
        if not report.exists():
            raise Failure(f"no report; ended with {code}\n{text}")
        return code, json.loads(report.read_text(encoding="utf-8")), text


def problem_of(document, name, wrong):
    """name: of the variable that the wrong half has a race on."""
    races = [race["variable"] for race in document["races"]]
    others = [race for race in races if not (wrong and name.fullmatch(race))]
    if others:
        return f"not expected: race on {', '.join(others)}"
    if wrong and not races:
        return f"missed: race on {name.pattern}"
    if not wrong and document.get("failures"):
        return "not expected: a failure"
    if ".omp_" in json.dumps(document):
        return "a name that the compiler made"
    return None


def check(path, wrong, tool):
    binary = tool.compile(path, ["-fopenmp", *(["-DWRONG"] if wrong else [])], "-O1")
    name = wanted_name(path)
    code, document, text = document_of(["run"], binary, tool)
    problem = problem_of(document, name, wrong)
    if problem or code != (66 if wrong else 0) or document["incomplete"]:
        return f"run ended with {code}: {problem}\n{text}"
    if wrong and not NAMED.search(json.dumps(document["races"])):
        return f"neither a region nor a task nor a worker is named\n{text}"
    code, document, text = document_of(["explore", "--runs", str(RUNS), "-j", "1"], binary, tool)
    problem = problem_of(document, name, wrong)
    return f"explore ended with {code}: {problem}\n{text}" if problem else None


def has_libomp(tool):
    words = [*tool.compiler(True), "-fopenmp", "-x", "c", "-", "-o", "/dev/null"]
    return (
        subprocess.run(words, input=b"#include <omp.h>\nint main(void) { return 0; }", capture_output=True).returncode
        == 0
    )


def main():
    options = harness.parser(__doc__).parse_args()
    tool = harness.Tool(options.build, options.duress)
    if not has_libomp(tool):
        print("skipped: LLVM's OpenMP runtime is not installed (libomp-19-dev)")
        sys.exit(SKIPPED)
    found = harness.chosen(sorted(FOLDER.glob("*.c")), options.programs)
    if options.suite != "all":
        found = [path for path in found if (path.stem in FAST) == (options.suite == "fast")]
    harness.report(
        (f"{path.stem} {'wrong' if wrong else 'right'}", lambda p=path, w=wrong: check(p, w, tool))
        for path in found
        for wrong in (False, True)
    )


if __name__ == "__main__":
    main()
