#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""OpenMP programs: each file is two, the right half and the wrong one (-DWRONG).

`duress run` must find nothing in the right half, and in the wrong one a race on the variable that the head names
(`// WRONG: NAME`, `*` and `|` as in tests/programs/run.py) and on no other. With --explore the same is asked of
`duress explore`: the right half has no failure and no race, the wrong one has the race.

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
FAST = {"barrier", "reduction", "task_depend"}


def wanted_name(path):
    name = re.search(r"^// WRONG: (.*)$", path.read_text(), re.MULTILINE)[1]
    parts = [re.escape(part).replace(r"\*", ".*") for part in name.split("|")]
    return re.compile("|".join(parts))


def races_of(words, tool, scratch):
    report = f"{scratch}/report.json"
    code, out, err = tool.run([*words[:2], f"--json={report}", "--dir", f"{scratch}/d", *words[2:]], scratch)
    text = (out + err).decode(errors="replace")
    if not pathlib.Path(report).exists():
        raise Failure(f"no report; ended with {code}\n{text}")
    document = json.loads(pathlib.Path(report).read_text(encoding="utf-8"))
    return code, document["races"], text


def check(path, wrong, tool):
    flags = ["-fopenmp", *(["-DWRONG"] if wrong else [])]
    binary = tool.compile(path, flags, "-O1")
    with tempfile.TemporaryDirectory(prefix="duress-openmp-") as scratch:
        code, races, text = races_of([tool.duress, "run", "--", str(binary)], tool, scratch)
    name = wanted_name(path)
    others = [race["variable"] for race in races if not (wrong and name.fullmatch(race["variable"]))]
    if others:
        return f"not expected: race on {', '.join(others)}\n{text}"
    if wrong and not races:
        return f"missed: race on {name.pattern}\n{text}"
    if code != (66 if wrong else 0):
        return f"ended with {code}\n{text}"
    return "reported as incomplete:\n" + text if "incomplete" in text else None


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
