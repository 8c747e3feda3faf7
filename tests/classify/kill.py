#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A campaign that is killed goes on with the same command and ends with the same verdicts.

DURESS_TEST_KILL_AT=N makes `duress classify` end itself by SIGKILL right after its N-th execution, before anything is
done with what came out of it: the moment is exact, and every kind of moment is among them (while races are looked for,
in a baseline, in attacks, while a witness is made small, while it is replayed). --moments: how many of them.
"""
import json
import pathlib
import signal
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402


def classify(tool, folder, target, jobs, kill_at=None):
    words = [
        tool.duress,
        "classify",
        "--no-advice",
        "--runs",
        "5",
        "-j",
        str(jobs),
        "--json",
        "--dir",
        f"{folder}/d",
        "--",
        *target,
    ]
    env = {"DURESS_TEST_KILL_AT": str(kill_at)} if kill_at else {}
    return tool.run(words, folder, env=env)


def whole(tool, output):
    document = json.loads(output)
    harness.valid(document)
    # How long it took is the only thing that may differ.
    del document["seconds"]
    return json.dumps(document)


def check(tool, target, moments):
    with tempfile.TemporaryDirectory(prefix="duress-kill-") as folder:
        code, out, err = classify(tool, folder, target, 1)
        if code != 66:
            return f"exit code {code}: {err.decode()}"
        wanted = whole(tool, out)
    runs = json.loads(wanted)["runs"]
    for moment in range(moments):
        kill_at = 1 + moment * (runs - 1) // (moments - 1)
        jobs = 1 + moment % 2
        with tempfile.TemporaryDirectory(prefix="duress-kill-") as folder:
            code, out, err = classify(tool, folder, target, jobs, kill_at)
            if code != -signal.SIGKILL:
                return f"not killed at {kill_at} of {runs}: {code} {err.decode()}"
            code, out, err = classify(tool, folder, target, jobs)
            if code != 66:
                return f"killed at {kill_at} of {runs}: exit code {code}: {err.decode()}"
            if whole(tool, out) != wanted:
                return f"killed at {kill_at} of {runs}: {whole(tool, out)}\nwanted: {wanted}"
    # And one that is killed again and again.
    with tempfile.TemporaryDirectory(prefix="duress-kill-") as folder:
        for kill_at in range(10, runs, runs // moments):
            code, out, err = classify(tool, folder, target, 1, kill_at)
            if code not in (-signal.SIGKILL, 66):
                return f"killed again at {kill_at}: {code} {err.decode()}"
        if code != 66:
            code, out, err = classify(tool, folder, target, 1)
        if code != 66 or whole(tool, out) != wanted:
            return f"killed again and again: {code} {err.decode()}"
    return ""


def main():
    parser = harness.parser(__doc__, programs=False)
    parser.add_argument("--moments", type=int, default=20)
    options = parser.parse_args()
    tool = harness.Tool(options.build, options.duress)
    fake = str(options.build.resolve() / "tests" / "exec_fake_target")
    targets = [[fake, "stale"], [fake, "future"]]
    if options.suite == "all":
        targets.append([str(tool.compile(harness.ROOT / "examples/jumble/double_checked_locking.cc"))])
    harness.report((" ".join(target), lambda target=target: check(tool, target, options.moments)) for target in targets)


if __name__ == "__main__":
    main()
