#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Searches small programs for a failing schedule and compares what was found with what their header states.

  // EXPECT-FAILURE: KIND [| KIND]    this failure must be found: deadlock, assertion, signal:SIGSEGV, exit:1, ...
  // EXPECT-NO-FAILURE                nothing may be found
  // WITHIN: N                        in so many runs (default 1000)
  // RUN-ARGS: ...                    arguments of the program; may be repeated, each is a case
  // OPTIONS: ...                     of duress explore
  // PASSES: OPTIONS [-- ARGS]        with these options instead, and these arguments, nothing may be found
  // FLAGS: ...                       of the compiler
  // REPLAYS: N                       at most so many replays, where one takes seconds
  // SUITE: fast                      also part of the fast suite, with the first of its arguments

Then, of what was found:
  - -j 1 and -j 2 give the same document, except for times;
  - both backends find the same failure, in the same run, with the same token;
  - the token replays it, every time with the same bytes, on both backends: 20 times; in the full suite those
    of the fast one 100 times (20 on threads);
  - the token replays it after a rebuild with lines that have moved, of those in the fast suite also at another level of
    optimisation.
"""
import concurrent.futures
import re
import sys
import time

import jsonschema

import harness
from harness import Failure, Program


# Of the papers' programs, whose headers say what `duress run` reports.
EXAMPLES = [
    ("racefuzzer/figure1.cc", "exit:1"),
    ("racefuzzer/figure2.cc", "exit:1"),
    ("racefuzzer/cache4j.cc", "exception:Interrupted"),
    ("racefuzzer/hedc.cc", "signal:SIGSEGV"),
    ("racefuzzer/weblech.cc", "exception:std::out_of_range"),
    ("racefuzzer/array_list.cc", "exception:ConcurrentModification"),
    ("racefuzzer/linked_list.cc", "exception:ConcurrentModification | exception:NoSuchElement"),
    ("racefuzzer/hash_set.cc", "exception:ConcurrentModification | exception:NoSuchElement"),
    ("tutorial/bank.cc", "exit:1"),
    ("tutorial/null_check.cc", "signal:SIGSEGV"),
    ("tutorial/use_after_free.cc", "exit:1"),
    ("tutorial/use_before_init.cc", "signal:SIGSEGV"),
    ("tutorial/division.cc", None),  # fails with stale values only
]


def all_programs():
    for path in sorted(p for p in harness.PROGRAMS.iterdir() if p.suffix in (".c", ".cc")):
        yield Program(path)
    for name, kind in EXAMPLES:
        yield Program(harness.ROOT / "examples" / name,
                      [("EXPECT-FAILURE", kind) if kind else ("EXPECT-NO-FAILURE", "")])


def brief(document):
    """What must not depend on -j: all but times."""
    return {key: value for key, value in document.items() if key != "seconds"}


def differences(a, b, path=""):
    """The places where two documents differ."""
    if a == b:
        return []
    if isinstance(a, dict) and isinstance(b, dict):
        return [d for key in sorted({*a, *b}) for d in differences(a.get(key), b.get(key), f"{path}.{key}")]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [d for i, (x, y) in enumerate(zip(a, b)) for d in differences(x, y, f"{path}[{i}]")]
    return [f"{path}: {str(a)[:200]} / {str(b)[:200]}"]


class Case:
    """A program with its arguments."""

    def __init__(self, program, args, tool, suite):
        self.program, self.args, self.tool, self.suite = program, args, tool, suite
        self.problems, self.note = [], ""

    def name(self):
        return " ".join([f"{self.program.path.parent.name}/{self.program.path.name}", *self.args])

    def search(self, jobs=2, options=()):
        program = self.program
        wanted = ["--runs", str(program.within), *program.options, *options]
        code, document, errors = self.tool.explore(self.binary, self.args, wanted, jobs)
        if document is None:
            raise Failure(f"explore ended with {code} and no document: {errors}")
        jsonschema.validate(document, self.tool.schema)
        return code, document

    def check(self):
        begun = time.monotonic()
        try:
            self.binary = self.tool.compile(self.program.path, self.program.flags)
            code, document = self.search()
            failure = self.check_found(code, document)
            self.check_passes()
            if self.suite == "all":
                self.check_jobs(document)
                self.check_backend(failure, document)
            if failure:
                self.check_replays(failure)
                if self.suite == "all":
                    self.check_rebuilds(failure)
        except Failure as problem:
            self.problems.append(str(problem))
        self.seconds = time.monotonic() - begun
        return self

    def check_found(self, code, document):
        failures = document["failures"]
        if self.program.no_failure:
            if failures or code != 0:
                found = [(f["failure"], f.get("text"), f["replay"]) for f in failures]
                raise Failure(f"exit code {code}, expected no failure, found {found}")
            if document["runs"] != self.program.within:
                raise Failure(f"{document['runs']} runs instead of {self.program.within}")
            self.note = f"{document['runs']} runs, {document['runs'] / max(document['seconds'], 1e-3):.0f} runs/s"
            return None
        if code != 66 or len(failures) != 1:
            raise Failure(f"exit code {code}, {len(failures)} failures in {document['runs']} runs, expected "
                          f"{self.program.kinds}")
        failure = failures[0]
        self.note = f"run {failure['found_at_run']} by {failure['strategy']}, {failure['switches']} switches"
        if failure["failure"] not in self.program.kinds:
            raise Failure(f"found {failure['failure']} ({failure.get('text')}), expected {self.program.kinds}")
        if failure["found_at_run"] > self.program.within:
            self.problems.append(f"found in run {failure['found_at_run']} only")
        if not failure.get("replayed"):
            self.problems.append("did not fail again when it was replayed")
        return failure

    def check_passes(self):
        for options, args in self.program.passes:
            wanted = ["--runs", str(self.program.within), *options]
            code, document, errors = self.tool.explore(self.binary, args, wanted)
            if code != 0 or document is None or document["failures"]:
                found = [(f["failure"], f["replay"]) for f in document["failures"]] if document else errors
                self.problems.append(f"with {' '.join([*options, '--', *args])}: exit code {code}, found {found}")

    def check_jobs(self, document):
        _, single = self.search(jobs=1)
        for place in differences(brief(single), brief(document)):
            self.problems.append(f"-j 1 and -j 2 differ in {place}")

    def check_backend(self, failure, document):
        code, other = self.search(options=["--backend", "thread"])
        if not failure:
            if other["failures"] or code != 0:
                self.problems.append(f"--backend thread finds {[f['failure'] for f in other['failures']]}")
            elif other["runs"] != document["runs"]:
                self.problems.append(f"--backend thread: {other['runs']} runs instead of {document['runs']}")
            return
        keys = ["id", "failure", "found_at_run", "strategy"]
        if self.program.replays >= 100:  # where a run takes seconds, the time for minimising ends earlier on threads
            keys += ["switches", "replay"]
        for key in keys:
            mine = [f.get(key) for f in other["failures"]]
            if mine != [failure.get(key)]:
                self.problems.append(f"--backend thread: {key} is {mine}, with fibers {failure.get(key)}")

    def check_replays(self, failure):
        """Every replay must fail in the same way, with the same bytes, on both backends."""
        times = min(self.program.replays, 100 if self.suite == "all" and self.program.fast else 20)
        outputs = {}
        for backend, folder in (("fiber", "d"), ("thread", "a-folder-with-a-longer-name-than-that")):
            options = ["--backend", backend]
            code, out, err = self.tool.replay(failure["replay"], self.binary, self.args, options, folder)
            err = re.sub(rb"==\d+==", b"==PID==", err)  # sanitizers' marks, which no schedule decides
            outputs[backend] = (code, out, err)
            said = err.decode(errors="replace")
            if code != 66 or f"[{failure['id']}]" not in said:
                self.problems.append(f"replay ({backend}) ended with {code}, without {failure['id']}:\n{said[:1500]}")
                continue
            if failure.get("stderr", "") not in said:
                self.problems.append(f"the search wrote to stderr: {failure['stderr'][:1000]}\nits replay ({backend}): "
                                     f"{said[:1000]}")
            if backend == "thread":
                times = min(times, 20)
            code, _, err = self.tool.replay(failure["replay"], self.binary, self.args, [*options, "--times", str(times)])
            last = err.decode(errors="replace").strip().splitlines()[-1]
            wanted = (f"failed {times} of {times} times, in the same way {times} times; {times} times with equal "
                      "choices and output")
            if code != 66 or not last.endswith(wanted):
                self.problems.append(f"replay --times ({backend}) ended with {code}: {last}")
        if outputs["fiber"] != outputs["thread"]:
            self.problems.append("the backends replay with other bytes:\n" +
                                 "\n".join(f"{k}: {v}"[:1500] for k, v in outputs.items()))

    def check_rebuilds(self, failure):
        rebuilds = {"with lines moved": {"shift": 7}}
        if self.program.fast:
            rebuilds["at -O1"] = {"level": "-O1"}
        for how, what in rebuilds.items():
            other = self.tool.compile(self.program.path, self.program.flags, **what)
            code, _, err = self.tool.replay(failure["replay"], other, self.args)
            said = err.decode(errors="replace")
            if code != 66 or f"[{failure['id']}]" not in said or "diverged" in said:
                self.problems.append(f"{how}: the token replays with exit code {code}, without {failure['id']}:\n"
                                     f"{said[:1500]}")


def main():
    parser = harness.parse_arguments(__doc__)
    parser.add_argument("programs", nargs="*", help="only programs whose path matches one of these")
    parser.add_argument("-j", type=int, default=2, help="programs side by side")
    parser.add_argument("-v", action="store_true", help="name the programs that pass, too")
    options = parser.parse_args()
    tool = harness.Tool(options.build, options.duress)
    cases = []
    for program in all_programs():
        if options.programs and not any(re.search(word, str(program.path)) for word in options.programs):
            continue
        if options.suite == "fast":
            cases += [Case(program, program.args[0], tool, "fast")] if program.fast else []
        else:
            cases += [Case(program, args, tool, "all") for args in program.args]
    if not cases:
        sys.exit("run.py: nothing to check: no such program is in this suite")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        for case in pool.map(Case.check, cases):
            failed += 1 if case.problems else 0
            if case.problems:
                text = "\n".join(case.problems).rstrip().replace("\n", "\n    ")
                print(f"FAIL {case.name()} ({case.note})\n    {text}", flush=True)
            elif options.v:
                print(f"ok   {case.name()}: {case.note}, {case.seconds:.1f} s", flush=True)
    print(f"{len(cases)} searches: {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
