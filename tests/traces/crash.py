#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The trace of a program that crashed goes up to the crash; one of a program that was killed is a trace."""
import argparse
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    build = parser.parse_args().build.resolve()
    duress = build / "bin" / "duress"
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:

        def run(*words):
            return subprocess.run(
                [str(word) for word in words], cwd=scratch, capture_output=True, text=True, timeout=120
            )

        compiled = run(build / "bin" / "duress-c++", "-g", "-std=c++20", HERE / "crashes.cc", "-o", "prog", "-pthread")
        if compiled.returncode:
            print(compiled.stderr)
            return 1
        for end, mode, races in [
            ("abort", [], 1),
            ("abort", ["--accesses=all"], 1),
            ("abort", ["--controlled"], 1),
            ("kill", [], 0),
        ]:
            run(duress, "trace", "record", "-q", *mode, "-o", "trace", "--", "./prog", end)
            analyzed = run(duress, "trace", "analyze", "-q", "trace")
            if analyzed.stderr.count("data race on x") != races or analyzed.returncode != (66 if races else 0):
                failed += 1
                print(f"{end} {mode}: {analyzed.returncode} {analyzed.stderr}")
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
