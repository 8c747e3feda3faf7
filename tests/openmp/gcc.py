#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The programs of run.py, compiled by gcc 12 with -fopenmp -fsanitize=thread and linked with libomp by duress-cc.

`duress run` and `duress explore` must find nothing in the right half, and `duress run` a race in the wrong one. Such code
says nothing of variables, so names are not compared.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness import Failure, halves  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().parent / "programs"
COMPILER = "gcc-12"
FAST = {"critical", "reduction", "reduction_array", "reduction_declared", "task_depend"}
# What gcc 12 does not know, and a scan that comes out wrong with libomp, watched or not.
NOT_BUILT = {"scan", "task_all_memory", "task_inoutset"}
# One thread performs both accesses there: what gcc and libomp make of these constructs together.
NOT_AT_ONCE = {"nested", "schedule_dynamic", "task_firstprivate"}


def compiled(path, wrong, tool, folder):
    source = [COMPILER, "-fopenmp", "-fsanitize=thread", "-g", "-O1", *(["-DWRONG"] if wrong else []), "-c", str(path)]
    link = [*tool.compiler(True), "-fopenmp", f"{folder}/one.o", "-lm", "-o", f"{folder}/one"]
    for words in ([*source, "-o", f"{folder}/one.o"], link):
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, env=tool.env, check=False)
        if done.returncode != 0:
            raise Failure(f"{' '.join(map(str, words))}\n{done.stderr}")
    return f"{folder}/one"


def check(path, wrong, tool):
    if wrong and path.stem in NOT_AT_ONCE:
        return None
    with tempfile.TemporaryDirectory(prefix="duress-gomp-") as folder:
        binary = compiled(path, wrong, tool, folder)
        code, document, text = halves.document_of(["run"], binary, tool)
        if wrong:
            return None if code == 66 and document["races"] else f"run ended with {code}: missed\n{text}"
        if code != 0 or document["races"] or document["incomplete"]:
            return f"run ended with {code}\n{text}"
        code, document, text = halves.document_of(["explore", "--runs", str(halves.RUNS), "-j", "1"], binary, tool)
        if code != 0 or document["races"] or document["failures"]:
            return f"explore ended with {code}\n{text}"
    return None


def installed(tool):
    source = "#include <omp.h>\nint main(void) { return 0; }"
    return shutil.which(COMPILER) is not None and halves.builds(tool, "c", ["-fopenmp"], source)


if __name__ == "__main__":
    programs = [path for path in FOLDER.glob("*.c") if path.stem not in NOT_BUILT]
    halves.run_all(__doc__, programs, FAST, check, installed, f"{COMPILER} or LLVM's OpenMP runtime is not installed")
