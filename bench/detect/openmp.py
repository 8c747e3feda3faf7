# SPDX-License-Identifier: Apache-2.0
"""OpenMP: the same kernels with LLVM's libomp under Duress and under ThreadSanitizer with Archer, which tells it what
libomp orders."""
import pathlib
import subprocess

import tables
from measurement import FLAGS, HERE, Row

ARCHER = pathlib.Path("/usr/lib/llvm-19/lib/libarcher.so")
SIZES = {
    "histogram": {"small": (4000000, 1000), "large": (1500000, 1000000)},
    "loops": {"small": (2500, 240), "large": (30, 2000)},
    "tasks": {"small": (50, 50000), "large": (2, 1500000)},
}
# Threads that wait for work sleep: the time that they would spin is not that of a tool.
WAITING = {"OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0"}
ENVIRONMENT = {
    "archer": {"OMP_TOOL_LIBRARIES": str(ARCHER), "TSAN_OPTIONS": "ignore_noninstrumented_modules=1"},
    "native": {"OMP_TOOL": "disabled"},
}


def binaries(runner, source):
    """The program by tool."""
    compilers = {
        "native": ["clang++-19"],
        "archer": ["clang++-19", "-fsanitize=thread"],
        "duress": [str(runner.build / "bin" / "duress-c++")],
    }
    result = {}
    for tool, compiler in compilers.items():
        result[tool] = runner.out / f"openmp_{source.stem}.{tool}"
        subprocess.run([*compiler, *FLAGS, "-fopenmp", str(source), "-o", str(result[tool])], check=True)
    return result


def kernels(runner, options):
    if not ARCHER.exists():
        raise SystemExit(f"no {ARCHER} here: Debian's libomp-19-dev has it")
    rows = []
    for name in sorted(SIZES):
        programs = binaries(runner, HERE / "openmp" / f"{name}.cc")
        for size in options.sizes:
            for threads in options.threads:
                commands = {}
                for tool, binary in programs.items():
                    values = {**WAITING, **ENVIRONMENT.get(tool, {})}
                    settings = [f"{key}={value}" for key, value in values.items()]
                    commands[tool] = ["env", *settings, binary, threads, *SIZES[name][size]]
                rows.append(runner.fill(Row(name, threads, size), commands))
    print_rows(rows, options.markdown)


def print_rows(rows, markdown):
    """Multiples of native CPU time, and Duress ÷ Archer."""
    head = ["OpenMP kernel", "threads", "size", "native CPU s", "archer × CPU", "duress × CPU"]
    head += [f"{text} ÷ archer" for _, text in tables.WHAT]
    lines = []
    for row in rows:
        line = [row.name, str(row.threads), row.size, tables.number(row.value("native", "cpu"), 3)]
        line += [tables.number(row.ratio(tool, "native", "cpu")) for tool in ("archer", "duress")]
        lines.append(line + [tables.number(row.ratio("duress", "archer", what)) for what, _ in tables.WHAT])
    means = [tables.geometric_mean(row.ratio("duress", "archer", what) for row in rows) for what, _ in tables.WHAT]
    lines.append(["geometric mean", "", "", "", "", "", *map(tables.number, means)])
    tables.print_table(head, lines, markdown)
