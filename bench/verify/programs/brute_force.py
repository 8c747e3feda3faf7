#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""brute_force.py NAME N [rf]: how many executions a program of this folder has under sequential consistency, by brute force.

Independent of Duress: a thread is a generator that yields its steps and is sent what they returned. Every enabled thread
goes on in every state; states are told apart by which accesses of each variable came in which order (accesses that do not
conflict are not ordered), so a state is an equivalence class of prefixes, and those in which nobody can go on are counted.
With `rf` these are counted once if all reads, updates and locks in them read the same writes.

Steps: ("r", x), ("w", x, value), ("u", x, f): an update; f returns the new value, or None: it only reads. They return (value, version).
("block", {x: version}) is no step: the thread goes on when one of the variables has another version. A loop that waits reads
what it waits for, and blocks on what it has read: it is run again when something has changed. ("lock", x) waits until x is 0
and sets it to 1.

Threads that have no variable in common, whatever happens, are counted apart, and the counts are multiplied.
"""
import math
import sys


def load(x):
    value, _ = yield ("r", x)
    return value


def store(x, value):
    yield ("w", x, value)


def update(x, change):
    value, _ = yield ("u", x, change)
    return value


def compare(x, expected, desired):
    """(done, what was there)"""
    value, _ = yield ("u", x, lambda old: desired if old == expected else None)
    return value == expected, value


def await_value(x, good):
    while True:
        value, version = yield ("r", x)
        if good(value):
            return value
        yield ("block", {x: version})


def lock(x):
    """Whether it was locked before."""
    _, version = yield ("lock", x)
    return version != 0


class Explorer:
    def __init__(self, threads, initial, reads_from):
        self.threads, self.initial, self.reads_from = threads, initial, reads_from
        self.next_of, self.touched = {}, set()

    def next_step(self, thread, results):
        """What the thread does after these results; None: it has ended."""
        key = (thread, results)
        if key not in self.next_of:
            generator = self.threads[thread]()
            try:
                step = next(generator)
                for result in results:
                    step = generator.send(result)
            except StopIteration:
                step = None
            self.next_of[key] = step
        return self.next_of[key]

    def successors(self, state):
        """A state: what each thread's steps returned; of each variable its value, its version, and the order of its accesses."""
        results, memory = state
        values = dict((x, (value, version)) for x, value, version, _ in memory)
        orders = dict((x, order) for x, _, _, order in memory)
        for t, mine in enumerate(results):
            step = self.next_step(t, mine)
            if step is None:
                continue
            if step[0] == "block":
                self.touched.update(step[1])
                if all(values.get(x, (0, 0))[1] == version for x, version in step[1].items()):
                    continue
                yield (results[:t] + (mine + (None,),) + results[t + 1 :], memory)
                continue
            x = step[1]
            self.touched.add(x)
            value, version = values.get(x, (self.initial.get(x, 0), 0))
            if step[0] == "lock" and value:
                continue
            new = {"r": lambda: None, "w": lambda: step[2], "lock": lambda: 1, "u": lambda: step[2](value)}[step[0]]()
            order = orders.get(x, ((),))
            if new is None:
                order = order[:-1] + (tuple(sorted(order[-1] + ((t, len(mine)),))),)
            else:
                order = order + ((t, len(mine)), ())
            after = (new if new is not None else value, version + (new is not None))
            others = tuple(entry for entry in memory if entry[0] != x)
            changed = tuple(sorted(others + ((x, *after, order),), key=lambda entry: str(entry[0])))
            yield (results[:t] + (mine + ((value, version),),) + results[t + 1 :], changed)

    def class_of(self, state):
        """Of a state in which nobody can go on: which write each step that reads has read."""
        results, memory = state
        source = {}
        for _, _, _, order in memory:  # reads, a write, reads, a write, ..., reads
            for at, write in enumerate((None,) + order[1::2]):
                for step in order[2 * at] + order[2 * at + 1 : 2 * at + 2]:
                    source[step] = write
        steps = (
            (t, i, source[(t, i)])
            for t, mine in enumerate(results)
            for i, result in enumerate(mine)
            if result is not None and self.next_step(t, mine[:i])[0] != "w"
        )
        return tuple(map(len, results)), tuple(steps)

    def count(self):
        first = (tuple(() for _ in self.threads), ())
        seen, todo, ends = {first}, [first], set()
        while todo:
            state = todo.pop()
            following = list(self.successors(state))
            if not following:
                ends.add(self.class_of(state) if self.reads_from else state)
            for other in following:
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return len(ends)


