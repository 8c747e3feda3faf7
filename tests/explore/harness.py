#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the tests of `duress explore` share: the compiler with its cache, the command, the programs' headers."""
import argparse
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import precompiled  # noqa: E402

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
SUPPORT = ROOT / "examples" / "support"
TIMEOUT = 300  # seconds: only a hang gets there
SEED = 1
KEPT_BUILDS = 8  # of each program, for different flags


class Failure(Exception):
    pass


class Program:
    """One source file and what its header states, see run.py."""

    def __init__(self, path, statements=None):
        """statements: instead of the header's, as (key, value)."""
        self.path = path
        self.kinds, self.within, self.args, self.flags, self.options = [], 1000, [], [], []
        self.passes = []  # (options, arguments)
        self.no_failure = self.fast = False
        self.replays = 100
        if statements is None:
            found = (re.match(r"//\s*([A-Z][A-Z-]+)(?::\s*(.*))?$", line) for line in path.read_text().splitlines())
            statements = [(match[1], (match[2] or "").strip()) for match in found if match]
        for key, value in statements:
            self.statement(key, value)
        self.args = self.args or [[]]
        if bool(self.kinds) == self.no_failure:
            raise ValueError(f"{path}: needs either EXPECT-FAILURE or EXPECT-NO-FAILURE")

    def statement(self, key, value):
        if key == "EXPECT-FAILURE":
            self.kinds = [kind.strip() for kind in value.split("|")]
        elif key == "EXPECT-NO-FAILURE":
            self.no_failure = True
        elif key == "WITHIN":
            self.within = int(value)
        elif key == "REPLAYS":
            self.replays = int(value)
        elif key == "RUN-ARGS":
            self.args.append(shlex.split(value))
        elif key == "FLAGS":
            self.flags = shlex.split(value)
        elif key == "OPTIONS":
            self.options = shlex.split(value)
        elif key == "PASSES":
            options, _, args = value.partition(" -- ")
            self.passes.append((shlex.split(options), shlex.split(args)))
        elif key == "SUITE":
            self.fast = value == "fast"
        elif key.startswith("EXPECT"):
            raise ValueError(f"{self.path}: unknown statement {key}")


class Tool:
    """Duress as it was built: compiles with a cache, and runs commands in folders of their own."""

    def __init__(self, build, duress=None):
        self.build = build.resolve()
        self.duress = str(duress.resolve() if duress else self.build / "bin/duress")
        self.out = self.build / "tests" / "explore"
        parts = [self.build / "bin/duress-cc", *(self.build / "lib").rglob("*")]
        stamp = [(str(p), p.stat().st_mtime_ns) for p in sorted(parts) if p.is_file()]
        headers = [(p.name, p.read_bytes()) for p in sorted(SUPPORT.iterdir())]
        self.stamp = repr((stamp, headers)).encode()
        self.env = {k: v for k, v in os.environ.items() if k not in ("DURESS_OPTIONS", "CI")}
        with open(ROOT / "docs/duress-1.schema.json", encoding="utf-8") as file:
            self.schema = json.load(file)

    def compile(self, source, flags=(), level="-O2", shift=0, compiler=None):
        """The program of that source, named as the source is. Built once for equal source, flags and compiler.

        shift: so many lines of comment are put at the top."""
        is_c = source.suffix == ".c"
        driver = compiler or [str(self.build / "bin" / ("duress-cc" if is_c else "duress-c++"))]
        command = [*driver, "-std=c11" if is_c else "-std=c++20", level, "-g", f"-I{SUPPORT}", f"-I{source.parent}", "-pthread", *flags]
        text = "// a line more\n" * shift + source.read_text()
        key = hashlib.sha256(repr((command, text)).encode() + self.stamp).hexdigest()[:16]
        folder = self.out / f"{source.parent.name}-{source.stem}"
        binary = folder / key / source.stem
        if not binary.exists():
            binary.parent.mkdir(parents=True, exist_ok=True)
            copy = binary.parent / source.name
            copy.write_text(text)
            partial = f"{binary}.{os.getpid()}.{threading.get_ident()}"
            headers = [] if is_c else precompiled.flags_for(command, self.out, self.stamp)
            done = subprocess.run([*command, *headers, source.name, "-o", partial], cwd=binary.parent, capture_output=True,
                                  text=True, env=self.env)
            if done.returncode != 0:
                raise Failure(f"does not compile: {shlex.join(command)} {copy}\n{done.stderr}")
            os.rename(partial, binary)
            for old in sorted(folder.iterdir(), key=lambda d: d.stat().st_mtime)[:-KEPT_BUILDS]:
                shutil.rmtree(old, ignore_errors=True)
        return binary

    def run(self, words, folder, stdin=b"", timeout=TIMEOUT, env=None):
        """Runs to the end: (exit code, stdout, stderr), both as bytes. On a hang its process group is ended."""
        process = subprocess.Popen(words, cwd=folder, env={**self.env, **(env or {})}, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            out, err = process.communicate(stdin, timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise Failure(f"no end within {timeout} s: {shlex.join(map(str, words))}") from None
        return process.returncode, out, err

    def explore(self, binary, args=(), options=(), jobs=2, folder=None):
        """(exit code, document or None, stderr) of one search, in a folder where nothing is known before."""
        with tempfile.TemporaryDirectory(prefix="duress-explore-") as scratch:
            words = [self.duress, "explore", "--seed", str(SEED), "-j", str(jobs), *options, "--json", "--dir",
                     f"{folder or scratch}/d", "--", str(binary), *args]
            code, out, err = self.run(words, folder or scratch)
            text = err.decode(errors="replace")
            try:
                return code, json.loads(out) if out else None, text
            except ValueError:
                raise Failure(f"no JSON: {shlex.join(words)}\n{out[:2000]}\n{text}") from None

    def replay(self, token, binary, args=(), options=(), folder="d"):
        """(exit code, stdout, stderr); `folder`: name of the folder for --dir, on which nothing must depend."""
        with tempfile.TemporaryDirectory(prefix="duress-replay-") as scratch:
            words = [self.duress, "replay", token, "--dir", f"{scratch}/{folder}", *options, "--", str(binary), *args]
            return self.run(words, scratch)


def parse_arguments(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="build folder of Duress")
    parser.add_argument("--duress", type=pathlib.Path, help="the command; default: that of the build folder")
    parser.add_argument("--suite", choices=["fast", "all"], default="all")
    return parser
