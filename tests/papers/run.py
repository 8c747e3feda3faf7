#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do our attacks find what the papers' found? `duress classify` with a fixed seed on the examples, row by row.

JUMBLE's figure 9: the best heuristic fails at least as often as the paper's best; where the program is the paper's own
(figures 2 and 8) so does each heuristic, and Oldest never fails for figure 8; sequentially consistent memory never
fails; what does no harm in the paper never fails, with no heuristic.

Prescient memory's table 1: stale and future values fail where they did in the paper; where a memory model forbids it
they never do. Rows about future values are checked as soon as there are attacks with future values; until then the test
says so.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(ROOT / "bench" / "papers")]

import classified  # noqa: E402
import tables  # noqa: E402

import harness  # noqa: E402

FAST = {"jumble/racy_initialisation", "jumble/double_checked_locking"}
OWN = {"jumble/racy_initialisation", "jumble/double_checked_locking"}  # the paper's programs, statement by statement


def figure9(row, classifier):
    """What is wrong with our result, or ''."""
    variable = classifier.variables(row.example).get(row.variable)
    if variable is None:
        return "no race was found"
    if variable.failed("sc") != 0:
        return f"sequentially consistent memory failed {variable.failed('sc')} times"
    rates = [variable.percent("stale", heuristic) for heuristic in tables.HEURISTICS]
    if None in rates:
        return f"not all heuristics were tried: {rates}"
    print(f"  {row.name}: " + " ".join(f"{ours:.0f}({paper})" for ours, paper in zip(rates, row.rates)))
    if row.verdict != "Yes":
        return f"failed: {rates}" if variable.failed("stale") or variable.verdict == "destructive" else ""
    if max(rates) < max(row.rates):
        return f"the best heuristic failed in {max(rates):.0f} % of the runs, in the paper {max(row.rates)} %"
    if classifier.runs >= 100 and row.example in OWN and any(ours < paper for ours, paper in zip(rates, row.rates)):
        return f"rates {rates}, in the paper {row.rates}"
    if row.name == "figure 8, x" and rates[0] != 0:
        return f"Oldest failed in {rates[0]} % of the runs"
    return ""


def table1(row, classifier):
    variables = classifier.variables(row.example)
    if set(variables) != set(row.variables) and row.example != "pm/pjbb2005_dom":
        return f"races on {sorted(variables)}, expected on {row.variables}"
    problems = []
    for model, paper in (("stale", row.stale), ("future", row.future)):
        counts = [variables[name].failed(model) for name in row.variables]
        if None in counts:
            print(f"  no attack with {model} values yet: '{row.name}' is not checked for them")
            continue
        failed = sum(counts)
        print(f"  {row.name}: {model}: {failed} failed ({paper})")
        if paper == "!none" and failed:
            problems.append(f"{model} values fail, which the memory model does not allow")
        elif "none" not in paper and "slower" not in paper and not failed:
            problems.append(f"{model} values do no harm; in the paper: {paper}")
    return "; ".join(problems)


def main():
    parser = harness.parser(__doc__, programs=False)
    parser.add_argument("examples", nargs="*", help="only rows of these: FOLDER/NAME")
    options = parser.parse_args()
    fast = options.suite == "fast"
    # Figure 9 has rates, table 1 only what fails at all.
    rates, failures = (classified.Classifier(options.build, runs) for runs in (30 if fast else 100, 30))
    rows = [(row, figure9, rates) for row in tables.JUMBLE_FIGURE9]
    rows += [(row, table1, failures) for row in tables.PRESCIENT_TABLE1]
    harness.report(
        (f"{check.__name__}, {row.name}", lambda row=row, check=check, runs=runs: check(row, runs))
        for row, check, runs in rows
        if (not options.examples or row.example in options.examples) and (not fast or row.example in FAST)
    )


if __name__ == "__main__":
    main()
