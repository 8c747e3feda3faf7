#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Peak resident memory against ThreadSanitizer's: an empty program, one with two threads, and programs from Debian's
sources after their work (tests/real builds them). The tools take turns; the median of --repeat runs is shown, in MB.

A package that the mirror does not have is left out, by name. Exit code 1 if a program takes more than under
ThreadSanitizer (what is required), or if a run failed.
"""
import argparse
import pathlib
import sys

from measurement import HERE, ROOT, Row, Runner
from real import COMPRESSORS, REQUESTS, build, free_port, write_input

TOOLS = ("native", "tsan", "duress")
NAMES = ("empty", "two_threads", *COMPRESSORS, "memcached")


def measured(runner, name):
    """The row of a program; None if it cannot be built here."""
    if name in ("empty", "two_threads"):
        commands = {tool: [runner.compile(HERE / "programs" / f"{name}.cc", tool)] for tool in TOOLS}
        return runner.fill(Row(name, 0, ""), commands, whole=True)
    folders = build(runner, name)
    if folders is None:
        return None
    if name == "memcached":
        client, port = runner.compile(HERE / "programs" / "memcached_client.cc", "native"), free_port()
        options = ["-u", "root", "-A", "-t", "4", "-l", "127.0.0.1", "-p", port, "-U", "0", "-m", "64"]
        commands = {tool: [folders[tool] / "memcached", *options] for tool in TOOLS}
        more = {"races": True, "client": [client, port, 8, REQUESTS]}
        return runner.fill(Row(name, 4, f"{REQUESTS} requests"), commands, **more)
    program, options, size = COMPRESSORS[name]
    text = runner.out / "text"
    write_input(text, size << 20)
    commands = {tool: [folders[tool] / program, *options] for tool in TOOLS}
    return runner.fill(Row(name, 4, f"{size} MB"), commands, whole=True, races=True, stdin=text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--limit", type=float, default=300, help="seconds for a run")
    parser.add_argument("--only", action="append", choices=NAMES, help="may be repeated")
    options = parser.parse_args()
    options.build = options.build.resolve()
    runner = Runner(options)
    rows = [row for row in (measured(runner, name) for name in options.only or NAMES) if row is not None]
    print("| program | native | ThreadSanitizer | duress | duress / ThreadSanitizer |")
    print("|---|---|---|---|---|")
    over = []
    for row in rows:
        values = [row.value(tool, "memory") for tool in TOOLS]
        if None in values:
            continue
        cells = [f"{value / 1024:.1f}" for value in values]
        print(f"| {row} | {' | '.join(cells)} | {values[2] / values[1]:.2f} |")
        if values[2] > values[1]:
            over.append(row.name)
    if over:
        print(f"more than ThreadSanitizer: {', '.join(over)}")
    for failure in runner.failures:
        print(f"error: {failure}", file=sys.stderr)
    return 1 if over or runner.failures else 0


if __name__ == "__main__":
    sys.exit(main())
