#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The programs of bench/verify/programs have exactly the executions that their heads state.

  // EXECUTIONS: sc|rc11|symmetry|rf N: COUNT, N: COUNT...   with that number as argument; symmetry is sc with --symmetry,
        rf with --equivalence rf
  // SOURCE: where the counts come from
  // BLOCKED: rc11 COUNT   so many executions are begun and do not count, with the smallest number

Each must be complete with no finding, and executions that were begun and do not count must be fewer than twice those that do,
under rc11 too, with the smallest number, unless more are stated. What is stated for sc and rf is also counted by brute force,
unless it is large.
"""
import importlib.util
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

FOLDER = harness.ROOT / "bench/verify/programs"
MOST_COUNTED = 150  # by brute force
FLAGS = {"sc": [], "rc11": ["--model", "rc11"], "symmetry": ["--symmetry"], "rf": ["--equivalence", "rf"]}


def brute_force():
    spec = importlib.util.spec_from_file_location("brute_force", FOLDER / "brute_force.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stated(path):
    """(mode, number, executions)"""
    for mode, rest in re.findall(r"^// EXECUTIONS: (\w+) (.*)", path.read_text(), re.MULTILINE):
        for one in rest.split(", "):
            number, count = one.split(": ")
            yield mode, int(number), int(count)


def verify(tool, program, mode, number, work):
    command = [tool.build / "bin/duress", "verify", "--json", "-j", "1", "--no-advice", "--dir", work, *FLAGS[mode]]
    ended = subprocess.run(
        [*command, "--", program, str(number)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False
    )
    return json.loads(ended.stdout) if ended.stdout else {"error": ended.stderr}


def problems_of(path, tool):
    program = tool.compile(path, [], "-O1")
    work = tool.build / "tests/verify/families" / path.stem
    smallest = min(number for _, number, _ in stated(path))
    for mode, number, count in [*stated(path), ("rc11", smallest, None)]:
        document = verify(tool, program, mode, number, work)
        name = f"{mode} {number}"
        if "error" in document:
            yield f"{name}: {document['error']}"
            continue
        if not document["complete"] or document["races"] or document["failures"]:
            yield f"{name}: {document.get('bound')} {document['races']} {document['failures']}"
        executions = document["interleavings"]
        if count not in (None, executions):
            yield f"{name}: {executions} executions, not {count}"
        more = re.search(r"^// BLOCKED: rc11 (\d+)", path.read_text(), re.MULTILINE) if count is None else None
        if document.get("blocked", 0) >= (int(more[1]) + 1 if more else 2 * executions):
            yield f"{name}: {document['blocked']} executions do not count, and {executions} do"
        if ("assumes" in document) != (mode == "symmetry"):
            yield f"{name}: it assumes {document.get('assumes')}"
        if mode == "rf" and document.get("equivalence") != "rf":
            yield f"{name}: explored by traces: {document.get('by_traces')}"
        if mode in ("sc", "rf") and count <= MOST_COUNTED:
            counted = brute_force().count(path.stem, number, mode == "rf")
            if counted != count:
                yield f"brute force counts {counted} for {number}, not {count}"


def main():
    options = harness.parser(__doc__).parse_args()
    tool = harness.Tool(options.build, options.duress)
    paths = harness.chosen(sorted(FOLDER.glob("*.cc")), options.programs)
    harness.report((path.stem, lambda path=path: problems_of(path, tool)) for path in paths)


if __name__ == "__main__":
    main()
