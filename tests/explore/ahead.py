#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Executions that a process performs before they are asked for (src/trail/ahead.h) are those that it performs when they are.

In ahead.cc some executions die, print, log, hang or change what cannot be undone, wherever they are among those that were handed
over together. Documents, exit codes and what is kept must be the same with and without, and with a process for each.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import both_ways  # noqa: E402
import harness  # noqa: E402
from harness import Failure  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
WORDS = "nothing always print complain abort fault kill exit _exit race late lock memory folder child".split()
WAYS = ("rollback=0", "ahead=0", "ahead=1")


def run(tool, way, words, folder, form="--json", **more):
    command = [tool.duress, words[0], form, "--dir", folder, *words[1:]]
    env = {**tool.env, "DURESS_OPTIONS": way, **more}
    return subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def document(done, folder, what):
    if not done.stdout:
        raise Failure(f"{what} has no document: {done.stderr.decode()}")
    text = both_ways.without_times(json.loads(done.stdout), folder)
    kept = sorted(p.name for p in pathlib.Path(folder).glob("[ft]*/*"))  # findings, trails
    return f"{done.returncode} {kept}\n{text}"


def check_ahead(tool, words, least):
    """At least so many executions are performed ahead, and none where that is turned off."""
    for way in WAYS:
        with tempfile.TemporaryDirectory(prefix="duress-ahead-") as folder:
            said = run(tool, way, words, folder, form="-v").stderr.decode()
        if "executions were undone" not in said:
            raise Failure(f"{words} with {way} does not say how many executions were undone: {said}")
        found = re.search(r"(\d+) of them before they were asked for", said)
        count = int(found[1]) if found else 0
        if count < least if way == "ahead=1" else count != 0:
            raise Failure(f"{words} with {way}: {count} executions were performed ahead, {least} expected: {said}")


def compare(tool, *words, least=0):
    texts = []
    for way in WAYS:
        with tempfile.TemporaryDirectory(prefix="duress-ahead-") as folder:
            done = run(tool, way, words, folder)
            texts.append(document(done, folder, f"{words} with {way}"))
    for way, text in zip(WAYS, texts):
        if text != texts[0]:
            pairs = zip(texts[0].splitlines(), text.splitlines())
            line = next((f"{b!r}, not {a!r}" for a, b in pairs if a != b), "has more or fewer lines")
            raise Failure(f"{words} with {way}: {line}")
    if least:
        check_ahead(tool, words, least)


def check(tool, odd, word):
    quiet = word in ("nothing", "memory")
    for jobs in "1", "2":
        explore = ("explore", "--runs", "200", "--keep-going", "-j", jobs)
        compare(tool, *explore, "--", odd, word, least=100 if quiet else 0)
    compare(tool, "explore", "--runs", "200", "-j", "1", "--", odd, word)
    for model in "sc", "rc11":
        compare(tool, "verify", "--no-advice", "--model", model, "-j", "1", "--", odd, word, least=10 if quiet else 0)
    compare(tool, "verify", "--no-advice", "--runs", "50", "-j", "1", "--", odd, word)


def check_oracles(tool, odd):
    """What is said about an execution that printed nothing must not be what another one printed."""
    for word in "print", "nothing", "always":
        options = ("--runs", "100", "--keep-going", "-j", "1")
        compare(tool, "explore", *options, "--check", "read line && exit 1; exit 0", "--", odd, word)
    compare(tool, "explore", "--runs", "100", "--keep-going", "-j", "1", "--expect-exit", "3", "--", odd, "exit")


def check_time(tool, odd):
    """An execution has all the time that --run-timeout gives it."""
    compare(tool, "explore", "--runs", "60", "--keep-going", "--run-timeout", "1s", "-j", "1", "--", odd, "hang")


def check_interrupted(tool, odd):
    """Ctrl-C while an execution hangs: the campaign says that it was interrupted, and goes on the next time as if it had not been."""
    results = []
    for way in WAYS:
        with tempfile.TemporaryDirectory(prefix="duress-ahead-") as folder:
            fifo = f"{folder}/hangs"
            os.mkfifo(fifo)
            words = [
                "--runs",
                "120",
                "--keep-going",
                "-j",
                "1",
                "--run-timeout",
                "60s",
                "--dir",
                folder,
                "--",
                odd,
                "hang",
            ]
            env = {**tool.env, "DURESS_OPTIONS": way, "AHEAD_HANGS": fifo}
            host = subprocess.Popen(
                [tool.duress, "explore", *words], env=env, stderr=subprocess.PIPE, start_new_session=True
            )
            open(fifo, "rb").close()  # when the program opens it
            host.send_signal(signal.SIGINT)
            # It may be ended because nobody has asked for it yet; then it hangs again.
            while host.poll() is None:
                end = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
                try:
                    host.wait(1)
                except subprocess.TimeoutExpired:
                    pass
                os.close(end)
            said = host.stderr.read().decode()
            if host.returncode not in (124, 66) or "interrupted" not in said:
                raise Failure(f"with {way}: exit code {host.returncode}, expected an interrupted campaign: {said}")
            left = [p for p in pathlib.Path(folder).glob("work/*") if p.is_dir()]
            if left:
                raise Failure(f"with {way}: left behind: {left}")
            words[5 + words[5:].index("60s")] = "1s"
            done = run(tool, way, ["explore", *words[: words.index("--dir")], "--", odd, "hang"], folder)
            found = json.loads(done.stdout)["failures"]
            results.append((done.returncode, [(f["failure"], f["id"], f["run"] if "run" in f else 0) for f in found]))
    if any(result != results[0] for result in results):
        raise Failure(f"after an interruption: {dict(zip(WAYS, results))}")


def main():
    options = harness.parser(__doc__, programs=False).parse_args()
    tool = harness.Tool(options.build, options.duress)
    odd = tool.compile(HERE / "ahead.cc")
    cases = [(word, lambda word=word: check(tool, odd, word)) for word in WORDS]
    cases.append(("oracles", lambda: check_oracles(tool, odd)))
    cases.append(("time", lambda: check_time(tool, odd)))
    cases.append(("interrupted", lambda: check_interrupted(tool, odd)))
    harness.report(cases)


if __name__ == "__main__":
    main()
