#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oneTBB and the standard library's parallel algorithms: each file is two programs, the right half and the wrong one
(-DWRONG).

`duress run` must find nothing in the right half, and in the wrong one a race on the variable that the head names
(`// WRONG: NAME`) and on no other. The same holds for `duress explore`, where oneTBB's workers are scheduled one at a
time; the right half has no failure there. oneTBB's library is not instrumented, which reports of races say; what its
tasks order is seen. Without libtbb-dev the test is skipped.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness import halves  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().parent / "programs"
FAST = {"task_group"}


def check(path, wrong, tool):
    binary = tool.compile(path, ["-std=c++20", "-ltbb", *(["-DWRONG"] if wrong else [])], "-O1")
    problem, _, text = halves.judged_run(path, binary, wrong, tool)
    if not problem and "libtbb" not in text:
        problem = f"says nothing of libtbb\n{text}"
    return problem or halves.judged_explore(path, binary, wrong, tool)[0]


def has_tbb(tool):
    return halves.builds(tool, "c++", ["-ltbb"], "#include <tbb/version.h>\nint main() { return 0; }")


if __name__ == "__main__":
    halves.run_all(__doc__, FOLDER.glob("*.cc"), FAST, check, has_tbb, "oneTBB is not installed (libtbb-dev)")
