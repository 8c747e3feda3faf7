#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Litmus tests: `duress verify`, and duress::check in process, under sc and rc11 against brute force.

The judge is below: every choice of reads-from and modification order, held to the axioms of docs/models/rc11.md (or to
one order of everything, for sc). It shares nothing with the tool. Compared are the number of executions and the set of
outcomes; both must be exact.
"""
import itertools
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

# Spelt as in litmus.h.
TESTS = {
    "store buffering (Dekker), relaxed": "Wx1x Ryx|Wy1x Rxx",
    "store buffering, release and acquire": "Wx1r Rya|Wy1r Rxa",
    "store buffering, seq_cst": "Wx1s Rys|Wy1s Rxs",
    "store buffering, fences": "Wx1x Fs Ryx|Wy1x Fs Rxx",
    "store buffering, one fence": "Wx1x Fs Ryx|Wy1x Rxx",
    "store buffering, weak fences": "Wx1x Fq Ryx|Wy1x Fq Rxx",
    "Peterson's entry, seq_cst": "Wx1s Wz1s Rys Rzs|Wy1s Wz2s Rxs Rzs",
    "Peterson's entry, release and acquire": "Wx1r Wz1r Rya Rza|Wy1r Wz2r Rxa Rza",
    "message passing, relaxed": "Wx1x Wy1x|Ryx Rxx",
    "message passing, release and acquire": "Wx1x Wy1r|Rya Rxx",
    "message passing, only release": "Wx1x Wy1r|Ryx Rxx",
    "message passing, only acquire": "Wx1x Wy1x|Rya Rxx",
    "message passing, fences": "Wx1x Fr Wy1x|Ryx Fa Rxx",
    "message passing, reader first": "Rya Rxx|Wx1x Wy1r",
    "load buffering": "Rxx Wy1x|Ryx Wx1x",
    "IRIW, relaxed": "Wx1x|Wy1x|Rxx Ryx|Ryx Rxx",
    "IRIW, release and acquire": "Wx1r|Wy1r|Rxa Rya|Rya Rxa",
    "IRIW, seq_cst": "Wx1s|Wy1s|Rxs Rys|Rys Rxs",
    "IRIW, fences": "Wx1x|Wy1x|Rxx Fs Ryx|Ryx Fs Rxx",
    "2+2W, relaxed": "Wx1x Wy2x|Wy1x Wx2x",
    "2+2W, release": "Wx1r Wy2r|Wy1r Wx2r",
    "2+2W, seq_cst": "Wx1s Wy2s|Wy1s Wx2s",
    "CoRR": "Wx1x Wx2x|Rxx Rxx",
    "CoRR, two writers": "Wx1x|Wx2x|Rxx Rxx",
    "CoRR, two writers, seq_cst": "Wx1s|Wx2s|Rxs Rxs",
    "write to read causality, relaxed": "Wx1x|Rxx Wy1x|Ryx Rxx",
    "write to read causality, release and acquire": "Wx1x|Rxa Wy1r|Rya Rxx",
    "release sequence, through an update": "Wx1x Wy1r|Uy1x|Rya Rxx",
    "release sequence, broken by a store": "Wx1x Wy1r Wy2x|Rya Rxx",
    "release sequence and a fence": "Wx1x Wy1r|Uy1x|Ryx Fa Rxx",
    "S, relaxed": "Wx2x Wy1x|Ryx Wx1x",
    "S, release and acquire": "Wx2x Wy1r|Rya Wx1x",
    "R, relaxed": "Wx1x Wy1x|Wy2x Rxx",
    "R, seq_cst": "Wx1s Wy1s|Wy2s Rxs",
    "updates": "Ux1x Ux1x|Ux1x",
    "updates and a store": "Ux1x|Ux1q|Wx5x",
    "W+RWC": "Wx1x Wz1r|Rza Fs Ryx|Wy1x Fs Rxx",
}
ORDERS = {"x": 0, "a": 1, "r": 2, "q": 3, "s": 4}


class Event:
    def __init__(self, thread, kind, place, value, order):
        self.thread, self.kind, self.place, self.value, self.order = thread, kind, place, value, order
        self.reads, self.writes = kind in "RU", kind in "WUI"
        self.acquires = order in "aqs" and (self.reads or kind == "F")
        self.releases = order in "rqs" and (kind in "WU" or kind == "F")
        self.strong = order == "s"


def parse(text):
    events = [Event(-1, "I", place, 0, "x") for place in "xyz"]
    for thread, part in enumerate(text.split("|")):
        for word in part.split():
            kind = word[0]
            if kind == "F":
                events.append(Event(thread, "F", None, 0, word[1]))
            elif kind == "R":
                events.append(Event(thread, "R", word[1], 0, word[2]))
            else:
                events.append(Event(thread, kind, word[1], int(word[2]), word[3]))
    return events


def compose(a, b):
    after = {}
    for x, y in b:
        after.setdefault(x, set()).add(y)
    return {(x, z) for x, y in a for z in after.get(y, ())}


def closure(a):
    while True:
        more = a | compose(a, a)
        if more == a:
            return a
        a = more


def acyclic(a):
    return all(x != y for x, y in closure(a))


def graphs(events):
    """Every choice of what is read and in which order stores come, with the values if they can be computed."""
    reads = [i for i, e in enumerate(events) if e.reads]
    sources = [[j for j, w in enumerate(events) if w.writes and w.place == events[i].place and j != i] for i in reads]
    for choice in itertools.product(*sources):
        rf = dict(zip(reads, choice))
        values, rest = {}, set(range(len(events)))
        while rest:
            ready = [i for i in rest if i not in rf or rf[i] in values]
            if not ready:
                break
            for i in ready:
                e = events[i]
                values[i] = values[rf[i]] + e.value if e.kind == "U" else values[rf[i]] if e.kind == "R" else e.value
                rest.discard(i)
        if rest:
            continue  # out of thin air
        stores = [[i for i, e in enumerate(events) if e.writes and e.place == p and e.kind != "I"] for p in "xyz"]
        for orders in itertools.product(*[itertools.permutations(s) for s in stores]):
            yield rf, [[k, *order] for k, order in enumerate(orders)], values


def allowed(events, rf_map, orders, model):
    n = range(len(events))
    sb = {
        (i, j)
        for i in n
        for j in n
        if i < j and (events[i].thread == events[j].thread or events[i].kind == "I") and events[j].kind != "I"
    }
    rf = {(w, r) for r, w in rf_map.items()}
    mo = {(o[i], o[j]) for o in orders for i in range(len(o)) for j in range(i + 1, len(o))}
    fr = {(r, w) for r, s in rf_map.items() for x, w in mo if x == s and w != r}
    for order in orders:  # an update comes right after what it read
        for before, store in zip(order, order[1:]):
            if events[store].kind == "U" and rf_map[store] != before:
                return False
    if model == "sc":
        return acyclic(sb | rf | mo | fr)
    if not acyclic(sb | rf):
        return False
    same = {(i, i) for i in n}
    fence = {i for i in n if events[i].kind == "F"}
    through = closure({(w, r) for w, r in rf if events[r].kind == "U"})  # release sequences
    sequence = {(w, w) for w in n if events[w].writes} | through
    heads = {(i, i) for i in n if events[i].kind in "WU" and events[i].releases}
    heads |= {(f, w) for f, w in sb if f in fence and events[f].releases and events[w].kind in "WU"}
    tails = {(i, i) for i in n if events[i].reads and events[i].acquires}
    tails |= {(r, f) for r, f in sb if f in fence and events[f].acquires and events[r].reads}
    sw = compose(compose(compose(heads, sequence), rf), tails)
    hb = closure(sb | sw)
    eco = closure(rf | mo | fr)
    if any(x == y for x, y in hb | compose(hb, eco)):
        return False
    sc = {(i, i) for i in n if events[i].strong}
    sc_fence = {(i, i) for i in fence if events[i].strong}
    scb = (
        sb
        | compose(compose(sb, hb), sb)
        | {(x, y) for x, y in hb if events[x].place is not None and events[x].place == events[y].place}
        | eco
    )
    first = sc | compose(sc_fence, hb | same)
    last = sc | compose(hb | same, sc_fence)
    psc = compose(compose(first, scb), last) | compose(compose(sc_fence, hb | compose(compose(hb, eco), hb)), sc_fence)
    return acyclic(psc)


def judged(text, model):
    events = parse(text)
    outcomes, count = set(), 0
    for rf, orders, values in graphs(events):
        if not allowed(events, rf, orders, model):
            continue
        count += 1
        seen = "".join(str(values[rf[i]]) for i, e in enumerate(events) if e.reads)
        outcomes.add(seen + "/" + "".join(str(values[order[-1]]) for order in orders))
    return count, outcomes


def in_process(program):
    """By test and model: what duress::check says, all in one process."""
    ended = subprocess.run([program, *TESTS.values()], stdout=subprocess.PIPE, text=True, timeout=300, check=True)
    lines = iter(ended.stdout.splitlines())
    answers = {}
    for text in TESTS.values():
        for model in ("sc", "rc11"):
            executions, bound, outcomes = next(lines).split(";")
            answers[text, model] = int(executions), bound, set(outcomes.split())
    return answers


def main():
    tool = harness.Tool(harness.parser(__doc__, programs=False).parse_args().build)
    build, here = tool.build, pathlib.Path(__file__).resolve().parent
    work = build / "tests/verify/litmus"
    work.mkdir(parents=True, exist_ok=True)
    program = tool.compile(here / "litmus_program.cc", level="-O1")
    closures = in_process(tool.compile(here / "litmus_closure.cc", level="-O1"))
    failed = weak = 0
    for name, text in TESTS.items():
        counts = {}
        for model in ("sc", "rc11"):
            count, outcomes = judged(text, model)
            counts[model] = count
            seen = work / "outcomes"
            seen.unlink(missing_ok=True)
            command = [
                build / "bin/duress",
                "verify",
                "--json",
                "--model",
                model,
                "-j",
                "2",
                "--dir",
                work / "dir",
                "--",
                program,
                text,
                seen,
            ]
            ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=120, check=False)
            document = json.loads(ended.stdout)
            found = set(seen.read_text().split()) if seen.exists() else set()
            problems = []
            if ended.returncode != 0 or not document["complete"]:
                problems.append(f"exit code {ended.returncode}, {document.get('bound')}")
            if document["interleavings"] != count:
                problems.append(f"{document['interleavings']} executions, not {count}")
            if found != outcomes:
                problems.append(f"outcomes missing {sorted(outcomes - found)}, too many {sorted(found - outcomes)}")
            if closures[text, model] != (count, "complete", outcomes):
                problems.append(f"in process {closures[text, model]}, not {count} executions with {sorted(outcomes)}")
            for problem in problems:
                failed += 1
                print(f"{name} ({text}) under {model}: {problem}", flush=True)
        weak += counts["rc11"] > counts["sc"]
    print(f"{len(TESTS)} litmus tests, {weak} with executions that sc does not have, {failed} problems")
    return 1 if failed or weak < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
