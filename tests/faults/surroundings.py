#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Surroundings that are not the usual ones: what a command finds there is what it finds elsewhere, or it says in one line
what is missing.

allocators   jemalloc, tcmalloc and mimalloc, linked and preloaded
preloaded    other libraries in LD_PRELOAD
sandbox      programs that enter a seccomp sandbox, and duress in one
containers   no /dev/shm, no /proc, a root that cannot be written"""
import ctypes
import errno
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness.cases import expect, parser, report  # noqa: E402
from harness.tool import Tool  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
TIMEOUT = 60  # seconds: only a hang gets there
THEMES = ("allocators", "preloaded", "sandbox", "containers")
LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
ALLOCATORS = {
    "libjemalloc.so.2": "libjemalloc2",
    "libtcmalloc_minimal.so.4": "libtcmalloc-minimal4",
    "libmimalloc.so.2": "libmimalloc2.0",
}
COMMANDS = {
    "run": ["run"],
    "run controlled": ["run", "--controlled", "--seed", "1"],
    "explore": ["explore", "--runs", "40", "--keep-going", "-j", "1"],
    "classify": ["classify", "--runs", "3", "-j", "1"],
    "verify": ["verify", "-j", "1"],
}
# What the host and the runtime would like to have: x86-64's numbers.
SYSTEM_CALLS = {
    "personality": 135,
    "prctl": 157,
    "sched_setaffinity": 203,
    "userfaultfd": 323,
    "memfd_create": 319,
    "pidfd_open": 434,
    "close_range": 436,
    "ioctl": 16,
    "statx": 332,
    "flock": 73,
}


class Surroundings:
    def __init__(self, options):
        self.tool = Tool(options.build, options.duress)
        self.racing = self.tool.compile(HERE / "racing.cc", level="-O1")
        self.usual = {}

    def words(self, command, folder, program):
        return [
            self.tool.duress,
            *COMMANDS[command],
            "--json",
            f"{folder}/json",
            "--dir",
            f"{folder}/d",
            "--",
            *program,
        ]

    def answer(self, command, program, wrapper=(), **more):
        """Exit code and what was found; or one line of why there is none."""
        with tempfile.TemporaryDirectory(prefix="duress-surroundings-") as scratch:
            words = [*(str(word).format(scratch=scratch) for word in wrapper), *self.words(command, scratch, program)]
            done = subprocess.run(
                list(map(str, words)),
                cwd=scratch,
                env={**self.tool.env, **more.pop("env", {})},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=TIMEOUT,
                check=False,
                **more,
            )
            text = done.stderr.decode(errors="replace")
            document = pathlib.Path(scratch) / "json"
            found = found_in(json.loads(document.read_bytes())) if document.exists() else None
            return done.returncode, found, text

    def usual_answer(self, command, program):
        key = (command, *program)
        if key not in self.usual:
            self.usual[key] = self.answer(command, program)
        return self.usual[key]

    def same(self, command, program, usual=None, refusal=False, **more):
        def check():
            expected = self.usual_answer(command, usual or program)
            got = self.answer(command, program, **more)
            if refusal and got[0] == 125:
                lines = [line for line in got[2].splitlines() if line.startswith("duress: ")]
                expect(len(lines) == 1 and not got[1], f"125, and not one line that says why:\n{got[2]}")
                return
            expect(got[:2] == expected[:2], f"{got}\ninstead of\n{expected}")
            expect(
                not expected[1] or expected[1]["races"], "nothing is found in any surroundings: the test shows nothing"
            )

        return check

    # ---- allocators and preloaded libraries

    def allocators(self):
        plain = self.tool.compile(HERE / "heap.cc", level="-O1")
        missing = [package for name, package in ALLOCATORS.items() if not (LIBRARIES / name).exists()]
        if missing:
            print(f"skipped: {' '.join(missing)} not installed")
        for name, package in ALLOCATORS.items():
            library = LIBRARIES / name
            if package in missing:
                continue
            flags = ["-Wl,--no-as-needed", f"-l:{name}"]
            linked = self.tool.compile(HERE / "heap.cc", level="-O1", flags=flags)
            yield f"{name} linked, alone", lambda linked=linked: self.runs_alone(linked, {})
            yield f"{name} preloaded, alone", lambda library=library: self.runs_alone(plain, preload(library))
            for command in COMMANDS:
                if command == "verify":  # thousands of interleavings
                    continue
                yield f"{name} linked: {command}", self.same(command, [linked], [plain])
                if command != "classify":
                    yield f"{name} preloaded: {command}", self.same(command, [plain], env=preload(library))
        if missing:
            sys.exit(SKIPPED)

    def runs_alone(self, program, env):
        code, out, err = self.tool.run([program], "/", env=env)
        expect((code, out) == (0, b"558000\n"), f"exit code {code}:\n{out.decode()}\n{err.decode()}")

    def preloaded(self):
        counting = self.tool.compile(HERE / "counting.c", compiler=["clang-19"], library=True)
        program = self.tool.compile(HERE / "sandboxed.cc", level="-O1")
        for command in COMMANDS:
            yield f"a library that counts calls: {command}", self.same(command, [self.racing], env=preload(counting))
        yield "its functions are called", lambda: self.counted(counting, program)

    def counted(self, library, program):
        """Calls of the program pass it: one thread, two locks."""
        with tempfile.TemporaryDirectory(prefix="duress-surroundings-") as scratch:
            env = {**preload(library), "COUNTS": f"{scratch}/counts"}
            self.tool.run([program, "none"], scratch, env=env)
            alone = counts_in(f"{scratch}/counts")
            os.unlink(f"{scratch}/counts")
            self.tool.run(self.words("run", scratch, [program, "none"]), scratch, env=env)
            detected = counts_in(f"{scratch}/counts")
        expect([1, 2] in alone, f"alone: {alone}")
        expect([1, 2] in detected, f"under duress run: {detected}, alone: {alone}")

    # ---- seccomp

    def sandbox(self):
        program = self.tool.compile(HERE / "sandboxed.cc", level="-O1")
        for command in COMMANDS:
            usual = [program, "none"]
            yield f"a program that permits enough: {command}", self.same(command, [program, "permits"], usual)
            # Without control the log is open before the program enters its sandbox.
            refuses = self.same(command, [program, "errno"], usual, refusal=command != "run")
            yield f"a program that refuses system calls: {command}", refuses
        yield "a program that dies of system calls", lambda: self.killed([program, "kill"])
        for name, number in SYSTEM_CALLS.items():
            for command in ("run controlled", "explore", "verify"):
                yield f"no {name}: {command}", self.same(
                    command, [self.racing], refusal=True, preexec_fn=lambda n=number: forbid({n: errno.EPERM})
                )

    def killed(self, program):
        """Its own failure, as far as anybody can know; the message says what else it may be."""
        for command in ("run", "run controlled"):
            code, found, text = self.answer(command, program)
            expect(code == 128 + signal.SIGSYS, f"exit code {code}:\n{text}")
            expect("seccomp" in text and not (found and found["races"]), f"it does not say what may be wrong:\n{text}")

    # ---- containers

    def containers(self):
        root = os.getuid() == 0
        for name, script in {
            "no /dev/shm": "mount -t tmpfs -o ro,size=4k none /dev/shm",
            "no /proc": "mount -t tmpfs -o ro,size=4k none /proc",
            "/dev without anything": "mkdir {scratch}/dev && mknod -m 666 {scratch}/dev/null c 1 3 && mount --bind {scratch}/dev /dev",
            "a read-only root": "mount --bind {scratch} {scratch} && mount -o remount,bind,ro /",
        }.items():
            wrapper = ["unshare", "-m" if root else "-rm", "sh", "-c", f'{script} || exit {SKIPPED}; exec "$@"', "sh"]
            if subprocess.run(["unshare", *wrapper[1:2], "true"], capture_output=True, check=False).returncode != 0:
                print("skipped: this machine permits no mount namespaces")
                sys.exit(SKIPPED)
            for command in COMMANDS:
                yield f"{name}: {command}", self.same(command, [self.racing], wrapper=wrapper, refusal=True)


def preload(library):
    return {"LD_PRELOAD": str(library)}


def counts_in(path):
    return [list(map(int, line.split()))[:2] for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()]


def forbid(calls):
    """From now on these system calls of this process fail: numbers, and with which error."""
    load, equal, give = 0x20, 0x15, 0x06
    allow, fail = 0x7FFF0000, 0x00050000
    code = [struct.pack("HBBI", load, 0, 0, 0)]
    for number, error in calls.items():
        code += [struct.pack("HBBI", equal, 0, 1, number), struct.pack("HBBI", give, 0, 0, fail | error)]
    code.append(struct.pack("HBBI", give, 0, 0, allow))
    instructions = ctypes.create_string_buffer(b"".join(code))
    program = struct.pack("HxxxxxxP", len(code), ctypes.addressof(instructions))
    library = ctypes.CDLL(None, use_errno=True)
    no_new_privileges, set_filter, filter_mode = 38, 22, 2
    library.prctl(no_new_privileges, 1, 0, 0, 0)
    if library.prctl(set_filter, filter_mode, program, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")


def found_in(document):
    """What must not depend on the surroundings."""
    races = sorted(race["id"] for race in document.get("races", []))
    return {
        "races": races,
        "failures": sorted(failure["id"] for failure in document.get("failures", [])),
        **{key: document[key] for key in ("runs", "interleavings", "complete") if key in document},
    }


def main():
    options = parser(__doc__).parse_args()
    surroundings = Surroundings(options)
    report(case for theme in options.programs or THEMES for case in getattr(surroundings, theme)())


main()
