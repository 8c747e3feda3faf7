#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oneTBB and the standard library's parallel algorithms: each file is two programs, the right half and the wrong one
(-DWRONG).

`duress run` must find nothing in the right half, and in the wrong one a race on the variable that the head names
(`// WRONG: NAME`, `*` and `|` as in tests/programs/run.py) and on no other. oneTBB's library is not instrumented, which
the report says; what its tasks order is seen. Without libtbb-dev the test is skipped.
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
FAST = {"task_group"}


def wanted_name(path):
    name = re.search(r"^// WRONG: (.*)$", path.read_text(), re.MULTILINE)[1]
    return re.compile("|".join(re.escape(part).replace(r"\*", ".*") for part in name.split("|")))


def check(path, wrong, tool):
    binary = tool.compile(path, ["-std=c++20", "-ltbb", *(["-DWRONG"] if wrong else [])], "-O1")
    with tempfile.TemporaryDirectory(prefix="duress-tbb-") as scratch:
        report = pathlib.Path(f"{scratch}/report.json")
        code, out, err = tool.run(
            [tool.duress, "run", f"--json={report}", "--dir", f"{scratch}/d", "--", binary], scratch
        )
        text = (out + err).decode(errors="replace")
        if not report.exists():
            raise Failure(f"no report; ended with {code}\n{text}")
        races = [race["variable"] for race in json.loads(report.read_text(encoding="utf-8"))["races"]]
    name = wanted_name(path)
    others = [race for race in races if not (wrong and name.fullmatch(race))]
    if others:
        return f"not expected: race on {', '.join(others)}\n{text}"
    if wrong and not races:
        return f"missed: race on {name.pattern}\n{text}"
    if code != (66 if wrong else 0):
        return f"ended with {code}\n{text}"
    return None if "libtbb" in text else f"says nothing of libtbb\n{text}"


def has_tbb(tool):
    words = [*tool.compiler(False), "-x", "c++", "-", "-ltbb", "-o", "/dev/null"]
    source = b"#include <tbb/version.h>\nint main() { return 0; }"
    return subprocess.run(words, input=source, capture_output=True, check=False).returncode == 0


def main():
    options = harness.parser(__doc__).parse_args()
    tool = harness.Tool(options.build, options.duress)
    if not has_tbb(tool):
        print("skipped: oneTBB is not installed (libtbb-dev)")
        sys.exit(SKIPPED)
    found = harness.chosen(sorted(FOLDER.glob("*.cc")), options.programs)
    if options.suite != "all":
        found = [path for path in found if (path.stem in FAST) == (options.suite == "fast")]
    harness.report(
        (f"{path.stem} {'wrong' if wrong else 'right'}", lambda p=path, w=wrong: check(p, w, tool))
        for path in found
        for wrong in (False, True)
    )


if __name__ == "__main__":
    main()
