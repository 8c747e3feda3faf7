#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults of the host at moments that a seed chooses among all its calls (injected.c): no memory, no descriptors, no room,
no processes, a clock that jumps, SIGKILL. The answer is that of an undisturbed run, or an error in one line; after a
kill the same command gets there. No process, no temporary file and no work folder is left.

--moments N   so many moments of each kind for each command
limits        ulimit -v, -n and -u instead"""
import json
import os
import pathlib
import random
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness.cases import expect, parser, report  # noqa: E402
from harness.tool import Tool  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
KINDS = ("memory", "files", "room", "processes", "clock", "kill")
THEMES = (*KINDS, "limits")
# What was found before the fault, and notes about a test: beside the line that says what went wrong.
SUMMARY = re.compile(
    r" in (all )?[0-9,]+ (runs?|interleavings?)\b|^duress: [1-9][0-9]* data races?\b|^duress:   |fails in \d+ of \d+ schedules"
)
NEVER = 10**9
HANG = 120  # seconds
NOBODY = 65534
WORKERS = {"two workers": ["verify", "-j", "2"]}
COMMANDS = {
    "run": ["run"],
    "explore": ["explore", "--runs", "60", "--no-minimise", "--keep-going", "-j", "1"],
    "classify": ["classify", "--runs", "3", "-j", "1"],
    "verify": ["verify", "-j", "1"],
    "test": ["test", "{suite}", "--runs", "3", "-j", "1"],
}
# What differs from run to run anyway.
VARYING = ("seconds", "time", "command", "runs_per_second", "found_before")


class Moments:
    def __init__(self, options, scratch):
        self.tool = Tool(options.build, options.duress)
        self.racing = self.tool.compile(HERE / "racing.cc", level="-O1")
        self.library = self.tool.compile(HERE / "injected.c", compiler=["clang-19"], library=True)
        self.suite = pathlib.Path(scratch) / "suite"
        self.suite.mkdir()
        os.chmod(scratch, 0o755)  # other users run there too
        (self.suite / "CTestTestfile.cmake").write_text(f'add_test(racing "{self.racing}")\n', encoding="utf-8")
        self.answers = {}

    def words(self, command, folder):
        words = [word.format(suite=self.suite) for word in {**COMMANDS, **WORKERS}[command]]
        program = [] if command == "test" else ["--", self.racing]
        return list(map(str, [self.tool.duress, *words, f"--json={folder}/json", "--dir", f"{folder}/d", *program]))

    def run(self, command, folder, env=None, **more):
        """Exit code, what was found or None, stderr, number of calls."""
        mark = uuid.uuid4().hex
        (folder / "tmp").mkdir(exist_ok=True)
        for name in ("json", "count"):
            (folder / name).unlink(missing_ok=True)
        ours = {"FAULT_MARK": mark, "TMPDIR": f"{folder}/tmp", "INJECT_COUNT": f"{folder}/count"}
        done = subprocess.run(
            self.words(command, folder),
            cwd=folder,
            env={**self.tool.env, **ours, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=HANG,
            check=False,
            **more,
        )
        document = folder / "json"
        found = None
        if document.exists() and done.returncode not in (2, 125, -signal.SIGKILL):
            found = found_in(json.loads(document.read_bytes()))
        calls = folder / "count"
        # One that is killed, or can open nothing any more, leaves its work folder to the next.
        removes = done.returncode in (0, 66) and (env or {}).get("INJECT_KIND") != "files"
        expect_nothing_left(mark, folder, done.returncode, removes)
        return (
            done.returncode,
            found,
            done.stderr.decode(errors="replace"),
            int(calls.read_text()) if calls.exists() else 0,
        )

    def injected(self, kind, at, length=1):
        return {
            "LD_PRELOAD": str(self.library),
            "INJECT_NAME": "duress",
            "INJECT_KIND": kind,
            "INJECT_AT": str(at),
            "INJECT_FOR": str(length),
        }

    def undisturbed(self, command, kind):
        if (command, kind) not in self.answers:
            with tempfile.TemporaryDirectory(prefix="duress-moments-") as scratch:
                answer = self.run(command, pathlib.Path(scratch), self.injected(kind, NEVER))
                expect(answer[1] is not None, f"{command} without a fault: exit code {answer[0]}:\n{answer[2]}")
                self.answers[command, kind] = answer
        return self.answers[command, kind]

    def at_moment(self, command, kind, part, length):
        """part: of all calls, between 0 and 1."""

        def check():
            code, found, _, calls = self.undisturbed(command, kind)
            at = 1 + int(part * calls)
            with tempfile.TemporaryDirectory(prefix="duress-moments-") as scratch:
                folder = pathlib.Path(scratch)
                got = self.run(command, folder, self.injected(kind, at, length))
                said = f"at call {at} of {calls}: exit code {got[0]}, {got[1]}\n{got[2]}"
                if kind == "kill":
                    expect(got[0] in (-signal.SIGKILL, code), f"not killed {said}")
                    got = self.run(command, folder)
                    said = f"killed at call {at} of {calls}, again: exit code {got[0]}, {got[1]}\n{got[2]}"
                if got[0] in (2, 125):
                    expect_one_line(got[2], said)
                    return
                expect(got[:2] == (code, found), f"{said}\ninstead of exit code {code}, {found}")

        return check

    def a_worker_less(self):
        """Each thread and process of a campaign with two workers in turn is the one that cannot be started."""
        code, _, _, calls = self.undisturbed("two workers", "processes")
        for at in range(1, min(calls, 10) + 1):
            with tempfile.TemporaryDirectory(prefix="duress-moments-") as scratch:
                got = self.run("two workers", pathlib.Path(scratch), self.injected("processes", at))
                said = f"at call {at} of {calls}: exit code {got[0]}\n{got[2]}"
                if got[0] == 125:
                    expect_one_line(got[2], said)
                else:
                    expect(got[0] == code, f"{said}\ninstead of {code}")

    def limited(self, command, limit, value, user=0):
        def apply():
            resource.setrlimit(limit, (value, value))
            if user:
                os.setgid(user)
                os.setuid(user)

        def check():
            code, found, _, _ = self.undisturbed(command, "clock")
            with tempfile.TemporaryDirectory(prefix="duress-moments-") as scratch:
                folder = pathlib.Path(scratch)
                (folder / "tmp").mkdir()
                for path in (folder, folder / "tmp"):
                    os.chmod(path, 0o777)
                got = self.run(command, folder, preexec_fn=apply)
                said = f"exit code {got[0]}, {got[1]}\n{got[2]}"
                if got[0] in (2, 125):
                    expect_one_line(got[2], said)
                    return
                expect(got[:2] == (code, found), f"{said}\ninstead of exit code {code}, {found}")

        return check

    def cases(self, theme, moments):
        if theme == "limits":
            for command in COMMANDS:
                for value in (512, 1 << 10, 16 << 10):
                    yield f"ulimit -v {value} MB: {command}", self.limited(command, resource.RLIMIT_AS, value << 20)
                for value in (4, 6, 8, 12, 16, 32):
                    yield f"ulimit -n {value}: {command}", self.limited(command, resource.RLIMIT_NOFILE, value)
                if os.getuid() == 0 and command != "run":  # there it is the program that has no thread
                    for value in (1, 2, 4):
                        number = self.limited(command, resource.RLIMIT_NPROC, value, NOBODY)
                        yield f"ulimit -u {value}: {command}", number
            return
        if theme == "processes":
            yield "a worker that cannot be started", self.a_worker_less
        for command in COMMANDS:
            chosen = random.Random(f"{theme} {command}")
            for number in range(moments):
                length = chosen.choice((1, 1, NEVER))  # a fault that passes, or one that stays
                part = chosen.random()
                yield f"{theme}, moment {number + 1}: {command}", self.at_moment(command, theme, part, length)


def found_in(document):
    """What must not depend on faults."""
    text = {key: value for key, value in document.items() if key not in VARYING}
    races = sorted((race["id"], str(race.get("verdict"))) for race in document.get("races", []))
    failures = sorted(failure["id"] for failure in document.get("failures", []))
    failures = sorted({*failures, *document.get("found_before", [])})
    return {"races": races, "failures": failures, "complete": text.get("complete"), "runs": text.get("runs")}


def expect_one_line(text, said):
    lines = [line for line in text.splitlines() if line.startswith("duress: ") and not SUMMARY.search(line)]
    expect("duress: internal error" not in text, f"not one that says what is missing {said}")
    expect(len(lines) == 1, f"an error, and not one line that says why {said}")


def expect_nothing_left(mark, folder, code, removes):
    """Processes are ended; temporary files are gone, and the work folder too if the host could remove it."""
    mark = f"FAULT_MARK={mark}".encode()
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if mark in (entry / "environ").read_bytes():
                process = os.pidfd_open(int(entry.name))
                if not select.select([process], [], [], 30)[0]:
                    signal.pidfd_send_signal(process, signal.SIGKILL)
                    expect(False, f"process {entry.name} is left behind, exit code {code}")
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
    left = [path.name for path in (folder / "tmp").iterdir()]
    expect(not left, f"{left} is left in TMPDIR, exit code {code}")
    work = folder / "d" / "work"
    if removes and work.exists():
        names = [path.name for path in work.iterdir() if path.is_dir()]
        expect(not names, f"work folders {names} are left, exit code {code}")


def main():
    made = parser(__doc__)
    made.add_argument("--moments", type=int, default=2)
    options = made.parse_args()
    with tempfile.TemporaryDirectory(prefix="duress-moments-") as scratch:
        moments = Moments(options, scratch)
        report(case for theme in options.programs or THEMES for case in moments.cases(theme, options.moments))


main()
