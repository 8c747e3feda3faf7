#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""documents.py BUILD OUT [NAME...]: writes the JSON documents of 30 example programs, for a comparison of two builds.

    git worktree add ../before HEAD && (cd ../before && tools/build.sh)
    tools/documents.py ../before/build /tmp/before && tools/documents.py build /tmp/after && diff -r /tmp/before
    /tmp/after

A change that should not change behaviour leaves all of them equal, byte by byte. Each program goes through `run
--controlled`, `explore`, `classify` and `verify` with a small budget and a fixed seed, and its text output is kept too.
What differs from run to
run (times, rates) is masked.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = """jumble/double_checked_locking jumble/racy_initialisation jumble/read_then_write jrf/simple jrf/simple_sync
jrf/simple_volatile jrf/unsafe_publication jrf/volatile_array patterns/withdraw racefuzzer/hash_set pm/avrora_last_bit pm/figure1
pm/figure2 pm/figure3 pm/figure4 pm/figure5 pm/figure6 pm/figure7 pm/figure8 pm/hsqldb_keep_running racefuzzer/linked_list
racefuzzer/array_list racefuzzer/figure1 racefuzzer/figure2 racefuzzer/hedc tutorial/bank tutorial/division tutorial/null_check
tutorial/use_after_free tutorial/use_before_init herlihy_shavit/peterson herlihy_shavit/treiber_stack""".split()
COMMANDS = {
    "run": ["run", "--controlled"],
    "explore": ["explore", "--runs", "200", "--keep-going", "-j", "1"],
    "classify": ["classify", "--runs", "20", "-j", "1"],
    "verify": ["verify", "--runs", "400", "-j", "1"],
    "verify-rc11": ["verify", "--model", "rc11", "--runs", "400", "-j", "1"],
}
MASKS = [(r'("(?:seconds|explore_seconds|pid|rate)": )[0-9.e+-]+', r"\1_"), (r"[0-9.,]+ ?(?:ms|s|/s|runs/s)\b", "_s")]


def mask(text):
    for pattern, shown in MASKS:
        text = re.sub(pattern, shown, text)
    return text


def one(build, out, name):
    folder = out / name.replace("/", "-")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copytree(ROOT / "examples", folder / "examples")
    subprocess.run(
        [
            build / "bin/duress-c++",
            "-g",
            "-O1",
            "-std=c++20",
            "-Iexamples/support",
            "-DDURESS_ANY_ORDER",
            "-pthread",
            f"examples/{name}.cc",
            "-o",
            "program",
        ],
        cwd=folder,
        check=True,
    )
    for key, words in COMMANDS.items():
        for form, option in (("txt", []), ("json", ["--json"])):
            done = subprocess.run(
                [build / "bin/duress", *words, *option, "--", "./program"],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                env=dict(os.environ, COLUMNS="100"),
            )
            (folder / f"{key}.{form}").write_text(mask(f"{done.stdout}\n--\n{done.stderr}\n-- {done.returncode}\n"))
            shutil.rmtree(folder / ".duress", ignore_errors=True)
    shutil.rmtree(folder / "examples")
    (folder / "program").unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("names", nargs="*", default=PROGRAMS)
    options = parser.parse_args()
    build, out = options.build.resolve(), options.out.resolve()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for done in pool.map(lambda name: one(build, out, name), options.names):
            pass
    print(f"{len(options.names)} programs, {len(COMMANDS)} commands: {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
