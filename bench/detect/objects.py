# SPDX-License-Identifier: Apache-2.0
"""Code that other compilers built with -fsanitize=thread: the same object linked with the compiler's own runtime, and by
duress-c++ with Duress'."""
import shutil
import subprocess

import tables
from measurement import FLAGS, HERE, Row
from sizes import SIZES

COMPILERS = {"gcc": "g++-12", "clang": "clang++-19"}
REQUIRED = 1.0


def binaries(runner, source):
    """The program by tool: `gcc`, `clang` with their libtsan, `duress gcc`, `duress clang` with ours."""
    result = {}
    for name, compiler in COMPILERS.items():
        if shutil.which(compiler) is None:
            continue
        output = runner.out / f"{source.stem}.{name}"
        build = [compiler, "-fsanitize=thread", *FLAGS]
        subprocess.run([*build, "-c", str(source), "-o", f"{output}.o"], check=True)
        subprocess.run([*build, f"{output}.o", "-o", str(output)], check=True)
        ours = runner.out / f"{source.stem}.duress.{name}"
        linker = [str(runner.build / "bin" / "duress-c++"), "-fuse-ld=lld", "-pthread"]
        subprocess.run([*linker, f"{output}.o", "-o", str(ours)], check=True)
        result[name], result[f"duress {name}"] = output, ours
    return result


def kernels(runner, options):
    rows = []
    for name in options.kernels:
        programs = binaries(runner, HERE / "kernels" / f"{name}.cc")
        for size in options.sizes:
            for threads in options.threads:
                commands = {tool: [binary, threads, *SIZES[name][size]] for tool, binary in programs.items()}
                rows.append(runner.fill(Row(name, threads, size), commands))
    print_rows(rows, options.markdown)


def print_rows(rows, markdown):
    """Seconds of CPU time, and Duress ÷ the compiler's own runtime on the same object."""
    there = [name for name in COMPILERS if any(name in row.samples for row in rows)]
    columns = [(name, what, text) for name in there for what, text in tables.WHAT]
    head = ["program", "threads", "size", *(f"libtsan of {name}, CPU s" for name in there)]
    head += [f"{text} ÷ {name}'s" for name, _, text in columns]
    lines = []
    for row in rows:
        line = [row.name, str(row.threads), row.size, *(tables.number(row.value(name, "cpu")) for name in there)]
        lines.append(line + [tables.number(row.ratio(f"duress {name}", name, what)) for name, what, _ in columns])
    groups = {"all": rows}
    for threads in sorted({row.threads for row in rows}):
        groups[f"{threads} threads"] = [row for row in rows if row.threads == threads]
    for title, group in groups.items():
        means = [
            tables.geometric_mean(r.ratio(f"duress {name}", name, what) for r in group) for name, what, _ in columns
        ]
        lines.append([f"geometric mean, {title}", "", "", *[""] * len(there), *map(tables.number, means)])
    required = ["required", "", "", *[""] * len(there)]
    lines.append(required + [tables.number(REQUIRED) if key[:2] == ("gcc", "cpu") else "" for key in columns])
    tables.print_table(head, lines, markdown)
