#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PCT's bound: a bug of depth d is found in a run with p >= 1 / (n * k^(d-1)), n threads, k choices at most.

Each program is run N times under pct with its depth. If p were only the bound, the number of failing runs would be
binomial; fewer than the number that this distribution stays below with a probability of 1e-6 refute the bound. So if
the bound holds, the test of a program fails with a probability below 1e-6 (and always or never, the seeds are fixed).
"""
import math
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402
from controlled import Server, sites_of  # noqa: E402
from harness import Failure  # noqa: E402

ERROR = 1e-6
TUTORIAL = harness.ROOT / "examples" / "tutorial"
# Program, depth, variable whose plain accesses are schedule points (as a search would make them, since they race).
PROGRAMS = [
    (TUTORIAL / "use_before_init.cc", 1, "p"),
    (TUTORIAL / "use_after_free.cc", 1, "Node::f"),
    (TUTORIAL / "null_check.cc", 2, "p"),
    (pathlib.Path(__file__).resolve().parent / "programs/three_step.cc", 3, None),
]


def fewest(runs, p):
    """The largest c with P(X < c) < ERROR for a binomial X."""
    below = 0.0
    for count in range(runs + 1):
        log = (
            math.lgamma(runs + 1)
            - math.lgamma(count + 1)
            - math.lgamma(runs - count + 1)
            + count * math.log(p)
            + (runs - count) * math.log1p(-p)
        )
        below += math.exp(log)
        if below >= ERROR:
            return count
    return runs


def check(tool, source, depth, variable):
    binary = tool.compile(source)
    sites = [site for site in sites_of(binary) if variable and site.variable == variable]
    if variable and not sites:
        raise Failure(f"{source.name}: no site of {variable}")
    seeds = random.Random(harness.SEED)
    with Server(tool, binary) as server:
        first = [server.run("random", seeds.getrandbits(64), sites=sites) for _ in range(100)]
        k = max(run.choices for run in first)
        n = max(run.strands for run in first)
        bound = 1 / (n * k ** (depth - 1))
        runs = math.ceil(40 / bound)  # then 40 failures are expected at the least
        done = [server.run("pct", seeds.getrandbits(64), depth=depth, length=k, sites=sites) for _ in range(runs)]
    longest = max(run.choices for run in done)
    failed = sum(run.failed for run in done)
    least = fewest(runs, bound)
    print(
        f"{source.name}: depth {depth}, n {n}, k {k} (longest {longest}): failed {failed} of {runs} runs, "
        f"bound {bound * runs:.0f}, refuted below {least}",
        flush=True,
    )
    if longest > k:
        raise Failure(f"{source.name}: a run had {longest} choices, more than k = {k}: the bound says nothing")
    if failed < least:
        raise Failure(f"{source.name}: {failed} of {runs} runs failed, PCT's bound promises {bound * runs:.0f}")


def main():
    options = harness.parser(__doc__, programs=False).parse_args()
    tool = harness.Tool(options.build, options.duress)
    harness.report(
        (source.name, lambda args=(source, depth, variable): check(tool, *args))
        for source, depth, variable in PROGRAMS
        if options.suite != "fast" or depth <= 2
    )


if __name__ == "__main__":
    main()
