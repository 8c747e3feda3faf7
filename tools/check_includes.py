#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps the include directions between the folders of src/, as docs/design says.

A folder may include those that its row names, and no others: a new direction is a decision, made in this table. A test may also
include what those may include. In-process code (everything that is linked into the target) carries no host library; LLVM's headers
stay in three folders. A header is protected by #pragma once.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROWS = {
    # Both sides.
    "base": "",
    "catalog": "base",
    "event": "base",
    "clock": "base",
    "trail": "base catalog",
    "finding": "base event trail",
    "exhaustive": "base event trail",
    # Inside the target.
    "shadow": "base",
    "analysis": "base catalog event clock shadow finding",
    "memory": "base catalog event clock trail",
    "sched": "base catalog event trail exhaustive",
    "runtime": "base catalog event clock trail exhaustive finding shadow analysis memory sched",
    "check": "base catalog event clock trail exhaustive finding analysis memory sched runtime",
    # The compiler plugin.
    "pass": "",
    # The host.
    "trace": "base event analysis finding",
    "collide": "base finding",
    "report": "catalog trail finding",
    "exec": "base catalog event trail exhaustive finding",
    "search": "base catalog event trail exhaustive finding report exec",
    "classify": "base catalog event trail finding report exec search",
    "reads_from": "base event trail exhaustive",
    "verify": "base catalog trail exhaustive reads_from finding report exec search",
    "repair": "trail finding report exec search verify",
    "rewrite": "",
    "cluster": "base exec",
    "suite": "base exec report",
    "cli": "base catalog event trail trace collide finding report exec search classify verify repair cluster suite",
}
DIRECT = {folder: row.split() for folder, row in ROWS.items()}
IN_PROCESS = set("base catalog event exhaustive clock trail shadow analysis memory sched runtime check".split())
LLVM = {"pass", "report", "rewrite"}
HOST_LIBRARIES = re.compile(r"(fmt|CLI|nlohmann|llvm|gtest|toml\+\+)/|iostream$|sqlite3.h$")


def allowed(folder):
    """The folder, what its row names, and what that may include in turn."""
    result, todo = {folder}, list(DIRECT[folder])
    while todo:
        other = todo.pop()
        if other not in result:
            result.add(other)
            todo += DIRECT[other]
    return result


def problems_of(path):
    parts = path.relative_to(ROOT / "src").parts
    folder, is_test = parts[0], path.stem.endswith("_test") or "testing" in parts
    if folder not in DIRECT:
        yield 1, f"folder src/{folder} is not in the table of {pathlib.Path(__file__).name}"
        return
    lines = path.read_text().splitlines()
    if path.suffix == ".h" and "#pragma once" not in lines:
        yield 1, "a header needs #pragma once, instead of an include guard"
    for number, line in enumerate(lines, 1):
        match = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
        if not match:
            continue
        included = match[1]
        target = included.split("/")[0]
        if target in DIRECT and "/" in included:
            if target not in (allowed(folder) if is_test else {folder, *DIRECT[folder]}):
                yield number, f"src/{folder} must not include src/{target}"
            # A detector does not know its siblings; the registry, beside them, knows them all.
            if folder == target == "analysis" and not is_test and len(parts) > 2:
                sub = included.split("/")[1:]
                if len(sub) > 1 and sub[0] != parts[1]:
                    yield number, f"src/analysis/{parts[1]} must not include its sibling {sub[0]}"
        if is_test:
            continue
        if folder in IN_PROCESS and HOST_LIBRARIES.match(included):
            yield number, f"src/{folder} runs inside the target and must not include <{included}>"
        elif target in ("llvm", "llvm-c", "clang") and folder not in LLVM:
            yield number, f"LLVM headers belong in src/{' and src/'.join(sorted(LLVM))}"


def main():
    count = failed = 0
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix not in (".h", ".cc", ".def", ".inc"):
            continue
        count += 1
        for number, problem in problems_of(path):
            failed += 1
            print(f"{path.relative_to(ROOT)}:{number}: error: {problem}")
    print(f"{count} files: {failed} includes against the table")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
