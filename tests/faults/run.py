#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real faults while commands work: a full disk, limits, streams that cannot be written. Whatever
happens, no command says anything that was not run: it repeats the execution, or ends with 125 and one line.

disk      the folder of --dir is on a disk without room, or one that is full in the middle of the work
folder    the current folder has been removed
limits    ulimit -f, -s and -v; SIGCHLD that is ignored
streams   standard output and documents on /dev/full, streams that are closed
time      --time and SIGTERM end executions that do not end by themselves, and what was found is reported"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

from common import COMMANDS, SKIPPED, Faults, counts_of, expect, expect_end, watch
from harness.cases import parser, report
from harness.tool import TIMEOUT

THEMES = ("disk", "folder", "limits", "streams", "time")


class Surroundings(Faults):
    # ---- disk

    def on_full_disk(self, command, env=None):
        """The command with its folder on a disk of 256 KiB; without `env` the disk is full from the beginning."""
        with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
            disk = pathlib.Path(scratch) / "disk"
            disk.mkdir()
            env = {name: value.format(disk=disk, scratch=scratch) for name, value in (env or {}).items()}
            fill = "" if env else f"head -c 300000 /dev/zero >{disk}/fill 2>{scratch}/said; "
            script = f'mount -t tmpfs -o size=256k none {disk} || exit {SKIPPED}; {fill}exec "$@"'
            words = ["unshare", *self.unshare, "sh", "-c", script, "sh", *self.words(command, f"{disk}/d")]
            return self.tool.run(words, scratch, env=env)

    def full_disk(self, command):
        return lambda: self.says_nothing(*self.on_full_disk(command), about="room")

    def filled_disk(self, command):
        env = {"FAULT_COUNT": "{scratch}/count", "FAULT_FILL": "{disk}/fill"}
        env["FAULT_RUN"] = "2" if command in ("explore", "classify") else "1"
        return lambda: self.says_nothing(*self.on_full_disk(command, env), about="")

    @property
    def unshare(self):
        return ["-m"] if os.getuid() == 0 else ["-rm"]

    def can_mount(self):
        script = "mount -t tmpfs -o size=64k none /tmp"
        words = ["unshare", *self.unshare, "sh", "-c", script]
        return subprocess.run(words, capture_output=True, check=False).returncode == 0

    # ---- limits and streams

    def limited(self, limit, command, good=()):
        """Under a limit of the shell: the exit code is one of `good`, or 125 with one line."""

        def check():
            with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
                words = ["sh", "-c", f'ulimit {limit}; exec "$@"', "sh", *self.words(command, f"{scratch}/d")]
                code, out, err = self.tool.run(words, scratch)
                if code not in good:
                    self.says_nothing(code, out, err, about="")

        return check

    def signal_ignored(self, command):
        """Who starts the command ignores the ends of children, as some supervisors do."""

        def check():
            with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
                documents = []
                for name, before in {"usual": "", "ignored": "trap '' CHLD; "}.items():
                    words = self.words(command, f"{scratch}/{name}", extra=["--json", "-j", "1"])
                    code, out, _ = self.tool.run(["sh", "-c", f'{before}exec "$@"', "sh", *words], scratch)
                    documents.append((code, counts_of(json.loads(out))))
                expect(documents[0] == documents[1], f"{documents[1]}\ninstead of\n{documents[0]}")

        return check

    def limited_trace(self):
        with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
            words = [self.tool.duress, "trace", "record", "--", self.racing]
            code, out, err = self.tool.run(["sh", "-c", 'ulimit -f 1; exec "$@"', "sh", *words], scratch)
            self.says_nothing(code, out, err, about="ulimit -f")
            left = [entry.name for entry in pathlib.Path(scratch).iterdir()]
            expect(not left, f"it leaves {left}")

    def stdout_lost(self, where, *words):
        """Standard output is on /dev/full, or closed: files that are opened do not take its place."""

        def check():
            with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
                self.tool.run(self.words("run", f"{scratch}/.duress"), scratch)
                script = ["sh", "-c", f'exec "$@" {where}', "sh", self.tool.duress, *words]
                code, _, err = self.tool.run(script, scratch)
                text = err.decode(errors="replace")
                lines = [line for line in text.splitlines() if "cannot write" in line]
                expect(code == 125, f"exit code {code} instead of 125:\n{text}")
                expect(
                    len(lines) == 1 and "standard output" in lines[0], f"not one line about standard output:\n{text}"
                )

        return check

    def all_closed(self, command):
        """Without any standard stream: the document is the one of a command that has them."""

        def check():
            with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
                documents = []
                for name, streams in {"open": "", "closed": "<&- >&- 2>&-"}.items():
                    words = self.words(command, f"{scratch}/d{name}", extra=[f"--json={scratch}/{name}"])
                    self.tool.run(["sh", "-c", f'exec "$@" {streams}', "sh", *words], scratch)
                    documents.append(counts_of(json.loads(pathlib.Path(scratch, name).read_bytes())))
                expect(documents[0] == documents[1], f"{documents[1]}\ninstead of\n{documents[0]}")

        return check

    def json_full(self, command):
        def check():
            with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
                words = self.words(command, f"{scratch}/d", extra=["--json", "/dev/full"])
                code, _, err = self.tool.run(words, scratch)
                text = err.decode(errors="replace")
                expect(code == 125, f"exit code {code} instead of 125:\n{text}")
                expect("/dev/full" in text and "No space left" in text, f"it does not say what failed:\n{text}")

        return check

    # ---- folder

    def without_folder(self, *words, good=False):
        """The current folder has been removed. good: all paths are absolute, so nothing is missing."""

        def check():
            with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
                whole = [word.format(scratch=scratch, program=self.racing) for word in words]
                script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"'
                code, out, err = self.tool.run(["sh", "-c", script, "sh", self.tool.duress, *whole], scratch)
                if good:
                    expect(code == 66, f"exit code {code}:\n{err.decode()}")
                else:
                    self.says_nothing(code, out, err, about="folder has been removed")

        return check

    # ---- time

    def blocked(self, command, run, codes, end):
        """From that run on no execution ends. `end`: "time", or the signals that are sent when the first has come there.
        The document tells what was found before; without a limit the test would not end."""

        def check():
            with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
                fifo = pathlib.Path(scratch) / "fifo"
                os.mkfifo(fifo)
                held = os.open(fifo, os.O_RDWR)
                env = {"FAULT_COUNT": f"{scratch}/count", "FAULT_RUN": str(run), "FAULT_BLOCK": str(fifo)}
                limit = ["--time", "1s"] if end == "time" else []
                words = self.words(command, f"{scratch}/d", extra=["--json", "--run-timeout", "1h", "-j", "1", *limit])
                with subprocess.Popen(
                    list(map(str, words)),
                    cwd=scratch,
                    env={**self.tool.env, **env},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                ) as process:
                    if end != "time":
                        os.read(held, 8)
                        for number in end:
                            process.send_signal(number)
                    out, err = process.communicate(timeout=TIMEOUT)
                os.close(held)
                expect(process.returncode in codes, f"exit code {process.returncode}, not {codes}:\n{err.decode()}")
                expect(out, f"no document:\n{err.decode()}")
                document = json.loads(out)
                expect(not document["complete"] or document["races"], f"complete, and nothing found:\n{out.decode()}")
                if command != "classify":  # classify and explore do not fail because of a race alone
                    found = bool(document["failures"] or (command == "verify" and document["races"]))
                    expect(found == (process.returncode == 66), f"exit code {process.returncode}:\n{out.decode()}")
                if process.returncode == 124:
                    expect(not document["complete"], f"out of time, and complete:\n{out.decode()}")

        return check

    def test_ended(self, numbers):
        """`duress test` in the middle of a case: that stays open, and the case and its target are ended."""

        def check():
            with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
                suite = pathlib.Path(scratch, "CTestTestfile.cmake")
                suite.write_text(f'add_test(racing "{self.racing}")\n', encoding="utf-8")
                words = [self.tool.duress, "test", scratch, "--json", "--run-timeout", "1h", "-j", "1"]
                process, (out, err) = self.end_blocked(scratch, [*words, "--dir", f"{scratch}/d"], numbers)
                expect(process.returncode == 124, f"exit code {process.returncode}:\n{err.decode()}")
                document = json.loads(out)
                outcomes = [case["outcome"] for case in document["cases"]]
                expect(outcomes == ["open"] and not document["complete"], f"cases: {outcomes}")

        return check

    def collide_ended(self, numbers):
        """`duress collide` ends the program that it has started, and says what it knows: nothing."""

        def check():
            with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
                words = [self.tool.duress, "collide", "--overhead=0", "--dir", f"{scratch}/d", "--", self.racing]
                process, (_, err) = self.end_blocked(scratch, words, numbers)
                expect(process.returncode == 128 + numbers[0], f"exit code {process.returncode}:\n{err.decode()}")
                expect(b"nothing was sampled" in err, f"it does not say what is known:\n{err.decode()}")

        return check

    def end_blocked(self, scratch, words, numbers):
        """The command gets the signals when the program has come to a place where it waits for ever; the program does not
        outlive it."""
        fifo = pathlib.Path(scratch) / "fifo"
        os.mkfifo(fifo)
        held = os.open(fifo, os.O_RDWR)
        env = {"FAULT_COUNT": f"{scratch}/count", "FAULT_RUN": "1", "FAULT_BLOCK": str(fifo)}
        with subprocess.Popen(
            list(map(str, words)),
            env={**self.tool.env, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            target = watch(int(os.read(held, 8)))
            for number in numbers:
                process.send_signal(number)
            said = process.communicate(timeout=TIMEOUT)
        os.close(held)
        expect_end([target])
        return process, said

    def passed_on(self, command, number):
        """`duress run` gives the signal to the program, and ends with it."""

        def check():
            with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
                fifo = pathlib.Path(scratch) / "fifo"
                os.mkfifo(fifo)
                held = os.open(fifo, os.O_RDWR)
                env = {"FAULT_COUNT": f"{scratch}/count", "FAULT_RUN": "1", "FAULT_BLOCK": str(fifo)}
                with subprocess.Popen(
                    list(map(str, self.words(command, f"{scratch}/d"))),
                    env={**self.tool.env, **env},
                    stdin=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    text=True,
                ) as process:
                    target = int(os.read(held, 8))
                    process.send_signal(number)
                    _, err = process.communicate(timeout=TIMEOUT)
                os.close(held)
                expect(process.returncode == 128 + number, f"exit code {process.returncode}:\n{err}")
                expect(f"ended by {number.name}" in err, f"it does not say what happened:\n{err}")
                expect(not pathlib.Path(f"/proc/{target}").exists(), "the program runs on")

        return check

    # ---- what belongs to which test

    def cases(self, theme):
        if theme == "disk":
            if not self.can_mount():
                print("skipped: this machine permits no mount")
                sys.exit(SKIPPED)
            for command in COMMANDS:
                yield f"full disk: {command}", self.full_disk(command)
                # The races of a free run fit into what its log has of the disk by then.
                if command != "run":
                    yield f"disk that gets full: {command}", self.filled_disk(command)
        if theme == "limits":
            for command in ("verify", "explore", "classify", "run"):
                yield f"ulimit -f 0: {command}", self.limited("-f 0", command)
                yield f"ulimit -f 8: {command}", self.limited("-f 8", command, good=(66,))
                yield f"ulimit -f 64: {command}", self.limited("-f 64", command, good=(66,))
                yield f"ulimit -s 64: {command}", self.limited("-s 64", command)
                yield f"ulimit -s 256: {command}", self.limited("-s 256", command)
            yield "ulimit -f 1: trace record", self.limited_trace
            yield "ulimit -v 200000: run", self.limited("-v 200000", "run")
            for command in ("verify", "explore", "classify"):
                yield f"SIGCHLD ignored: {command}", self.signal_ignored(command)
        if theme == "folder":
            for command in ("run", "explore", "classify", "verify"):
                yield f"removed: {command}", self.without_folder(command, "--", "{program}")
            yield "removed: trace record", self.without_folder("trace", "record", "-o", "t", "--", "{program}")
            yield "removed: replay", self.without_folder("replay", "F-1234")
            yield "removed: test", self.without_folder("test", ".")
            yield "removed: work", self.without_folder("work", "--dir", "d", "--shard", "1/1")
            for command in ("run", "verify"):
                absolute = [command, "--dir", "{scratch}/d", "--", "{program}"]
                yield f"removed, and not needed: {command}", self.without_folder(*absolute, good=True)
        if theme == "time":
            # In which run there is something already: a race or a failure, or nothing at all.
            twice = [signal.SIGTERM, signal.SIGTERM]  # as timeout(1) sends it
            for name, end in {"--time": "time", "SIGTERM": twice, "SIGINT": [signal.SIGINT]}.items():
                yield f"{name}: verify, nothing known", self.blocked("verify", 1, (124,), end)
                known = (66, 124) if end == "time" else (66,)  # a slow machine gets nowhere in a second
                yield f"{name}: verify", self.blocked("verify", 2, known, end)
                yield f"{name}: explore, nothing known", self.blocked("explore", 3, (124,), end)
                yield f"{name}: explore", self.blocked(
                    "explore", 45, known, end
                )  # two of these repeat an execution in a new process
                yield f"{name}: classify, nothing known", self.blocked("classify", 3, (124,), end)
                yield f"{name}: classify", self.blocked("classify", 100, (66, 124), end)
            for number in (signal.SIGTERM, signal.SIGINT):
                yield f"{number.name}: run", self.passed_on("run", number)
                yield f"{number.name}: run controlled", self.passed_on("run controlled", number)
                yield f"{number.name}: collide", self.collide_ended([number])
            yield "SIGTERM: test", self.test_ended(twice)
            yield "SIGINT: test", self.test_ended([signal.SIGINT])
        if theme == "streams":
            program = ["--dir", "d", "--", str(self.racing)]
            for where in (">/dev/full", ">&-"):
                yield f"verify {where}", self.stdout_lost(where, "verify", *program)
                explore = ["explore", "--runs", "60", "--json", *program]
                yield f"explore --json {where}", self.stdout_lost(where, *explore)
                yield f"classify {where}", self.stdout_lost(where, "classify", "--runs", "5", *program)
                yield f"run --json {where}", self.stdout_lost(where, "run", "--json", *program)
                yield f"report {where}", self.stdout_lost(where, "report", "--json", "-")
                yield f"list {where}", self.stdout_lost(where, "list", "analyses")
                yield f"doctor {where}", self.stdout_lost(where, "doctor")
                yield f"help {where}", self.stdout_lost(where, "--help")
            for command in ("explore", "verify", "classify"):
                yield f"all streams closed: {command}", self.all_closed(command)
            for command in COMMANDS:
                yield f"--json /dev/full: {command}", self.json_full(command)


def main():
    options = parser(__doc__).parse_args()
    faults = Surroundings(options)
    report(case for theme in options.programs or THEMES for case in faults.cases(theme))


main()