def readers(n):
    return [lambda: store("x", 1)] + [lambda: load("x")] * n, {}


def lastzero(n):
    def search():
        i = n
        while (yield from load(("a", i))) != 0:
            i -= 1

    def add(j):
        yield from store(("a", j), (yield from load(("a", j - 1))) + 1)

    return [search] + [lambda j=j: add(j) for j in range(1, n + 1)], {}


def sigma(n):
    def create():
        for i in range(n):
            yield from store("index", i)
            yield from store(("made", i), 1)  # the thread begins after this; it reads it once, so no execution is added

    def mark(i):
        yield from await_made(i)
        yield from store(("slot", (yield from load("index"))), 1)

    def await_made(i):
        yield ("block", {("made", i): 0})

    return [create] + [lambda i=i: mark(i) for i in range(n)], {}


def fib(n):
    def add(mine, other):
        for _ in range(n):
            old = yield from load(mine)
            yield from store(mine, old + (yield from load(other)))

    return [lambda: add("i", "j"), lambda: add("j", "i")], {"i": 1, "j": 1}


def peterson(n):
    def lock(self):
        for _ in range(n):
            yield from store(("wants", self), 1)
            yield from store("turn", 1 - self)
            while True:
                wants, version = yield ("r", ("wants", 1 - self))
                if wants != 1:
                    break
                turn, turned = yield ("r", "turn")
                if turn != 1 - self:
                    break
                yield ("block", {("wants", 1 - self): version, "turn": turned})
            yield from store(("wants", self), 0)

    return [lambda: lock(0), lambda: lock(1)], {}


def szymanski(_):
    def lock(self):
        mine, other = ("flag", self), ("flag", 1 - self)
        yield from store(mine, 1)
        yield from await_value(other, lambda seen: seen < 3)
        yield from store(mine, 3)
        if (yield from load(other)) == 1:
            yield from store(mine, 2)
            yield from await_value(other, lambda seen: seen == 4)
        yield from store(mine, 4)
        if self == 1:
            yield from await_value(other, lambda seen: seen < 2)
        else:
            yield from await_value(other, lambda seen: seen not in (2, 3))
        yield from store(mine, 0)

    return [lambda: lock(0), lambda: lock(1)], {}


def dekker(n):
    def look(self):
        yield from store(("here", self), 1)
        yield from load(("here", (self + 1) % n))

    return [lambda i=i: look(i) for i in range(n)], {}


def ticket(n):
    def lock():
        mine = yield from update("next", lambda old: old + 1)
        yield from await_value("serving", lambda seen: seen == mine)
        yield from store("serving", mine + 1)

    return [lock] * n, {}


def mcs(n):
    def lock(self):
        before = yield from update("tail", lambda _: self)
        if before:
            yield from store(("next", before), self)
            yield from await_value(("waits", self), lambda seen: seen == 0)
        if not (yield from load(("next", self))):
            if (yield from compare("tail", self, 0))[0]:
                return
            yield from await_value(("next", self), lambda seen: seen != 0)
        yield from store(("waits", (yield from load(("next", self)))), 0)

    return [lambda i=i: lock(i) for i in range(1, n + 1)], {("waits", i): 1 for i in range(1, n + 1)}


def clh(n):
    def lock(mine):
        yield from store(("locked", mine), 1)
        before = yield from update("tail", lambda _: mine)
        yield from await_value(("locked", before), lambda seen: seen == 0)
        yield from store(("locked", mine), 0)

    return [lambda i=i: lock(i) for i in range(1, n + 1)], {}


