#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""OpenMP programs: each file is two, the right half and the wrong one (-DWRONG).

`duress run` must find nothing in the right half, and in the wrong one a race on the variable that the head names
(`// WRONG: NAME`) and on no other. The same holds for `duress explore`, where the threads of the team are scheduled one
at a time; the right half has no failure there. Names are the program's: of the functions that the compiler makes of
constructs there is none in a report, and workers have their number.

The programs are built by duress-cc -fopenmp; without LLVM's OpenMP runtime (libomp-19-dev) the test is skipped.
"""
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness import halves  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().parent / "programs"
FAST = {"barrier", "reduction", "task_depend", "task_many", "task_reduction"}
NAMED = re.compile(r'"omp thread \d+"|"parallel region in \w+"|"\(task\)"')


def check(path, wrong, tool):
    binary = tool.compile(path, ["-fopenmp", *(["-DWRONG"] if wrong else [])], "-O1")
    for judged in (halves.judged_run, halves.judged_explore):
        problem, document, text = judged(path, binary, wrong, tool)
        if problem:
            return problem
        if ".omp_" in json.dumps(document):
            return f"a name that the compiler made\n{text}"
        if judged == halves.judged_explore:
            continue
        if document["incomplete"]:
            return f"incomplete\n{text}"
        if wrong and not NAMED.search(json.dumps(document["races"])):
            return f"neither a region nor a task nor a worker is named\n{text}"
    return None


def has_libomp(tool):
    return halves.builds(tool, "c", ["-fopenmp"], "#include <omp.h>\nint main(void) { return 0; }")


if __name__ == "__main__":
    missing = "LLVM's OpenMP runtime is not installed (libomp-19-dev)"
    halves.run_all(__doc__, FOLDER.glob("*.c"), FAST, check, has_libomp, missing)
