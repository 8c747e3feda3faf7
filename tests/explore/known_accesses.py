#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Races need not be looked for in executions whose accesses are known (src/runtime/access_watch.h): what such executions
show, races above all, is what they show where races are looked for in each of them, in a new process.

Systematic executions of known_accesses.cc with random choices are asked for as the host does it: first with skip_known; if
the answer is that races may be there, again with learn_accesses.
"""
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402
import rollback  # noqa: E402
from harness import Failure  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
RUNS = 60
DETECT_RACES = 1
# In how many of the executions the first answer suffices, at least and at most. It does in the first ones of a process.
CASES = {
    "atomics": (RUNS - 6, RUNS),
    "other_places": (RUNS // 2, RUNS),  # six orders
    "lock": (0, 3),
    "publish": (RUNS // 4, RUNS - 4),
    "race": (RUNS // 4, RUNS - 4),
    "plain_read": (RUNS // 2, RUNS - 4),
    "freed": (RUNS // 4, RUNS - 4),
    "wait": (0, RUNS // 4),
    "fails": (RUNS // 4, RUNS - 4),
}
RACY = ("race", "plain_read", "freed")


def plans():
    numbers = random.Random(1)
    for _ in range(RUNS):
        yield [number for _ in range(numbers.randrange(20)) for number in (numbers.randrange(4), 0)]


def performed(server, picks, **how):
    request = {
        "systematic": True,
        "strategy": rollback.EXHAUSTIVE,
        "detect": DETECT_RACES,
        "memory": True,
        "picks": picks,
    }
    seen, _ = server.observe(**request, **how)
    unchecked = seen[1].pop("races_unchecked")
    return seen, unchecked


def difference(seen, wanted):
    """What differs, by the name of the field if it is one of the record."""
    names = ("status", "record", "trail", "output", "log")
    parts = [(name, a, b) for name, a, b in zip(names, seen, wanted) if name != "record"]
    parts += [(key, seen[1].get(key), value) for key, value in wanted[1].items()]
    return "; ".join(f"{name} is {a!r}, in a new process {b!r}" for name, a, b in parts if a != b)


def check(tool, name):
    command = [tool.compile(HERE / "known_accesses.cc"), name]
    with rollback.Server(tool, command, 0, b"") as server:
        expected = [performed(server, picks)[0] for picks in plans()]
    known = 0
    with rollback.Server(tool, command, 1, b"") as server:
        for number, (picks, wanted) in enumerate(zip(plans(), expected)):
            seen, unchecked = performed(server, picks, skip_known=True)
            known += not unchecked
            if unchecked:
                seen, unchecked = performed(server, picks, learn_accesses=True)
            if unchecked:
                raise Failure(f"{name}: races of execution {number} were not looked for, although they had to be")
            if seen != wanted:
                raise Failure(f"{name}: execution {number}: {difference(seen, wanted)}")
    races = sum('"race"' in logs for *_, logs in expected)
    least, most = CASES[name]
    if not least <= known <= most or (name in RACY) != (races > 0):
        raise Failure(
            f"{name}: {known} of {RUNS} executions were known, expected {least} to {most}; {races} with a race"
        )


def main():
    options = harness.parser(__doc__, programs=False).parse_args()
    tool = harness.Tool(options.build, options.duress)
    harness.report([(name, lambda name=name: check(tool, name)) for name in CASES])


if __name__ == "__main__":
    main()
