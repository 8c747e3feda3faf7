#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy 19 (.clang-tidy) with the build's compile commands: check_tidy.py BUILD [FOLDER...]

A file that passed is not checked again until it, a header of ours that it includes, its command or .clang-tidy changes:
what was checked is kept in BUILD/tidy. Tests are left out, and code below testing/."""
import argparse
import concurrent.futures
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
TIDY = "clang-tidy-19"
# Folders of src whose headers (LLVM, CLI11, JSON) make each file take 2 to 10 s: checked with --heavy, by `test.sh real`.
HEAVY = ("classify", "cli", "collide", "pass", "repair", "report")


def is_ours(path):
    return path.suffix == ".cc" and not path.name.endswith("_test.cc") and "testing" not in path.parts


def commands(build, folders):
    """(file, entry) of compile_commands.json, each file once."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"])
        if path.is_relative_to(ROOT / "src") and is_ours(path) and path.relative_to(ROOT / "src").parts[0] in folders:
            found.setdefault(path, without_precompiled(entry))
    return sorted(found.items())


def headers(build):
    """By object file: our files that it was built from. Empty for what was not built."""
    listed = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=False).stdout
    found, current = {}, None
    for line in listed.splitlines():
        if line.startswith("    "):
            path = (build / line.strip()).resolve()
            if path.is_relative_to(ROOT):
                current.append(path)
        elif ":" in line:
            current = found.setdefault(line.split(":")[0], [])
    return found


def without_precompiled(entry):
    """The command without precompiled headers, so that each file must include what it uses."""
    words = re.sub(r" -Winvalid-pch( -Xclang \S+){4}", "", entry["command"])
    return {**entry, "command": words}


def object_of(entry):
    return re.search(r" -o (\S+)", entry["command"])[1]


def key_of(path, entry, inputs, digests):
    parts = [entry["command"], *(digest(p, digests) for p in sorted({path, ROOT / ".clang-tidy", *inputs}))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24]


def digest(path, known):
    if path not in known:
        known[path] = hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""
    return known[path]


def check(database, path, stamp):
    """What clang-tidy says; "" if nothing."""
    done = subprocess.run([TIDY, "-p", database, "--quiet", path], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        stamp.touch()
        return ""
    return done.stdout + done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folders", nargs="*", help="of src; default: all but the heavy ones")
    parser.add_argument("--heavy", action="store_true", help="those that take minutes, instead of the others")
    parser.add_argument("-j", type=int, default=2)
    options = parser.parse_args()
    build = options.build.resolve()
    light = [p.name for p in (ROOT / "src").iterdir() if p.is_dir() and p.name not in HEAVY]
    folders = options.folders or (HEAVY if options.heavy else light)
    passed = build / "tidy"
    passed.mkdir(exist_ok=True)
    built, digests, todo = headers(build), {}, []
    entries = commands(build, folders)
    for path, entry in entries:
        stamp = passed / key_of(path, entry, built.get(object_of(entry), []), digests)
        if not stamp.exists():
            todo.append((path, stamp))
    failed = 0
    with tempfile.TemporaryDirectory() as database, concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        pathlib.Path(database, "compile_commands.json").write_text(json.dumps([entry for _, entry in entries]))
        for said in pool.map(lambda work: check(database, *work), todo):
            failed += bool(said)
            sys.stdout.write(said)
    print(f"{len(todo)} files checked, {failed} with warnings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
