#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Executions in a process that was rolled back are those of new processes.

A program's fork server is asked for the same executions twice, with rollback and without: exit status, record, trail,
output and log must be equal to the byte. kernel_state.cc does to its process whatever can be done to one; what can be
undone must be rolled back, or the test would compare a thing with itself. Then documents of the commands.
"""
import json
import os
import pathlib
import random
import re
import select
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import controlled  # noqa: E402
import harness  # noqa: E402
from harness import Failure  # noqa: E402
from protocol import RECORD, REQUEST  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
RUNS = 12
DONE = 1  # Rollback::kDone
PATCH_AFTER = 1  # system calls are handled without a trap as early as possible
# What must be rolled back; of the rest it is enough that nothing changes.
UNDONE = "memory heap map open handler name _exit many input deep".split()
EXHAUSTIVE = 6  # StrategyId::kExhaustive
# Where a checkpoint must be taken, and what must prevent one when it is done before: what the next execution would miss.
RESUMED = [["memory"], ["deep"], ["first"]]
PREVENTING = "heap map open handler input".split()
PROGRAMS = "addresses atomic_counter condition_variable cxx20_sync tls_destructor ways_to_end spurious_wakeup".split()
COMMANDS = [("explore", "--runs", "40", "--keep-going"), ("explore", "--runs", "40", "--model", "rc11"), ("verify",)]
FEW_INTERLEAVINGS = "atomic_counter condition_variable".split()


class Server(controlled.Server):
    """Keeps what the program prints and logs."""

    def __init__(self, tool, command, rollback, data):
        self.folder = tempfile.TemporaryDirectory(prefix="duress-server-", dir="/dev/shm")
        self.request, self.record = self.shared("request"), self.shared("record")
        self.logs = f"{self.folder.name}/logs"
        os.mkdir(self.logs)
        down, self.to = os.pipe()
        self.reply, up = os.pipe()
        folder = pathlib.Path(self.folder.name)
        (folder / "input").write_bytes(data)
        self.output = open(folder / "output", "ab+", buffering=0)
        options = (
            f"log_dir={self.logs}:mode=controlled:request={folder}/request:record={folder}/record"
            f":rollback={rollback}:patch_after={PATCH_AFTER}:server={down},{up}"
        )
        with open(folder / "input", "rb") as source:
            self.process = subprocess.Popen(
                ["setarch", "-R", *command],
                env={**tool.env, "DURESS_OPTIONS": options},
                pass_fds=(down, up),
                stdin=source,
                stdout=self.output,
                stderr=self.output,
                start_new_session=True,
            )
        os.close(down)
        os.close(up)

    def observe(self, **request):
        """Everything that an execution leaves, and whether its process was rolled back."""
        self.output.truncate(0)
        picks = bytes(request.pop("picks", ()))  # strand, value, strand, value, ...
        head = REQUEST.pack(**{"strategy": 1, "pick_count": len(picks) // 2, **request}) + picks
        self.request[: len(head)] = head
        self.record[: RECORD.size] = bytes(RECORD.size)
        os.write(self.to, b"r")
        status = -1
        while status == -1:
            if not select.select([self.reply], [], [], 60)[0]:
                raise Failure("an execution does not end")
            answer = os.read(self.reply, 8)
            if len(answer) != 8:
                raise Failure("the fork server has ended")
            pid, status = struct.unpack("<ii", answer)
        record = {field: RECORD.get(self.record, field) for field in RECORD.offsets}
        how = record["rollback"], record["from_checkpoint"]
        for field in ("rollback", "rollback_call", "write_failed", "wrote", "from_checkpoint", "log_bytes"):
            del record[field]
        trail = bytes(self.record[RECORD.size : RECORD.size + 8 * record["deviations"]])
        logs = ""
        for path in sorted(pathlib.Path(self.logs).glob("*.jsonl")):
            # The number of bytes depends on how many digits a process id has.
            logs += re.sub(r'"p?pid":\d+|"SIGABRT","addr":"\w+"|"bytes":\d+', "", path.read_text())
            path.unlink()
        self.output.seek(0)
        return (status, record, trail, self.output.read(), logs), how


def compare_all(tool, command, requests, data=b""):
    """How many of the executions were in processes that had been rolled back, and how many began at a checkpoint."""
    seen, undone, resumed = [], 0, 0
    for rollback in (0, 1):
        with Server(tool, command, rollback, data) as server:
            runs = [server.observe(**request) for request in requests]
        seen.append([what for what, _ in runs])
        undone = sum(how[0] == DONE for _, how in runs)
        resumed = sum(how[1] for _, how in runs)
        if not rollback and undone:
            raise Failure(f"{command}: rolled back although rollback=0")
    for number, (plain, rolled) in enumerate(zip(*seen)):
        for what, a, b in zip(("status", "record", "trail", "output", "log"), plain, rolled):
            if a != b:
                raise Failure(
                    f"{command} {requests[number]}: {what} of execution {number} is {b}, in a new process {a}"
                )
    return undone, resumed


def compare(tool, command, data=b"", **request):
    """How many of the executions were in processes that had been rolled back."""
    return compare_all(tool, command, [{"seed": seed // 2, **request} for seed in range(RUNS)], data)[0]


def documents(tool, binary):
    for words in COMMANDS:
        if words[0] == "verify" and binary.stem not in FEW_INTERLEAVINGS:
            continue
        texts = []
        for rollback in ("0", "1"):
            env = {**tool.env, "DURESS_OPTIONS": f"rollback={rollback}"}
            with tempfile.TemporaryDirectory(prefix="duress-rollback-") as folder:
                command = [tool.duress, words[0], "--json", *words[1:], "-j", "2", "--dir", folder, "--", binary]
                done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            document = json.loads(done.stdout)
            text = json.dumps(document, indent=1)
            text = re.sub(r'"(seconds|run_seconds)": [\d.e+-]+', "", text).replace(folder, "")
            texts.append((done.returncode, text))
        if texts[0] != texts[1]:
            raise Failure(f"{' '.join(words)} of {binary.name} says {texts[1]}, without rollback {texts[0]}")


def check_odd(tool, word, **request):
    odd = tool.compile(HERE / "kernel_state.cc")
    undone = compare(tool, [odd, *word.split("+")], data=b"some input\n", **request)
    if word in UNDONE and not request and undone < RUNS - 2:
        raise Failure(f"only {undone} of {RUNS} executions were undone")


def check_checkpoint(tool, words):
    """Systematic executions that differ from their first choice on."""
    numbers, requests = random.Random(1), []
    for _ in range(2 * RUNS):
        picks = [number for _ in range(numbers.randrange(12)) for number in (numbers.randrange(4), 0)]
        requests.append({"systematic": True, "strategy": EXHAUSTIVE, "detect": 1, "picks": picks})
    requests.insert(RUNS, {"seed": 2, "systematic": True, "strategy": EXHAUSTIVE})  # one that is none of them
    odd = tool.compile(HERE / "kernel_state.cc")
    _, resumed = compare_all(tool, [odd, *words], requests, data=b"some input\n")
    if words in RESUMED and resumed < len(requests) // 2:
        raise Failure(f"only {resumed} of {len(requests)} executions began at a checkpoint")
    if words[0] == "first" and words[-1] in PREVENTING and resumed:
        raise Failure(f"{resumed} executions began at a checkpoint, although what comes before it would be missing")


def check_program(tool, name):
    binary = tool.compile(HERE / f"programs/{name}.cc")
    compare(tool, [binary])
    compare(tool, [binary], detect=1, points=2)
    documents(tool, binary)


def check_difference(tool):
    """What rollback cannot put back, and a new process does not have: the background check must see it."""
    binary = tool.compile(HERE / "context_switches.cc")
    with tempfile.TemporaryDirectory(prefix="duress-rollback-") as folder:
        command = [tool.duress, "explore", "--runs", "1500", "-j", "1", "-v", "--dir", folder, "--", binary]
        done = subprocess.run(command, env=tool.env, stderr=subprocess.PIPE, text=True)
    lines = [line for line in done.stderr.splitlines() if "rollback was turned off" in line]
    undone = re.search(r"(\d+) of (\d+) executions were undone", done.stderr)
    if done.returncode != 0 or len(lines) != 1 or not undone:
        raise Failure(f"exit code {done.returncode}, expected 0 and one line about rollback: {done.stderr}")
    if int(undone[1]) > 1200:  # the 1000th is compared at the latest
        raise Failure(f"rollback went on after the difference: {undone[0]}")


def check_endless(tool):
    """Executions that never end are ended, and the campaign goes on, in whatever process; nothing is left of them."""
    odd, texts = tool.compile(HERE / "kernel_state.cc"), []
    for rollback in ("0", "1"):
        env = {**tool.env, "DURESS_OPTIONS": f"rollback={rollback}"}
        with tempfile.TemporaryDirectory(prefix="duress-rollback-") as folder:
            command = [tool.duress, "explore", "--json", "--runs", "3", "--keep-going", "--run-timeout", "2s"]
            command += ["-j", "1", "--dir", folder, "--", odd, "memory", "endless"]
            done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            left = [p for p in pathlib.Path(folder).glob("work/*") if p.is_dir()]
        document = json.loads(done.stdout or "{}")
        if done.returncode != 66 or left:
            raise Failure(f"exit code {done.returncode}, expected 66; left behind: {left}; {done.stderr.decode()}")
        texts.append([(f["failure"], f["id"]) for f in document["failures"]])
    if texts[0] != texts[1] or len(texts[0]) != 1:
        raise Failure(f"with rollback {texts[1]}, without {texts[0]}")


def main():
    options = harness.parser(__doc__, programs=False).parse_args()
    tool = harness.Tool(options.build, options.duress)
    odd = tool.compile(HERE / "kernel_state.cc")
    words = subprocess.run([odd], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    cases = [(word, lambda word=word: check_odd(tool, word)) for word in words]
    for word in words:
        cases.append((f"{word}, systematic", lambda word=word: check_checkpoint(tool, [word])))
        cases.append((f"{word} first", lambda word=word: check_checkpoint(tool, ["first", word])))
    cases.append(("first", lambda: check_checkpoint(tool, ["first"])))
    cases.append(("memory, races looked for", lambda: check_odd(tool, "memory+many", detect=1)))
    cases.append(("memory, on threads", lambda: check_odd(tool, "memory+many", backend=1)))
    cases += [(name, lambda name=name: check_program(tool, name)) for name in PROGRAMS]
    cases.append(("endless", lambda: check_endless(tool)))
    cases.append(("a difference", lambda: check_difference(tool)))
    harness.report(cases)


if __name__ == "__main__":
    main()
