#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program that forks while its threads run ends under every kind of chain, in parent and children, with no race."""
import argparse
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CHAINS = ["FastTrack", "DJIT+", "Goldilocks", "MultiRace", "[SHB,RaceTrack,Atomizer]", "FastTrack:Velodrome"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    build = parser.parse_args().build.resolve()
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run(
            [
                build / "bin" / "duress-c++",
                "-g",
                "-O1",
                "-std=c++20",
                HERE / "forks.cc",
                "-o",
                f"{scratch}/prog",
                "-pthread",
            ],
            check=True,
        )
        for chain in CHAINS:
            run = subprocess.run(
                [build / "bin" / "duress", "run", "-t", chain, "--", "./prog"],
                cwd=scratch,
                capture_output=True,
                text=True,
                timeout=120,
            )
            if run.returncode != 0 or run.stdout != "done 20000\n":
                failed += 1
                print(f"{chain}: {run.returncode} {run.stdout} {run.stderr}")
    print(f"{len(CHAINS)} chains, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
