#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Searches small programs for a failing schedule and compares what was found with what their header states.

  // EXPECT-FAILURE: KIND [| KIND]    this failure must be found: deadlock, assertion, signal:SIGSEGV, exit:1, ...
  // EXPECT-NO-FAILURE                nothing may be found
  // WITHIN: N                        in so many runs (default 1000)
  // SWITCHES: N                      with at most so many after minimising
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
import pathlib
import re
import shlex
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402
from harness import Failure  # noqa: E402

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"


def all_programs():
    """(path, statements); None: those of its head."""
    for path in sorted(p for p in PROGRAMS.iterdir() if p.suffix in (".c", ".cc")):
        yield path, None
    for line in PROGRAMS.with_name("examples.txt").read_text().splitlines():
        name, _, kind = line.partition(" ")
        if name != "#":
            statement = ("EXPECT-NO-FAILURE", "") if kind == "none" else ("EXPECT-FAILURE", kind)
            yield harness.ROOT / "examples" / f"{name}.cc", [statement]


class Program:
    """One source file and what its header states."""

    def __init__(self, path, statements=None):
        """statements: instead of the header's, as (key, value)."""
        self.path = path
        self.kinds, self.within, self.switches, self.args, self.flags, self.options = [], 1000, None, [], [], []
        self.passes = []  # (options, arguments)
        self.no_failure = self.fast = False
        self.replays = 100
        if statements is None:
            statements = harness.Statements(path.read_text())
        for key, value in statements:
            self.statement(key, value)
        self.args = self.args or [[]]
        if bool(self.kinds) == self.no_failure:
            raise ValueError(f"{path}: needs either EXPECT-FAILURE or EXPECT-NO-FAILURE")

    def statement(self, key, value):
        if key == "EXPECT-FAILURE":
            self.kinds = [kind.strip() for kind in value.split("|")]
        elif key == "EXPECT-NO-FAILURE":
            self.no_failure = True
        elif key == "WITHIN":
            self.within = int(value)
        elif key == "SWITCHES":
            self.switches = int(value)
        elif key == "REPLAYS":
            self.replays = int(value)
        elif key == "RUN-ARGS":
            self.args.append(shlex.split(value))
        elif key == "FLAGS":
            self.flags = shlex.split(value)
        elif key == "OPTIONS":
            self.options = shlex.split(value)
        elif key == "PASSES":
            options, _, args = value.partition(" -- ")
            self.passes.append((shlex.split(options), shlex.split(args)))
        elif key == "SUITE":
            self.fast = value == "fast"
        elif key.startswith("EXPECT"):
            raise ValueError(f"{self.path}: unknown statement {key}")


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
        harness.valid(document)
        return code, document

    def check(self):
        try:
            self.binary = self.tool.compile(self.program.path, self.program.flags)
            code, document = self.search()
            failure = self.check_found(code, document)
            if self.suite != "rest":
                self.check_passes()
            if self.suite != "fast":
                self.check_jobs(document)
                self.check_backend(failure, document)
            if failure:
                self.check_replays(failure)
                if self.suite != "fast":
                    self.check_rebuilds(failure)
        except Failure as problem:
            self.problems.append(str(problem))
        return [f"{problem}\n({self.note})" if self.note else problem for problem in self.problems]

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
            raise Failure(
                f"exit code {code}, {len(failures)} failures in {document['runs']} runs, expected "
                f"{self.program.kinds}"
            )
        failure = failures[0]
        self.note = f"run {failure['found_at_run']} by {failure['strategy']}, {failure['switches']} switches"
        if failure["failure"] not in self.program.kinds:
            raise Failure(f"found {failure['failure']} ({failure.get('text')}), expected {self.program.kinds}")
        if failure["found_at_run"] > self.program.within:
            self.problems.append(f"found in run {failure['found_at_run']} only")
        if self.program.switches is not None and failure["switches"] > self.program.switches:
            self.problems.append(f"{failure['switches']} switches are left")
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
        for place in harness.differences(harness.without_times(single), harness.without_times(document)):
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
        times = min(self.program.replays, 100 if self.suite != "fast" and self.program.fast else 20)
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
                self.problems.append(
                    f"the search wrote to stderr: {failure['stderr'][:1000]}\nits replay ({backend}): " f"{said[:1000]}"
                )
            if backend == "thread":
                times = min(times, 20)
            code, _, err = self.tool.replay(
                failure["replay"], self.binary, self.args, [*options, "--times", str(times)]
            )
            last = err.decode(errors="replace").strip().splitlines()[-1]
            wanted = (
                f"failed {times} of {times} times, in the same way {times} times; {times} times with equal "
                "choices and output"
            )
            if code != 66 or not last.endswith(wanted):
                self.problems.append(f"replay --times ({backend}) ended with {code}: {last}")
        if outputs["fiber"] != outputs["thread"]:
            self.problems.append(
                "the backends replay with other bytes:\n" + "\n".join(f"{k}: {v}"[:1500] for k, v in outputs.items())
            )

    def check_rebuilds(self, failure):
        rebuilds = {"with lines moved": {"shift": 7}}
        if self.program.fast:
            rebuilds["at -O1"] = {"level": "-O1"}
        for how, what in rebuilds.items():
            other = self.tool.compile(self.program.path, self.program.flags, **what)
            code, _, err = self.tool.replay(failure["replay"], other, self.args)
            said = err.decode(errors="replace")
            if code != 66 or f"[{failure['id']}]" not in said or "diverged" in said:
                self.problems.append(
                    f"{how}: the token replays with exit code {code}, without {failure['id']}:\n" f"{said[:1500]}"
                )


def main():
    options = harness.parser(__doc__).parse_args()
    tool = harness.Tool(options.build, options.duress)
    known = dict(all_programs())
    cases = []
    for path in harness.chosen(known, options.programs):
        program = Program(path, known[path])
        if options.suite == "fast":
            cases += [Case(program, program.args[0], tool, "fast")] if program.fast else []
        else:  # the first arguments of those in the fast suite were searched there
            cases += [
                Case(program, args, tool, options.suite if program.fast and not i else "all")
                for i, args in enumerate(program.args)
            ]
    harness.report((case.name(), case.check) for case in cases)


if __name__ == "__main__":
    main()
