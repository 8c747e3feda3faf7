#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes that something outside kills: targets, fork servers, the host. An execution that did not end by itself is
repeated, counts are those of a campaign that nobody disturbed, and nothing is left behind."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import threading

from common import COMMANDS, HERE, Faults, counts_of, expect, expect_end, parent_of, watch, with_ids
from harness.cases import parser, report

CONTROL_GROUPS = (  # version 1, and 2 with the controller of memory for groups at its top
    (pathlib.Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"),
    (pathlib.Path("/sys/fs/cgroup"), "memory.max"),
)
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGABRT)


class Killed(Faults):
    def __init__(self, options):
        super().__init__(options)
        self.deaths = self.tool.compile(HERE / "deaths.cc", level="-O1")

    @contextlib.contextmanager
    def killer(self, scratch, every, signals=SIGNALS, parent=False):
        """Another process kills every n-th process of racing.cc, or the fork server that is its parent; yields its
        environment and the list of kills."""
        fifo = pathlib.Path(scratch) / "fifo"
        os.mkfifo(fifo)
        kills = []
        held = os.open(fifo, os.O_RDWR)

        def work():
            while True:
                pid = int(os.read(held, 8))
                if pid == 0:
                    return
                kills.append(pid)
                os.kill(parent_of(pid) if parent else pid, signals[len(kills) % len(signals)])

        thread = threading.Thread(target=work)
        thread.start()
        env = {"FAULT_COUNT": f"{scratch}/count", "FAULT_RUN": str(every), "FAULT_FIFO": str(fifo)}
        try:
            yield env, kills
        finally:
            os.write(held, b"%8d" % 0)
            thread.join()
            os.close(held)

    @contextlib.contextmanager
    def small_group(self):
        """A control group with 32 MB of memory; None if this machine permits none."""
        for root, limit in CONTROL_GROUPS:
            group = root / f"duress-faults-{os.getpid()}"
            try:
                group.mkdir()
            except OSError:
                continue
            try:
                (group / limit).write_text(str(32 << 20))
                yield group
            except OSError:
                yield None
            finally:
                group.rmdir()
            return
        yield None

    def out_of_memory(self, command, times, extra=()):
        """The kernel's killer takes the process of some executions: repeated, the document is the same. If it takes all
        of them, one line says so."""

        def check():
            with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch, self.small_group() as group:
                if group is None:
                    print("skipped: no control group with a limit on memory can be made here")
                    return
                env = {"FAULT_COUNT": f"{scratch}/count", "FAULT_RUN": "1000000", "FAULT_GROUP": str(group)}
                alone = [*extra, "-j", "1"]
                clean = self.document(self.words(command, f"{scratch}/clean", extra=alone), env)
                os.unlink(f"{scratch}/count")
                env = {**env, "FAULT_RUN": "2", "FAULT_TIMES": str(times)}
                words = self.words(command, f"{scratch}/killed", extra=alone)
                if times > 3:
                    self.says_nothing(*self.tool.run(words, scratch, env=env), about="ran out of memory")
                    return
                disturbed = self.document(words, env)
                expect(clean[0] == disturbed[0], f"exit code {disturbed[0]} instead of {clean[0]}")
                texts = [counts_of(document) for _, document in (clean, disturbed)]
                expect(texts[0] == texts[1], f"out of memory:\n{texts[1]}\ninstead of\n{texts[0]}")

        return check

    def killed(self, command, extra=(), every=7):
        """The same document, whether processes are killed or not."""

        def check():
            with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
                with self.killer(scratch, every) as (env, kills):
                    never = {**env, "FAULT_RUN": "1000000"}
                    # One worker: an execution that is repeated is then not killed again, however fast others are.
                    alone = [*extra, "-j", "1"]
                    clean = self.document(self.words(command, f"{scratch}/clean", extra=alone), never)
                    expect(not kills, "the undisturbed campaign was disturbed")
                    disturbed = self.document(self.words(command, f"{scratch}/killed", extra=alone), env)
                expect(kills, "nothing was killed: the test shows nothing")
                expect(clean[0] == disturbed[0], f"exit code {disturbed[0]} instead of {clean[0]}")
                texts = [counts_of(document) for _, document in (clean, disturbed)]
                expect(texts[0] == texts[1], f"after {len(kills)} kills:\n{texts[1]}\ninstead of\n{texts[0]}")

        return check

    def paused(self, command, run, extra=()):
        """From that run on every process is killed: the command ends with one line, and what it has done is kept. The
        same command, undisturbed, then says what one says that never was disturbed."""

        def check():
            with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
                with self.killer(scratch, run, signals=(signal.SIGKILL,)) as (env, kills):
                    never = {**env, "FAULT_RUN": "1000000"}
                    clean = self.document(self.words(command, f"{scratch}/clean", extra=extra), never)
                    os.unlink(f"{scratch}/count")
                    words = self.words(command, f"{scratch}/killed", extra=extra)
                    code, out, err = self.tool.run(words, scratch, env={**env, "FAULT_TIMES": "1000000"})
                    expect(len(kills) >= 3, f"{len(kills)} kills")
                    self.says_nothing(code, out, err, about="something outside")
                    kept = self.document(words, never, scratch)
                expect(clean[0] == kept[0], f"exit code {kept[0]} instead of {clean[0]}")
                texts = [counts_of(with_ids(document)) for _, document in (clean, kept)]
                expect(texts[0] == texts[1], f"after {len(kills)} kills:\n{texts[1]}\ninstead of\n{texts[0]}")

        return check

    def server_killed(self, command, run, extra=()):
        """Its fork server is killed twice in the same execution."""

        def check():
            with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
                with self.killer(scratch, run, signals=(signal.SIGKILL,), parent=True) as (env, kills):
                    never = {**env, "FAULT_RUN": "1000000"}
                    clean = self.document(self.words(command, f"{scratch}/clean", extra=extra), never)
                    os.unlink(f"{scratch}/count")
                    words = self.words(command, f"{scratch}/killed", extra=extra)
                    disturbed = self.document(words, {**env, "FAULT_TIMES": "2"})
                    expect(len(kills) == 2, f"{len(kills)} kills")
                expect(clean[0] == disturbed[0], f"exit code {disturbed[0]} instead of {clean[0]}")
                texts = [counts_of(document) for _, document in (clean, disturbed)]
                expect(texts[0] == texts[1], f"after two kills:\n{texts[1]}\ninstead of\n{texts[0]}")

        return check

    def host_killed(self, run, extra):
        """The host itself is killed in that run; continued, it counts every race as one that was never killed."""

        def check():
            with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
                fifo = pathlib.Path(scratch) / "fifo"
                os.mkfifo(fifo)
                held = os.open(fifo, os.O_RDWR)
                env = {"FAULT_COUNT": f"{scratch}/count", "FAULT_RUN": "1000000", "FAULT_BLOCK": str(fifo)}
                _, clean = self.document(self.words("explore", f"{scratch}/clean", extra=extra), env)
                os.unlink(f"{scratch}/count")
                words = self.words("explore", f"{scratch}/killed", extra=extra)
                with subprocess.Popen(
                    list(map(str, words)),
                    cwd=scratch,
                    env={**self.tool.env, **env, "FAULT_RUN": str(run)},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                ) as process:
                    target = int(os.read(held, 8))
                    left = [watch(number) for number in (parent_of(target), target)]
                    process.kill()
                    process.wait()
                expect_end(left)
                os.close(held)
                _, continued = self.document(words, env, scratch)
                texts = [json.dumps(document["races"], indent=1) for document in (clean, continued)]
                expect(clean["races"][0]["count"] > 1, "one race is counted once: the test shows nothing")
                expect(clean["runs"] == continued["runs"], f"{continued['runs']} runs instead of {clean['runs']}")
                expect(texts[0] == texts[1], f"killed in run {run}:\n{texts[1]}\ninstead of\n{texts[0]}")

        return check

    def nothing_left(self, command):
        """The host is killed while an execution does not end: neither that nor its fork server outlives it."""

        def check():
            with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
                fifo = pathlib.Path(scratch) / "fifo"
                os.mkfifo(fifo)
                held = os.open(fifo, os.O_RDWR)
                env = {"FAULT_COUNT": f"{scratch}/count", "FAULT_RUN": "1", "FAULT_BLOCK": str(fifo)}
                with subprocess.Popen(
                    list(map(str, self.words(command, f"{scratch}/d"))),
                    cwd=scratch,
                    env={**self.tool.env, **env},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                ) as process:
                    target = int(os.read(held, 8))
                    parent = parent_of(target)
                    left = [watch(number) for number in {parent, target} - {process.pid}]
                    process.kill()
                    process.wait()
                expect_end(left)
                os.close(held)

        return check

    def own_death(self, how, kind):
        def check():
            code, document, err = self.tool.explore(self.deaths, args=[how], options=["--runs", "60"])
            failures = [failure["failure"] for failure in (document or {}).get("failures", [])]
            expect(code == 66 and failures == [kind], f"exit code {code}, failures {failures}, not {kind}:\n{err}")

        return check

    def cases(self):
        many = ["--runs=400", "--keep-going", "--no-minimise"]
        yield "400 runs of explore", self.killed("explore", extra=many)
        yield "verify", self.killed("verify", every=3)
        yield "classify", self.killed("classify")
        few = ["-j", "1"]
        for command, extra in {"explore": [*many, *few], "verify": few, "classify": few}.items():
            yield f"fork server killed: {command}", self.server_killed(command, 2, extra)
        for run in (5, 40, 100, 300):
            yield f"host killed in run {run}: explore", self.host_killed(run, [*many, *few])
        for command in (*COMMANDS, "collide"):
            yield f"host killed, nothing left: {command}", self.nothing_left(command)
        yield "all killed from run 100 on: explore", self.paused("explore", 100, many)
        yield "all killed from run 3 on: explore", self.paused("explore", 3, many)
        for run in (2, 5, 40):
            yield f"all killed from run {run} on: classify", self.paused("classify", run)
        yield "all killed from run 2 on: verify", self.paused("verify", 2)
        for command, extra in {"explore": many, "verify": (), "classify": ()}.items():
            yield f"out of memory twice: {command}", self.out_of_memory(command, 2, extra)
            yield f"out of memory, every time: {command}", self.out_of_memory(command, 1000000, extra)
        for how, kind in {
            "abort": "signal:SIGABRT",
            "raise": "signal:SIGTERM",
            "kill": "signal:SIGKILL",
            "segv": "signal:SIGSEGV",
            "syscall": "signal:SIGKILL",
            "child": "signal:SIGKILL",
            "thread": "signal:SIGHUP",
        }.items():
            yield f"a program that ends itself: {how}", self.own_death(how, kind)


def main():
    report(Killed(parser(__doc__, programs=False).parse_args()).cases())


main()
