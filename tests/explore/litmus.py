#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Litmus tests through the whole of duress: which outcomes programs have with --model rc11, and with sc.

The model itself is held to its axioms by src/memory; this holds the way from a program's operations to the model. Every
outcome is a failure here (an exit code), so one search that keeps going lists all that it came across. None may be
there that C++20 forbids, and none missing: with a fixed seed that is no matter of luck.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402
from harness import Failure  # noqa: E402


def bits(text):
    """'01' → what was read first is bit 0."""
    return sum(1 << i for i, c in enumerate(text) if c == "1")


def every(count):
    return {f"{i:0{count}b}"[::-1] for i in range(1 << count)}


# shape, store, load, fence → what is forbidden with rc11; of all combinations of `count` reads.
SHAPES = {"SB": 2, "MP": 2, "LB": 2, "2+2W": 2, "CoRR": 2, "IRIW": 4, "WRC": 3, "RS": 2, "S": 2, "U": 2}
FORBIDDEN = [
    ("SB", "rlx", "rlx", "none", set()),
    ("SB", "rel", "acq", "none", set()),
    ("SB", "sc", "sc", "none", {"00"}),
    ("SB", "rlx", "rlx", "sc", {"00"}),
    ("SB", "rlx", "rlx", "ar", set()),
    ("MP", "rlx", "rlx", "none", set()),
    ("MP", "rel", "acq", "none", {"10"}),
    ("MP", "rlx", "rlx", "ar", {"10"}),
    ("LB", "rlx", "rlx", "none", {"11"}),
    ("2+2W", "rlx", "rlx", "none", set()),
    ("2+2W", "rel", "rlx", "none", set()),
    ("2+2W", "sc", "rlx", "none", {"00"}),
    ("2+2W", "rlx", "rlx", "sc", {"00"}),
    ("CoRR", "rlx", "rlx", "none", {"10"}),
    ("IRIW", "rlx", "rlx", "none", set()),
    ("IRIW", "rel", "acq", "none", set()),
    ("IRIW", "sc", "sc", "none", {"1010"}),
    ("IRIW", "rlx", "rlx", "sc", {"1010"}),
    ("WRC", "rlx", "rlx", "none", set()),
    ("WRC", "rel", "acq", "none", {"110"}),
    ("RS", "rel", "acq", "none", {"10"}),
    ("RS", "rlx", "acq", "none", set()),
    ("S", "rlx", "rlx", "none", set()),
    ("S", "rel", "acq", "none", {"11"}),
    ("U", "rlx", "rlx", "none", set()),
    ("U", "rel", "acq", "none", {"10"}),
]
# What no interleaving has.
NOT_SC = {
    "SB": {"00"},
    "MP": {"10"},
    "LB": {"11"},
    "2+2W": {"00"},
    "CoRR": {"10"},
    "IRIW": {"1010"},
    "WRC": {"110"},
    "RS": {"10"},
    "S": {"11"},
    "U": {"10"},
}
FAST = {"MP"}


class Case:
    def __init__(self, tool, binary, shape, orders, forbidden, model, runs):
        self.tool, self.binary, self.shape, self.orders = tool, binary, shape, orders
        self.model, self.runs = model, runs
        self.wanted = {10 + bits(o) for o in every(SHAPES[shape]) - forbidden}

    def name(self):
        return f"{self.shape} {' '.join(self.orders)} ({self.model})"

    def check(self):
        options = ["--keep-going", "--no-minimise", "--runs", str(self.runs), "--model", self.model]
        _, document, errors = self.tool.explore(self.binary, [self.shape, *self.orders], options)
        if document is None:
            raise Failure(f"{self.name()}: {errors}")
        found = {int(f["failure"].split(":")[1]) for f in document["failures"] if f["failure"].startswith("exit:")}
        wrong, missing = found - self.wanted, self.wanted - found
        problems = [f"found what is forbidden: exit code {code}" for code in sorted(wrong)]
        if len(found) != len(document["failures"]):
            problems.append(f"{[f['failure'] for f in document['failures']]}")
        return problems + [f"did not come across exit code {code}" for code in sorted(missing)]


def main():
    options = harness.parser(__doc__, programs=False).parse_args()
    tool = harness.Tool(options.build, options.duress)
    binary = tool.compile(pathlib.Path(__file__).resolve().parent / "litmus.cc")
    fast = options.suite == "fast"
    cases = []
    for shape, *orders, forbidden in FORBIDDEN:
        if fast and shape not in FAST:
            continue
        rare = shape == "IRIW"  # sixteen outcomes instead of four or eight
        cases.append(Case(tool, binary, shape, orders, forbidden, "rc11", 200 if fast else 1500 if rare else 600))
        if not fast:
            runs = 1000 if rare else 250
            cases.append(Case(tool, binary, shape, orders, forbidden | NOT_SC[shape], "sc", runs))
    harness.report((case.name(), case.check) for case in cases)


if __name__ == "__main__":
    main()
