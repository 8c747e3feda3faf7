#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Drives the tests of the pass.

drive.py check FILE    runs the `// RUN:` lines of FILE; all must succeed
drive.py bodies FILE   builds FILE at each --levels and runs its plain, checked and faithful bodies, the last with
                       loud and with quiet sites: output and exit code must be those of the program built without the
                       pass, and the shadow stack balanced

`// FLAGS: ...` in FILE adds compiler flags. In RUN lines: %cc %c++ (with pass, runtime and -g), %clang %clang++
(bare), %plugin, %attributes (the front-end plugin), %runtime, %s (FILE), %t (a scratch path), %dump (prints sites),
%check (FileCheck).
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def fail(message):
    sys.exit(f"FAILED: {message}")


def directives(path, word):
    pattern = re.compile(rf"//\s*{word}:\s*(.*)")
    with open(path) as file:
        return [m.group(1).strip() for line in file if (m := pattern.search(line))]


def check(options, scratch):
    link = f"-Wl,--whole-archive {options.runtime} -Wl,--no-whole-archive -ldl -lpthread -lm"
    words = {
        "%c++": f"{options.clangxx} -g -fpass-plugin={options.plugin} {link}",
        "%cc": f"{options.clang} -g -fpass-plugin={options.plugin} {link}",
        "%clang++": options.clangxx,
        "%clang": options.clang,
        "%plugin": options.plugin,
        "%attributes": os.path.join(os.path.dirname(options.plugin), "duress_attributes.so"),
        "%runtime": options.runtime,
        "%dump": f"{sys.executable} {HERE}/dump_sites.py",
        "%check": options.filecheck,
        "%s": options.file,
        "%t": os.path.join(scratch, "t"),
    }
    pattern = re.compile("|".join(re.escape(w) for w in sorted(words, key=len, reverse=True)))
    lines = directives(options.file, "RUN")
    if not lines:
        fail("no RUN lines")
    for line in lines:
        command = "set -o pipefail; " + pattern.sub(lambda m: words[m.group(0)], line)
        result = subprocess.run(["bash", "-c", command], cwd=scratch)
        if result.returncode != 0:
            fail(f"exit {result.returncode}: {command}")


def build(command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        fail(f"{' '.join(command)}\n{result.stdout[-4000:]}")


def execute(program, **environment):
    return subprocess.run(
        [program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=300,
        env={**os.environ, **environment},
    )


def bodies(options, scratch):
    flags = " ".join(directives(options.file, "FLAGS")).split()
    compiler = options.clang if options.file.endswith(".c") else options.clangxx
    libraries = ["-ldl", "-lpthread", "-lm"]
    for level in options.levels.split(","):
        native, ours = os.path.join(scratch, "native"), os.path.join(scratch, "ours")
        line = [compiler, "-w", "-g", f"-O{level}", *flags, options.file]
        build([*line, "-o", native, *libraries])
        build([*line, f"-fpass-plugin={options.plugin}", options.runtime, "-o", ours, *libraries])
        expected = execute(native)
        accesses = {}
        for body, quiet in ("0", ""), ("1", ""), ("2", ""), ("2", "1"):
            got = execute(ours, DURESS_TEST_BODY=body, DURESS_TEST_QUIET=quiet, DURESS_TEST_COUNTS="1")
            name = f"{os.path.basename(options.file)} -O{level} body {body}{' quiet' if quiet else ''}"
            if got.returncode != expected.returncode or got.stdout != expected.stdout:
                fail(
                    f"{name}: exit {got.returncode}, not {expected.returncode}\n{got.stdout[-2000:]}{got.stderr[-2000:]}"
                )
            if got.returncode == 0 and "frames 0\n" not in got.stderr:
                fail(f"{name}: unbalanced frames\n{got.stderr[-500:]}")
            hooks = re.search(r"__duress_(check|test|load|store|range|stride|atomic)", got.stderr) is not None
            if not quiet and hooks != (body != "0"):
                fail(f"{name}: hooks called: {hooks}\n{got.stderr}")
            calls = re.findall(r"__duress_(?:load|store)\d+ (\d+)", got.stderr)
            accesses[body, quiet] = sum(map(int, calls))
        # What is in no loop and not in a small function stays a call: most of a program without loops.
        loud, quiet = accesses["2", ""], accesses["2", "1"]
        if quiet > (loud / 4 if loud > 1000 else loud - 1):
            fail(f"{os.path.basename(options.file)} -O{level}: {quiet} of {loud} accesses of quiet sites call a hook")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=["check", "bodies"])
    parser.add_argument("file")
    parser.add_argument("--clang", required=True)
    parser.add_argument("--clangxx", required=True)
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--runtime", required=True)
    parser.add_argument("--filecheck", default="FileCheck")
    parser.add_argument("--levels", default="0,2")
    options = parser.parse_args()
    os.environ["DURESS_PASS_VERIFY"] = "1"
    os.environ["LC_ALL"] = "C"
    with tempfile.TemporaryDirectory() as scratch:
        (check if options.mode == "check" else bodies)(options, scratch)


main()