def treiber(n):
    # What is on top is a tuple: the node and, below it, what it was pushed on.
    def push(self):
        below = yield from load("top")
        while True:
            done, below = yield from compare("top", below, (self, below))
            if done:
                return

    def pop():
        first = yield from load("top")
        while first:
            done, first = yield from compare("top", first, first[1])
            if done:
                return

    return [lambda i=i: push(i) for i in range(1, n + 1)] + [pop], {}


def michael_scott(n):
    def put(mine):
        while True:
            last = yield from load("tail")
            following = yield from load(("next", last))
            if following:
                yield from compare("tail", last, following)
            elif (yield from compare(("next", last), 0, mine))[0]:
                yield from compare("tail", last, mine)
                return

    return [lambda i=i: put(i) for i in range(1, n + 1)], {}


def chase_lev(n):
    def own():
        for value in (1, 2):
            b = yield from load("bottom")
            yield from store(("slot", b), value)
            yield from store("bottom", b + 1)
        b = (yield from load("bottom")) - 1
        yield from store("bottom", b)
        t = yield from load("top")
        if t > b:
            yield from store("bottom", b + 1)
            return
        yield from load(("slot", b))
        if t < b:
            return
        yield from compare("top", t, t + 1)
        yield from store("bottom", b + 1)

    def steal():
        t = yield from load("top")
        if t >= (yield from load("bottom")):
            return
        yield from load(("slot", t))
        yield from compare("top", t, t + 1)

    return [own] + [steal] * n, {}


def sense_barrier(n):
    def arrive():
        if (yield from update("missing", lambda old: old - 1)) == 1:
            yield from store("open", 1)
        else:
            yield from await_value("open", lambda seen: seen != 0)

    return [arrive] * n, {"missing": n}


def posix_barrier(n):
    return [lambda: update("barrier", lambda old: old + 1)] * n, {}


def seqlock(n):
    def write():
        yield from store("sequence", 1)
        yield from store("first", 1)
        yield from store("second", 1)
        yield from store("sequence", 2)

    def read():
        if (yield from load("sequence")) % 2:
            return
        yield from load("first")
        yield from load("second")
        yield from load("sequence")

    return [write] + [read] * n, {}


def shared_count(n):
    def take_and_drop():
        yield from update("count", lambda old: old + 1)
        yield from update("count", lambda old: old - 1)

    return [take_and_drop] * n, {"count": 1}


def updates(n):
    def add():
        for _ in range(n):
            yield from update("x", lambda old: old + 1)

    return [add] * 2, {}


def indexer(n):
    def put(thread):
        for m in range(1, 5):
            w = 11 * m + thread
            at = 7 * w % 128
            while not (yield from compare(("slot", at), 0, w))[0]:
                at = (at + 1) % 128

    return [lambda i=i: put(i) for i in range(n)], {}


def filesystem(n):
    def first_block(thread):
        inode, at = ("inode", thread % 32), thread % 32 * 2 % 26
        if not (yield from lock(inode)):
            while (yield from lock(("block", at))):  # whoever had it first has taken the block
                yield from store(("block", at), 0)
                at = (at + 1) % 26
            yield from store(("block", at), 0)
        yield from store(inode, 0)

    return [lambda i=i: first_block(i) for i in range(n)], {}


def count_apart(threads, initial, reads_from):
    """Groups of threads grow until no two of them touch the same variable."""
    groups = [([thread], None) for thread in threads]
    while True:
        for i, (group, counted) in enumerate(groups):
            if counted is None:
                explorer = Explorer(group, initial, reads_from)
                groups[i] = (group, (explorer.count(), explorer.touched))
        pairs = ((i, k) for k in range(len(groups)) for i in range(k) if groups[i][1][1] & groups[k][1][1])
        pair = next(pairs, None)
        if pair is None:
            return math.prod(counted[0] for _, counted in groups)
        other = groups.pop(pair[1])
        groups[pair[0]] = (groups[pair[0]][0] + other[0], None)


def count(name, n, reads_from=False):
    """None: there is no such model."""
    model = globals().get(name)
    return count_apart(*model(n), reads_from) if callable(model) else None


if __name__ == "__main__":
    print(count(sys.argv[1], int(sys.argv[2]), sys.argv[3:] == ["rf"]))
