#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A long trace of several threads: every access is in it once, over several rounds, and recording ends."""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
WRITES = 6 * 1_000_000


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    build = parser.parse_args().build.resolve()
    duress = build / "bin" / "duress"
    with tempfile.TemporaryDirectory() as scratch:

        def run(*words):
            return subprocess.run(
                [str(word) for word in words], cwd=scratch, capture_output=True, text=True, timeout=240
            )

        run(
            build / "bin" / "duress-c++", "-g", "-O1", "-std=c++20", HERE / "rounds.cc", "-o", "prog", "-pthread"
        ).check_returncode()
        run(duress, "trace", "record", "-q", "--accesses=all", "-o", "trace", "--", "./prog").check_returncode()
        counted = run(duress, "trace", "analyze", "-q", "-t", "Count", "trace")
        writes = re.search(r"Count: (\d+) writes", counted.stdout)
        found = run(duress, "trace", "analyze", "-q", "trace")
        # What the library writes for its threads comes on top.
        good = writes and WRITES <= int(writes[1]) < WRITES + 1000 and found.returncode == 0
        print(f"{writes and writes[1]} writes, {found.returncode}", counted.stderr, found.stderr)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
