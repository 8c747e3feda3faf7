#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The papers' tables with our numbers beside theirs: JUMBLE's figures 9 and 10, prescient memory's table 1 and figure
13, RaceFuzzer's table 1. Ours first, the paper's in parentheses; - is what cannot be said.

Ours are the examples' numbers: patterns and kernels after the papers' programs, with sizes of their own.
"""
import argparse
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [
    str(HERE),
    str(ROOT / "bench" / "classify"),
    str(ROOT / "tests"),
    str(ROOT / "tests" / "papers"),
    str(ROOT / "tests" / "explore"),
]

import classified  # noqa: E402
import controlled  # noqa: E402
import harness  # noqa: E402
import racefuzzer  # noqa: E402
import tables  # noqa: E402
from trial import Costs, geometric_mean, print_table, text  # noqa: E402

PARTS = ("figure9", "figure10", "table1", "figure13", "racefuzzer")


def beside(ours, paper, form=".0f"):
    return f"{text(ours, form)} ({text(paper, form)})"


def figure9(options, classifier):
    rows = []
    for row in tables.JUMBLE_FIGURE9:
        variable = classifier.variables(row.example).get(row.variable)
        ours = [variable.percent("stale", heuristic) if variable else None for heuristic in tables.HEURISTICS]
        sc = variable.percent("sc", "SequentiallyConsistent") if variable else None
        rows.append(
            [
                row.name,
                beside(sc, row.sc),
                *map(beside, ours, row.rates),
                f"{variable.verdict if variable else '-'} ({row.verdict})",
            ]
        )
    print_table(
        f"JUMBLE, figure 9: percent of {classifier.runs} runs that went wrong",
        ("program", "SequentiallyConsistent", *tables.HEURISTICS, "destructive?"),
        rows,
    )


def costs(options):
    """Measured once, for figures 10 and 13."""
    if not hasattr(options, "costs"):
        options.costs = []
        for row in tables.JUMBLE_FIGURE10:
            options.costs.append((row, Costs(options.build, row, row.size, options.repeat)))
            print(f"{row.name}: measured {options.costs[-1][1].problem}", file=sys.stderr, flush=True)
    return options.costs


def figure10(options, _classifier):
    rows = []
    columns = (
        ("instances", "instances"),
        ("writes", "writes"),
        ("largest_uncompressed", "longest"),
        ("largest", "compressed"),
    )
    for row, ours in costs(options):
        known = ours.statistics["instances"] != 0
        rows.append(
            [
                row.name,
                beside(ours.native, row.seconds, ".2f"),
                beside(ours.ratios["parallel"], row.jumble, ".1f"),
                *(beside(ours.statistics[name] if known else None, getattr(row, paper)) for name, paper in columns),
            ]
        )
    mean = geometric_mean([ours.ratios["parallel"] for _, ours in costs(options)])
    rows.append(
        [
            "geometric mean",
            "",
            beside(mean, geometric_mean([row.jumble for row in tables.JUMBLE_FIGURE10]), ".1f"),
            "",
            "",
            "",
            "",
        ]
    )
    print_table(
        "JUMBLE, figure 10: one variable tracked, SequentiallyConsistent, threads in parallel",
        ("program", "native s", "times slower", "instances", "writes", "longest", "compressed"),
        rows,
    )


def outcome(variables, names, model):
    counts = [variables[name].failed(model) if name in variables else 0 for name in names]
    if not counts:
        return "no race"
    if None in counts:
        return "-"
    failing = [variables[name] for name, count in zip(names, counts) if count]
    kinds = sorted({variable.failure for variable in failing if variable.failure})
    if not failing:
        return "slower" if any(v.verdict == "slower" for v in variables.values()) else "none"
    return f"fails {sum(counts)} times" + (f", {'/'.join(kinds)}" if kinds else "")


def table1(options, classifier):
    rows = []
    for row in tables.PRESCIENT_TABLE1:
        variables = classifier.variables(row.example)
        rows.append(
            [
                row.name,
                *(
                    f"{outcome(variables, row.variables, model)} ({paper.lstrip('!')})"
                    for model, paper in (("stale", row.stale), ("future", row.future))
                ),
            ]
        )
    print_table(
        "Prescient memory, table 1: the worst that happened",
        ("program", "stale values (AM)", "future values (PM)"),
        rows,
    )


def figure13(options, _classifier):
    paper = tables.PRESCIENT_FIGURE13
    rows = [[row.name, *(text(ours.ratios[name]) for name in paper)] for row, ours in costs(options)]
    means = {name: geometric_mean([ours.ratios[name] for _, ours in costs(options)]) for name in paper}
    rows.append(["geometric mean (paper's average)", *(beside(means[name], paper[name], ".2f") for name in paper)])
    print_table(
        "Prescient memory, figure 13: times slower than native, one controlled execution, no value replaced",
        ("program", *paper),
        rows,
    )


def race_pairs(options, _classifier):
    tool = harness.Tool(options.build)
    rows = []
    for row in tables.RACEFUZZER_TABLE1:
        real = exceptions = simple = probability = None
        if row.example:
            source = ROOT / "examples" / f"{row.example}.cc"
            binary = tool.compile(source)
            sites, shares, exceptions = controlled.sites_of(binary), [], 0
            with controlled.Server(tool, binary) as server:
                for variable, a, b, _kind, _failure in racefuzzer.statement_pairs(source):
                    created, done = racefuzzer.direct_pair(server, source, sites, variable, (a, b), 100)
                    if created:
                        shares.append(created / len(done))
                        exceptions += any(run.failed for run in done)
                simple = int(any(server.run("round-robin", seed).failed for seed in range(100)))
            real, probability = len(shares), sum(shares) / len(shares)
        rows.append(
            [
                row.name,
                beside(None, row.hybrid),
                beside(real, row.real),
                beside(exceptions, row.exceptions),
                beside(simple, row.simple),
                beside(probability, row.probability, ".2f"),
            ]
        )
    print_table(
        "RaceFuzzer, table 1: pairs of statements; 100 runs for each",
        ("program", "suspected", "real", "throw", "throw without", "probability"),
        rows,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--only", choices=PARTS, action="append")
    parser.add_argument("--runs", type=int, default=100, help="trials of each attack (default 100, as in the papers)")
    parser.add_argument("--repeat", type=int, default=3, help="repetitions of what is measured; the fastest counts")
    options = parser.parse_args()
    options.build = options.build.resolve()
    classifier = classified.Classifier(options.build, options.runs)
    parts = {"figure9": figure9, "figure10": figure10, "table1": table1, "figure13": figure13, "racefuzzer": race_pairs}
    for name in options.only or PARTS:
        parts[name](options, classifier)


if __name__ == "__main__":
    main()
