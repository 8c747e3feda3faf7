#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`duress verify --spurious --timeouts` against a slow count of everything that can happen.

waits_program.cc runs what its arguments say. Here the same is run by hand in every order, with every end of
every wait; executions that differ only in the order of steps which do not conflict are one. verify must see
as many, and a deadlock exactly where there is one.
"""
import json
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

MOST_ORDERS = 20_000
MOST_CLASSES = 150


class TooMany(Exception):
    pass


class State:
    """Threads are strings of operations; what a thread is about to do is (position, phase)."""

    def __init__(self, threads, spurious, timeouts):
        self.threads, self.spurious, self.timeouts = threads, spurious, timeouts
        self.at = [0] * len(threads)
        self.phase = ["op"] * len(threads)  # op, wait-N (the end is chosen), queue, relock-N, store
        self.could_time_out = [False] * len(threads)
        self.row = {}  # (thread, operation, end): times in a row
        self.holder = None
        self.queue = frozenset()
        self.posts = 0
        self.flag = False
        self.log = []  # (thread, what, [(object, writes)], woken)

    def copy(self):
        other = State.__new__(State)
        other.__dict__.update(self.__dict__)
        for name in ("at", "phase", "could_time_out", "log"):
            setattr(other, name, list(getattr(self, name)))
        other.row = dict(self.row)
        return other

    def settle(self):
        """What is no step: the flag, and waits that are not needed."""
        for t, text in enumerate(self.threads):
            while self.phase[t] == "op" and self.at[t] < len(text):
                op = text[self.at[t]]
                if op == "f":
                    self.flag = True
                elif not (op in "WiP" and self.flag):
                    break
                self.at[t] += 1

    def ends(self, t, op):
        result = ["woken"]
        place = (t, op)
        if self.row.get((*place, "spurious"), 0) < self.spurious:
            result.append("spurious")
        if op in "tP" and self.row.get((*place, "timeout"), 0) < self.timeouts:
            result.append("timeout")
        return result

    def steps(self, t):
        """The steps that thread t can do now: functions that make the state after it."""
        if self.phase[t] == "queue":
            return []
        if self.phase[t].startswith("relock"):
            return [self.relock(t)] if self.holder is None else []
        if self.phase[t] == "store":
            return [self.simple(t, "store", [("word", True)], "op", 1)]
        if self.phase[t].startswith("wait-"):
            return [self.wait(t, self.phase[t][5:])]
        if self.at[t] == len(self.threads[t]):
            return []
        op = self.threads[t][self.at[t]]
        if op in "wtWiP":
            ends = self.ends(t, op)
            if len(ends) == 1:
                return [self.wait(t, "woken")]
            return [self.choose(t, end, "timeout" in ends) for end in ends]
        if op == "l":
            return [self.lock(t)] if self.holder is None else []
        if op == "T":
            return [self.lock(t)] if self.holder is None else [self.late(t)]
        if op == "u":
            return [self.unlock(t)]
        if op == "s":
            return [self.signal(t, [w]) for w in sorted(self.queue)] or [self.signal(t, [])]
        if op == "b":
            return [self.signal(t, sorted(self.queue))]
        if op == "A":
            return [self.acquire(t)]
        if op == "p":
            after = self.simple(t, "post", [("semaphore", True)], "op", 1)
            after.posts += 1
            return [after]
        return [self.simple(t, op, [("word", op == "x")], "op", 1)]

    def simple(self, t, what, touches, phase, on, woken=()):
        after = self.copy()
        after.log.append((t, what, touches, tuple(woken)))
        after.phase[t] = phase
        after.at[t] += on
        return after

    def choose(self, t, end, timed):
        after = self.simple(t, "choose " + end, [], "wait-" + end, 0)
        after.could_time_out[t] = timed and end == "woken"
        return after

    def wait(self, t, end):
        if end == "woken":
            after = self.simple(t, "wait", [("condition", True), ("mutex", True)], "queue", 0)
            after.queue = self.queue | {t}
        else:
            after = self.simple(t, "wait", [("mutex", True)], "relock-" + end, 0)
        after.holder = None
        return after

    def relock(self, t):
        end = self.phase[t][7:]
        op = self.threads[t][self.at[t]]
        place = (t, op)
        again = op in "WP" and not self.flag
        after = self.simple(t, "lock", [("mutex", True)], "op", 0 if again else 1)
        after.holder = t
        if end == "woken":
            after.row = {key: value for key, value in after.row.items() if key[:2] != place}
        else:
            after.row[(*place, end)] = after.row.get((*place, end), 0) + 1
        if op == "t" and end == "timeout":
            after.phase[t] = "store"
            after.at[t] -= 1
        return after

    def lock(self, t):
        after = self.simple(t, "lock", [("mutex", True)], "op", 1)
        after.holder = t
        return after

    def late(self, t):
        return self.simple(t, "late", [("mutex", False)], "op", self.threads[t].index("u", self.at[t]) + 1 - self.at[t])

    def unlock(self, t):
        after = self.simple(t, "unlock", [("mutex", True)], "op", 1)
        after.holder = None
        return after

    def signal(self, t, woken):
        after = self.simple(t, "signal", [("condition", bool(woken))], "op", 1, woken)
        after.queue = self.queue - set(woken)
        for w in woken:
            after.phase[w] = "relock-woken"
            after.could_time_out[w] = False
        return after

    def acquire(self, t):
        if self.posts:
            after = self.simple(t, "acquire", [("semaphore", True)], "op", 1)
            after.posts -= 1
            return after
        return self.simple(t, "too late", [("semaphore", False)], "store", 0)

    def fire(self):
        """Nothing can happen: whoever has timed out too often to choose it does so after all that was done. The state
        then."""
        for t, phase in enumerate(self.phase):
            if phase == "queue" and self.threads[t][self.at[t]] == "P":
                after = self.copy()
                after.log.append((t, "fires", [], ()))
                after.phase[t] = "relock-timeout"
                after.queue = self.queue - {t}
                return [after]
        return []

    def name(self):
        """The class: of each step of each thread, all that comes before it."""
        clocks, last, count, lines = [], {}, {}, [[] for _ in self.threads]
        entries = []
        width = len(self.threads)

        def join(clock, entry):
            return [max(a, b) for a, b in zip(clock, clocks[entry])] if entry is not None else clock

        for t, what, touches, woken in self.log:
            clock = join([0] * width, last.get(t))
            if what == "fires":
                for other in range(width):
                    clock = join(clock, last.get(other))
                clocks.append(clock)
                last[t] = len(clocks) - 1
                continue
            for entry, (_, _, others, _) in entries:
                if any(a == b and (x or y) for a, x in touches for b, y in others):
                    clock = join(clock, entry)
            count[t] = count.get(t, 0) + 1
            clock[t] = count[t]
            clocks.append(clock)
            last[t] = len(clocks) - 1
            entries.append((last[t], (t, what, touches, woken)))
            lines[t].append((what, tuple(touches), woken, tuple(clock)))
            for w in woken:
                clocks.append(join(join([0] * width, last.get(w)), last[t]))
                last[w] = len(clocks) - 1
        return tuple(tuple(line) for line in lines)


def count(threads, spurious, timeouts):
    """How many classes there are, and whether one is a deadlock."""
    classes, orders, deadlock = set(), 0, False
    first = State(threads, spurious, timeouts)
    first.settle()
    stack = [first]
    while stack:
        state = stack.pop()
        following = [after for t in range(len(threads)) for after in state.steps(t)]
        counts = not any(phase == "queue" and late for phase, late in zip(state.phase, state.could_time_out))
        if not following and counts:
            following = state.fire()
        for after in following:
            after.settle()
        stack.extend(following)
        if following:
            continue
        orders += 1
        if orders > MOST_ORDERS:
            raise TooMany
        if not counts:
            continue  # in time it would time out, which is another class
        classes.add(state.name())
        deadlock |= any(state.at[t] < len(text) for t, text in enumerate(threads))
        if len(classes) > MOST_CLASSES:
            raise TooMany
    return len(classes), deadlock


def random_threads(prng):
    waiters = ["lwu", "ltu", "lWu", "liu", "lwxu", "ltru", "xlwu", "ltwu", "lWwu", "Tiu", "Ttu"]
    others = [
        "s",
        "b",
        "lsu",
        "lfsu",
        "lfbu",
        "lfu",
        "xs",
        "ss",
        "Txu",
        "Tsu",
        "pA",
        "A",
        "p",
        "rp",
        "lxu",
        "sx",
        "Tru",
    ]
    threads = [prng.choice(waiters) for _ in range(prng.randint(1, 2))]
    return threads + [prng.choice(others) for _ in range(prng.randint(1, 2))]


FIXED = [  # threads, spurious, timeouts, classes
    (["lwu", "s"], 0, 0, 2),
    (["lwu", "s"], 1, 0, 3),
    (["ltu", "s"], 0, 1, 2),
    (["ltu", "s"], 1, 1, 3),
    (["Tu", "lu"], 0, 1, 3),
    (["A", "p"], 0, 1, 2),
    # Loops that poll: in the end the timeout comes.
    (["lPu", "lfu"], 0, 1, 3),
    (["lPu", "lfu"], 0, 2, 4),
    (["lPu", "lfsu", "x"], 1, 1, None),
    (["lPu", "lfu", "lwu"], 0, 1, None),
    (["lPu", "lxfu", "Tru"], 0, 1, None),
]


def main():
    parser = harness.parser(__doc__, programs=False)
    parser.add_argument("--programs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    work = build / "tests/verify/waits"
    work.mkdir(parents=True, exist_ok=True)
    program = harness.Tool(build).compile(pathlib.Path(__file__).resolve().parent / "waits_program.cc", level="-O1")
    prng = random.Random(arguments.seed)
    cases = []
    for threads, spurious, timeouts, classes in FIXED:
        assert classes in (None, count(threads, spurious, timeouts)[0]), (threads, count(threads, spurious, timeouts))
        cases.append((threads, spurious, timeouts))
    while len(cases) < arguments.programs:
        case = (random_threads(prng), prng.randint(0, 2), prng.randint(0, 1))
        timed = any(op in "tTA" for text in case[0] for op in text)
        if case[1] + case[2] == 0 or (timed and case[2] == 0):
            continue
        try:
            count(*case)
        except TooMany:
            continue
        cases.append(case)
    failed = total = 0
    for threads, spurious, timeouts in cases:
        classes, deadlock = count(threads, spurious, timeouts)
        total += classes
        flags = [f"--spurious={spurious}"] * bool(spurious) + [f"--timeouts={timeouts}"] * bool(timeouts)
        command = [
            str(build / "bin/duress"),
            "verify",
            "--json",
            "--no-advice",
            "--dir",
            str(work / "dir"),
            *flags,
            "--",
            str(program),
            *threads,
        ]
        ended = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300, check=False
        )
        document = json.loads(ended.stdout or "{}")
        found = sorted({failure["failure"] for failure in document.get("failures", [])})
        problems = []
        if document.get("interleavings") != classes:
            problems.append(f"{document.get('interleavings')} interleavings, not {classes}")
        if not document.get("complete"):
            problems.append(f"bounded: {document.get('bound')}")
        if found != ["deadlock"] * deadlock or document.get("races"):
            problems.append(f"found {found} {document.get('races')}, but there is {'a' if deadlock else 'no'} deadlock")
        if problems:
            failed += 1
            print(
                " ".join([*flags, *threads]),
                "; ".join(problems),
                ended.stderr[-300:] if not document else "",
                flush=True,
            )
    print(f"{len(cases)} programs with {total} interleavings, {failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
