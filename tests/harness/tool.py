# SPDX-License-Identifier: Apache-2.0
"""Duress as it was built: compiles target programs with a cache that all tests share, and runs commands on them."""
import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import tempfile

from . import precompiled
from .cases import Failure

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUPPORT = ROOT / "examples" / "support"
TIMEOUT = 300  # seconds: only a hang gets there
SEED = 1
KEPT_BUILDS = 24  # of each program, for different flags
# What ends up in a target program, or decides how it is compiled.
COMPILER_PARTS = (
    "bin/duress-cc",
    "bin/duress-c++",
    "lib/duress.syms",
    "lib/duress_pass.so",
    "lib/duress_attributes.so",
    "lib/libduress_rt.a",
    "lib/libduress_rt_strong.a",
    "lib/libduress_rt_malloc.a",
    "lib/libduress_stub.a",
)


class Tool:
    """Compiles with a cache, and runs commands in folders of their own.

    detector: `duress`, or `tsan` and `native` for comparisons: then programs are built by the plain compiler."""

    def __init__(self, build, duress=None, detector="duress"):
        self.build = build.resolve()
        self.detector = detector
        self.duress = str(duress.resolve() if duress else self.build / "bin/duress")
        self.out = self.build / "tests" / "built"
        parts = [self.build / part for part in COMPILER_PARTS] if detector == "duress" else []
        stamp = [(str(p), p.stat().st_mtime_ns) for p in parts if p.is_file()]
        headers = [(p.name, p.read_bytes()) for p in sorted(SUPPORT.iterdir())]
        self.stamp = repr((stamp, headers)).encode()
        self.env = {k: v for k, v in os.environ.items() if k not in ("DURESS_OPTIONS", "CI")}

    def compiler(self, is_c):
        if self.detector == "duress":
            return [str(self.build / "bin" / ("duress-cc" if is_c else "duress-c++"))]
        return ["clang-19" if is_c else "clang++-19", *(["-fsanitize=thread"] if self.detector == "tsan" else [])]

    def compile(self, source, flags=(), level="-O2", shift=0, compiler=None, library=False):
        """The program (or shared library) of that source, named as the source is. Built once for equal source, flags
        and compiler, whichever test asks first.

        shift: so many lines of comment are put at the top."""
        is_c = source.suffix == ".c"
        driver = compiler or self.compiler(is_c)
        command = [
            *driver,
            "-std=c11" if is_c else "-std=c++20",
            level,
            "-g",
            f"-I{SUPPORT}",
            f"-I{source.parent}",
            "-pthread",
            "-fuse-ld=lld",  # half the time of GNU ld, which the tests of projects use
            *(["-shared", "-fPIC"] if library else []),
            *map(str, flags),
        ]
        text = "// a line more\n" * shift + source.read_text()
        beside = [(p.name, p.read_bytes()) for p in sorted(source.parent.glob("*.h"))]
        key = hashlib.sha256(repr((command, text, beside)).encode() + self.stamp).hexdigest()[:16]
        folder = self.out / f"{source.parent.name}-{source.stem}"
        binary = folder / key / (f"{source.stem}.so" if library else source.stem)
        binary.parent.mkdir(parents=True, exist_ok=True)
        with locked(binary.parent / "lock"):
            if binary.exists():
                os.utime(binary.parent)
                return binary
            copy = binary.parent / source.name
            copy.write_text(text)
            headers = [] if is_c else precompiled.flags_for(command, self.out, self.stamp)
            partial = f"{binary}.partial"
            # The source stands before libraries among the flags, as linkers want it.
            at = len(command) - len(flags)
            words = [*command[:at], *headers, source.name, *command[at:], "-o", partial]
            done = subprocess.run(words, cwd=binary.parent, capture_output=True, text=True, env=self.env, check=False)
            if done.returncode != 0:
                raise Failure(f"does not compile: {shlex.join(words)}\n{copy}\n{done.stderr}")
            os.rename(partial, binary)
        for old in sorted(folder.iterdir(), key=lambda d: d.stat().st_mtime)[:-KEPT_BUILDS]:
            shutil.rmtree(old, ignore_errors=True)
        return binary

    def run(self, words, folder, stdin=b"", timeout=TIMEOUT, env=None):
        """Runs to the end: (exit code, stdout, stderr), both as bytes. On a hang its process group is ended."""
        process = subprocess.Popen(
            [str(word) for word in words],
            cwd=folder,
            env={**self.env, **(env or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            out, err = process.communicate(stdin, timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise Failure(f"no end within {timeout} s: {shlex.join(map(str, words))}") from None
        return process.returncode, out, err

    def explore(self, binary, args=(), options=(), jobs=2, folder=None, seed=SEED):
        """(exit code, document or None, stderr) of one search, in a folder where nothing is known before."""
        with tempfile.TemporaryDirectory(prefix="duress-explore-") as scratch:
            words = [
                self.duress,
                "explore",
                "--seed",
                str(seed),
                "-j",
                str(jobs),
                *options,
                "--json",
                "--dir",
                f"{folder or scratch}/d",
                "--",
                str(binary),
                *args,
            ]
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


@contextlib.contextmanager
def locked(path):
    """Only one process at a time."""
    with open(path, "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
