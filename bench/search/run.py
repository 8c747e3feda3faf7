#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In which run `duress explore` finds the first failure of small programs, by strategy and seed.

Each program of programs/, or with --holdout of holdout/, states its cases in its head, a name and flags of the compiler:
  // BUG name: FLAGS        some schedule fails
  // CORRECT name: FLAGS    none does

Runs are counted, not timed, so the table is the same on every machine. For each case and strategy: the median over the
seeds, or `N of 5` seeds if some do not find it. A correct program that fails is an error of duress, and the exit code is 1.
With --replay N the token of each failure has to fail N of N times under the same id, else the exit code is 1 too; with
--minimise that of the minimised execution.
"""
import argparse
import concurrent.futures
import pathlib
import re
import statistics
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import harness  # noqa: E402

STRATEGIES = ["portfolio", "random", "pct", "pos", "racefuzzer", "places", "turns", "guided"]


class Case:
    """A program with a name for its flags, and what was found: runs[strategy] has one number, or None, for each seed."""

    def __init__(self, path, kind, name, flags):
        self.path, self.buggy, self.name, self.flags = path, kind == "BUG", name, flags.split()
        self.runs, self.texts, self.replays, self.not_replayed = {}, [], 0, []

    def search(self, tool, strategy, seed, wanted):
        with tempfile.TemporaryDirectory(prefix="duress-search-") as folder:  # long trails are files in it
            return self.search_in(folder, tool, strategy, seed, wanted)

    def search_in(self, folder, tool, strategy, seed, wanted):
        binary = tool.compile(self.path, self.flags)
        options = ["--strategy", strategy, "--runs", str(wanted.runs), *([] if wanted.minimise else ["--no-minimise"])]
        code, document, errors = tool.explore(binary, options=options, jobs=1, seed=seed, folder=folder)
        if document is None:
            raise harness.Failure(f"{self.name}: explore ended with {code} and no document: {errors}")
        failures = document["failures"]
        self.texts += [f"{strategy}, seed {seed}: {failure['failure']}" for failure in failures]
        for failure in failures if wanted.replay else []:
            problem = self.replay(tool, binary, failure, wanted.replay)
            self.replays += 1
            if problem:
                self.not_replayed.append(f"{self.name}, {strategy}, seed {seed}: {problem}")
        return document["runs"] if failures else None

    @staticmethod
    def replay(tool, binary, failure, times):
        """What is wrong with the failure's token, or nothing."""
        if not failure["replayed"]:
            return f"{failure['id']} did not fail again when it was found"
        token = failure["replay"]
        code, _, errors = tool.replay(token, binary)
        if code != 66 or f"[{failure['id']}]" not in errors.decode(errors="replace"):
            return f"a replay of {failure['id']} ended with {code}: {errors.decode(errors='replace')[:500]}"
        code, _, errors = tool.replay(token, binary, options=["--times", str(times)])
        last = errors.decode(errors="replace").strip().splitlines()[-1]
        return "" if f"in the same way {times} times" in last else f"{failure['id']}: {last}"


def all_cases(patterns, folder):
    for path in sorted((HERE / folder).glob("*.cc")):
        for kind, name, flags in re.findall(r"^// (BUG|CORRECT) (\w+): (.*)$", path.read_text(), re.M):
            if not patterns or any(re.search(pattern, name) for pattern in patterns):
                yield Case(path, kind, name, flags)


def cell(found):
    """The median, or how many seeds found it."""
    hits = [run for run in found if run is not None]
    if len(hits) < len(found):
        return f"{len(hits)} of {len(found)}" if hits else "-"
    return f"{statistics.median(hits):g}"


def print_row(cells):
    print(cells[0].ljust(26) + "".join(str(cell).rjust(12) for cell in cells[1:]), flush=True)


def print_summary(cases, options):
    """Found with all seeds, with some; the median, mean and worst of all searches."""
    print()
    print_row(("strategy", "all seeds", "any seed", "searches", "median", "mean", "worst"))
    for strategy in options.strategy:
        found = [case.runs[strategy] for case in cases]
        every = [run if run is not None else options.runs + 1 for runs in found for run in runs]
        print_row(
            (
                strategy,
                f"{sum(None not in runs for runs in found)} of {len(found)}",
                sum(any(run is not None for run in runs) for runs in found),
                f"{sum(run <= options.runs for run in every)} of {len(every)}",
                f"{statistics.median(every):g}",
                f"{statistics.mean(every):.1f}",
                max(every) if max(every) <= options.runs else f"> {options.runs}",
            )
        )


def measure(cases, tool, options):
    """All searches; a line for each case as soon as it is done."""
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(lambda case: tool.compile(case.path, case.flags), cases))
        waiting = {
            (case, strategy): [
                pool.submit(case.search, tool, strategy, seed, options) for seed in range(1, options.seeds + 1)
            ]
            for case in cases
            for strategy in options.strategy
        }
        print_row(("runs to the first failure", *options.strategy))
        for case in cases:
            case.runs = {s: [future.result() for future in waiting[case, s]] for s in options.strategy}
            print_row((case.name, *(cell(case.runs[s]) for s in options.strategy)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--strategy", action="append", help="only these; may be repeated")
    parser.add_argument("--kind", choices=("bug", "correct"), help="only these programs")
    parser.add_argument("--holdout", action="store_true", help="the programs that no share was tuned on")
    parser.add_argument("--replay", type=int, default=0, metavar="N", help="replay each failure so many times")
    parser.add_argument("--minimise", action="store_true", help="before that")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("cases", nargs="*", help="parts of their names")
    options = parser.parse_args()
    options.strategy = options.strategy or STRATEGIES
    tool = harness.Tool(options.build)
    folder = "holdout" if options.holdout else "programs"
    cases = [
        case for case in all_cases(options.cases, folder) if options.kind in (None, "bug" if case.buggy else "correct")
    ]
    measure(cases, tool, options)
    if any(case.buggy for case in cases):
        print_summary([case for case in cases if case.buggy], options)
    correct = [case for case in cases if not case.buggy]
    false = [f"{case.name}: {text}" for case in correct for text in case.texts]
    if correct:
        print(f"{len(correct)} correct programs, {len(false)} false failures")
    print("".join(f"  {line}\n" for line in false), end="")
    bad = [line for case in cases for line in case.not_replayed]
    if options.replay:
        print(
            f"{sum(case.replays for case in cases)} failures replayed {options.replay} times, {len(bad)} not all the same"
        )
        print("".join(f"  {line}\n" for line in bad), end="")
    return 1 if false or bad else 0


if __name__ == "__main__":
    sys.exit(main())
