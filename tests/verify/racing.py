#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`duress verify` of programs with races against a slow reference: every outcome, and every racing variable.

racing_program.cc runs what its arguments say. Here the same is run in every order of single accesses; what the program
can return is what verify must report as failures, no more and no less. A variable races if in one of these orders two
accesses to it, of which one writes, are not ordered by the mutex or the flag.
"""
import json
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

NAMES = {"x": "x", "y": "y", "z": "z", "e": "elements", "b": "Box::value", "p": "pair"}
MOST_OUTCOMES = 16  # verify lists no more failures

BY_HAND = [
    ("xX", "xX"),  # a lost update
    ("xX", "xX", "xX"),
    ("eE", "eE"),  # of an array element
    ("bB", "bB"),  # of a field on the heap
    ("P", "p"),  # 16 bytes: a torn value
    ("P", "pX"),
    ("lxXu", "xX"),  # one of them without the lock
    ("lxXu", "lxXu"),  # no race
    ("XY", "y?x"),  # a racy flag, and data that only one who sees the flag reads
    ("XF", "f?x"),  # the same, published
    ("FX", "f?x"),  # published too early
    ("x?Y", "X", "y"),  # the second race is there only if the first one was lost
    ("x?yZ", "XY", "z"),
    ("xlXu", "lxXu"),  # read without the lock, written with it
    ("XyZ", "YzX"),  # store buffering and more
]
# Threads, and what only weak memory allows.
UNDER_RC11 = [
    (("xX", "xX"), set()),
    (("bB", "bB"), set()),
    (("lxXu", "xX"), set()),
    (("Xy", "Yx"), {65}),  # store buffering: both read 0
    (("XY", "y?x"), {65}),  # message passing: the flag is seen, the value is not
]


def micro(op):
    """The single accesses of an operation: (variable, writes, part)."""
    if op in "pP":
        return [(op.lower(), op == "P", 0), (op.lower(), op == "P", 1)]
    return [(op.lower(), op.isupper(), 0)] if op.lower() in "xyzebf" else []


class State:
    """Memory, threads, and who knows what of whom (vector clocks), all of it hashable."""

    def __init__(self, threads):
        n = len(threads)
        self.memory = {v: 0 for v in "xyzebf"} | {"p0": 0, "p1": 0}
        self.at = [(0, 0)] * n  # operation, which of its accesses
        self.value, self.read = [0] * n, [0] * n  # read: of the half of a pair
        self.holder = None
        self.clocks = [tuple(int(t == u) for u in range(n)) for t in range(n)]
        self.unlocked = self.published = (0,) * n  # clocks that the mutex and the flag pass on
        self.last = {}  # (variable, thread, writes): when

    def key(self):
        return tuple(
            tuple(sorted(v.items())) if isinstance(v, dict) else tuple(v) if isinstance(v, list) else v
            for v in self.__dict__.values()
        )

    def copy(self):
        other = State.__new__(State)
        for name, value in self.__dict__.items():
            setattr(other, name, value.copy() if isinstance(value, (dict, list)) else value)
        return other

    def learn(self, t, clock):
        self.clocks[t] = tuple(map(max, self.clocks[t], clock))

    def release(self, t):
        """What the thread has done so far, for others to learn; what it does from now on is later."""
        clock = self.clocks[t]
        self.clocks[t] = tuple(c + (u == t) for u, c in enumerate(clock))
        return clock

    def access(self, t, variable, writes):
        """True: it races with an access that another thread has made."""
        races = any(
            v == variable and u != t and (writes or w) and when > self.clocks[t][u]
            for (v, u, w), when in self.last.items()
        )
        self.last[variable, t, writes] = self.clocks[t][t]
        return races


class Reference:
    def __init__(self, threads):
        self.threads = threads
        self.outcomes, self.races = set(), set()
        self.seen = set()
        self.explore(State(threads))

    def explore(self, state):
        key = state.key()
        if key in self.seen:
            return
        self.seen.add(key)
        states = [after for after in (self.step(t, state) for t in range(len(self.threads))) if after]
        for after in states:
            self.explore(after)
        if not states:
            assert all(at >= len(text) for (at, _), text in zip(state.at, self.threads)), "deadlock"
            last = state.value[2] if len(self.threads) > 2 else state.memory["y"]
            self.outcomes.add(state.memory["x"] | state.value[0] << 2 | state.value[1] << 4 | last << 6)

    def step(self, t, state):
        at, part = state.at[t]
        if at >= len(self.threads[t]):
            return None
        op = self.threads[t][at]
        if op == "l" and state.holder is not None:
            return None
        state = state.copy()
        accesses = micro(op)
        for variable, writes, which in accesses:
            if which == part and variable != "f" and state.access(t, f"{variable}{which}", writes):
                self.races.add(variable)
        state.at[t] = (at, part + 1) if part + 1 < len(accesses) else (at + 1, 0)
        if op == "l":
            state.holder = t
            state.learn(t, state.unlocked)
        elif op == "u" and state.holder == t:
            state.holder = None
            state.unlocked = state.release(t)
        elif op == "?":
            state.at[t] = (at + (2 if state.value[t] == 0 else 1), 0)
        elif op == "P":
            state.memory[f"p{part}"] = 1
        elif op == "p":
            state.read[t] = state.memory["p0"] if part == 0 else state.read[t]
            state.value[t] = state.read[t] + 2 * state.memory["p1"] if part == 1 else state.value[t]
        elif op.isupper():
            state.memory[op.lower()] = (state.value[t] + 1) & 3
            if op == "F":
                state.published = state.release(t)
        elif op in state.memory:
            state.value[t] = state.memory[op]
            if op == "f":
                state.learn(t, state.published)
        return state


def random_threads(rng):
    def thread():
        text = "".join(rng.choice("xyXYxyXYxXzZbBeE?") for _ in range(rng.randint(2, 4)))
        if rng.random() < 0.4:
            first = rng.randint(0, len(text))
            text = text[:first] + "l" + text[first:] + "u"
        return text.replace("?l", "l?").replace("?u", "u")

    return tuple(thread() for _ in range(rng.choice((2, 2, 3))))


def verify(tool, program, threads, work, *flags):
    options = ["--json", "--no-advice", "--dir", work, *flags]
    command = [tool.build / "bin/duress", "verify", *options, "--", program, *threads]
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=250, check=False)
    assert ended.stdout, f"{command}: {ended.returncode}: {ended.stderr}"
    return harness.valid(json.loads(ended.stdout))


def problems_of(tool, program, threads, work):
    reference = Reference(threads)
    document = verify(tool, program, threads, work)
    found = codes(document)
    wanted = reference.outcomes - {0}
    if not document["complete"]:
        yield f"not complete: {document.get('bound')}"
    if found != wanted:
        yield f"verify finds the outcomes {sorted(found)}, not {sorted(wanted)}"
    racy = {race["variable"].split("[")[0] for race in document["races"]}
    wanted = {NAMES[v] for v in reference.races}
    if racy != wanted:
        yield f"verify finds races on {sorted(racy)}, not {sorted(wanted)}"
    if not racy and document.get("rounds"):
        yield "there are racing steps, but no race"
    for failure in document["failures"]:
        command = [tool.build / "bin/duress", "replay", failure["replay"], "--", program, *threads]
        ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if ended.returncode != 66 or "diverged" in ended.stderr:
            yield f"{failure['failure']} does not come again: {ended.returncode} {ended.stderr[-300:]}"


def codes(document):
    return {int(failure["failure"].split(":")[1]) for failure in document["failures"]}


def problems_under_rc11(tool, program, threads, more, work):
    """Racing accesses are relaxed atomics: all outcomes of sc, and `more`."""
    document = verify(tool, program, threads, work, "--model", "rc11")
    if not document["complete"]:
        yield f"not complete: {document.get('bound')}"
    if codes(document) != (Reference(threads).outcomes | more) - {0}:
        yield f"verify finds the outcomes {sorted(codes(document))}"
    if not document["races"]:
        yield "verify finds no race"


def main():
    options = harness.parser(__doc__).parse_args()
    tool = harness.Tool(options.build, options.duress)
    program = tool.compile(pathlib.Path(__file__).with_name("racing_program.cc"), [], "-O1")
    work = tool.build / "tests/verify/racing"
    cases = list(BY_HAND)
    rng = random.Random(7)
    while len(cases) < len(BY_HAND) + 24:
        threads = random_threads(rng)
        reference = Reference(threads)
        if 3 <= len(reference.outcomes) <= MOST_OUTCOMES and reference.races:
            cases.append(threads)
    weak = [(threads, more) for threads, more in UNDER_RC11 if not options.programs]
    chosen = [c for c in cases if not options.programs or " ".join(c) in options.programs]
    work.mkdir(parents=True, exist_ok=True)
    sequential = [
        (" ".join(threads), lambda threads=threads: problems_of(tool, program, threads, work)) for threads in chosen
    ]
    relaxed = [
        (
            f"rc11: {' '.join(threads)}",
            lambda threads=threads, more=more: problems_under_rc11(tool, program, threads, more, work),
        )
        for threads, more in weak
    ]
    harness.report(sequential + relaxed)


if __name__ == "__main__":
    main()
