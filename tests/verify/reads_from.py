#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`duress verify --equivalence rf` on random programs against brute force (bench/verify/programs/brute_force.py).

reads_from_program.cc runs what its arguments say. verify must see as many reads-from classes as brute force does, with one worker
and with two, none of them by traces, and the assertion must fail in as many as it does there. With the equivalence `trace` it must fail
exactly if it does with `rf`.
"""
import importlib.util
import json
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

PROGRAMS = 60
MOST_STATES = 20_000
MOST_CLASSES = 150


def brute_force():
    path = harness.ROOT / "bench/verify/programs/brute_force.py"
    spec = importlib.util.spec_from_file_location("brute_force", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


JUDGE = brute_force()


class TooMany(Exception):
    pass


def words(text):
    return [(text[i], int(text[i + 1]), int(text[i + 2]), int(text[i + 3])) for i in range(0, len(text), 4)]


def thread(text):
    """The steps of a thread. What is plain is guarded by a lock: it is read and written with it."""
    for what, at, v, w in words(text):
        if what == "l":
            yield ("r", at)
        elif what == "s":
            yield ("w", at, v)
        elif what == "a":
            yield ("u", at, lambda old, v=v: old + v)
        elif what == "c":
            yield ("u", at, lambda old, v=v, w=w: w if old == v else None)
        elif what == "w":
            yield from JUDGE.await_value(at, lambda value, v=v: value == v)
        elif what == "k":
            yield ("lock", ("mutex", at))
        elif what == "u":
            yield ("w", ("mutex", at), 0)


class Judge(JUDGE.Explorer):
    """Also how many classes fail. Plain variables have the value of the last critical section: no step, so they are replayed."""

    def __init__(self, texts):
        super().__init__([lambda text=text: thread(text) for text in texts], {}, True)
        self.texts, self.fails, self.states = texts, {}, 0

    def successors(self, state):
        self.states += 1
        if self.states > MOST_STATES:
            raise TooMany
        yield from super().successors(state)

    def class_of(self, state):
        key = super().class_of(state)
        self.fails[key] = self.sum_of(state) % 3 == 0 and self.has_ended(state)
        return key

    def has_ended(self, state):
        return all(self.next_step(t, mine) is None for t, mine in enumerate(state[0]))

    def sum_of(self, state):
        """Sections in the order of their locks; what each thread reads, in its own."""
        sections = [order[1::2] for x, _, _, order in state[1] if isinstance(x, tuple)]
        return sum(self.read_by(t, state, sections) for t in range(len(self.texts)))

    def steps_of(self, t, results):
        """(word, number of the step, what it returned): of loops that wait all steps."""
        i = 0
        for word in words(self.texts[t]):
            if word[0] in "pq":
                yield word, None, None
                continue
            while True:
                if i == len(results):
                    return
                yield word, i, results[i]
                i += 1
                if word[0] != "w" or (results[i - 1] is not None and results[i - 1][0] == word[2]):
                    break

    def plain_values(self, state):
        """By thread and word: what a plain load finds."""
        orders = {x[1]: order[1::2] for x, _, _, order in state[1] if isinstance(x, tuple)}
        found = {}
        for lock, order in orders.items():
            value = 0
            for t, step in order:
                if self.next_step(t, state[0][t][:step])[0] != "lock":
                    continue
                holds = False
                for n, (word, i, _) in enumerate(self.steps_of(t, state[0][t])):
                    if i == step:
                        holds = True
                    elif holds and word[0] == "u" and word[1] == lock:
                        break
                    elif holds and word[0] == "q" and word[1] == lock:
                        value = word[2]
                    elif holds and word[0] == "p" and word[1] == lock:
                        found[(t, n)] = value
        return found

    def read_by(self, t, state, _):
        read, plain = 0, self.plain_values(state)
        for n, (word, _, result) in enumerate(self.steps_of(t, state[0][t])):
            if word[0] in "lac":
                read = (read * 5 + result[0] + 1) % 11
            elif word[0] == "p":
                read = (read * 5 + plain[(t, n)] + 1) % 11
        return read


def random_thread(chance):
    text = ""
    for _ in range(chance.randint(1, 4)):
        kind = chance.randrange(10)
        at = chance.randrange(2)
        if kind < 3:
            text += f"l{at}00"
        elif kind < 6:
            text += f"s{at}{chance.randrange(3)}0"
        elif kind == 6:
            text += f"a{at}10"
        elif kind == 7:
            text += f"c{at}{chance.randrange(2)}{chance.randint(1, 2)}"
        elif kind == 8:
            lock = chance.randrange(2)
            text += f"k{lock}00"
            for _ in range(chance.randint(0, 2)):
                text += chance.choice([f"p{lock}00", f"q{lock}{chance.randint(1, 2)}0", f"l{at}00", f"s{at}10"])
            text += f"u{lock}00"
        else:
            text += f"w{at}{chance.randrange(3)}0"
    return text


def verify(tool, program, texts, work, *flags):
    command = [
        tool.build / "bin/duress",
        "verify",
        "--json",
        "--no-advice",
        "--dir",
        work,
        *flags,
        "--",
        program,
        *texts,
    ]
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return json.loads(ended.stdout) if ended.stdout else {"error": ended.stderr}


def assertions(document):
    return sum(failure["runs_failed"] for failure in document["failures"] if failure["failure"] == "assertion")


def problems_of(tool, program, seed):
    chance = random.Random(seed)
    while True:
        texts = [random_thread(chance) for _ in range(chance.randint(2, 3))]
        judge = Judge(texts)
        try:
            if (classes := judge.count()) <= MOST_CLASSES:
                break
        except TooMany:
            pass
    work = tool.build / "tests/verify/reads_from"
    documents = {jobs: verify(tool, program, texts, work, "--equivalence", "rf", "-j", str(jobs)) for jobs in (1, 2)}
    traces = verify(tool, program, texts, work, "-j", "2")
    for document in (*documents.values(), traces):
        if "error" in document:
            yield f"{texts}: {document['error']}"
            return
    for jobs, document in documents.items():
        if not document["complete"] or document["equivalence"] != "rf":
            yield f"{texts}: {document.get('by_traces')} {document.get('bound')}"
        if document["interleavings"] != classes:
            yield f"{texts}: {document['interleavings']} executions with -j {jobs}, not {classes}"
        fails = sum(judge.fails.values())
        if assertions(document) != fails:
            yield f"{texts}: fails in {assertions(document)}, not {fails}"
        if document.get("blocked", 0) > 2 * classes:
            yield f"{texts}: {document['blocked']} executions do not count"
    kinds = [sorted({failure["failure"] for failure in one["failures"]}) for one in (documents[1], traces)]
    if kinds[0] != kinds[1] or documents[1]["interleavings"] > traces["interleavings"]:
        yield f"{texts}: {kinds[0]}, and by traces {kinds[1]}"


def problems_of_refusals(tool, program):
    for flags in (["--symmetry"], ["--preemptions", "1"], ["--model", "rc11"]):
        command = [tool.build / "bin/duress", "verify", "--equivalence", "rf", *flags, "--", program]
        ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        lines = ended.stderr.splitlines()
        if ended.returncode != 2 or len(lines) != 1 or "--equivalence" not in lines[0]:
            yield f"{flags}: exit code {ended.returncode}, {lines}"


def main():
    options = harness.parser(__doc__).parse_args()
    tool = harness.Tool(options.build, options.duress)
    program = tool.compile(pathlib.Path(__file__).resolve().parent / "reads_from_program.cc", [], "-O1")
    seeds = range(*map(int, options.programs)) if options.programs else range(PROGRAMS)
    cases = [("refusals", lambda: problems_of_refusals(tool, program))]
    cases += [(str(seed), lambda seed=seed: problems_of(tool, program, seed)) for seed in seeds]
    harness.report(iter(cases))


if __name__ == "__main__":
    main()
