#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""RaceFuzzer's figures 1 and 2 and programs of its table 1 (examples/racefuzzer), as its paper states them.

Figure 1: pair (5,7) is created and ERROR1 reached; pair (1,10) is never created in 1,000 runs.
Figure 2: the race is created in every run and ERROR reached in 0.5 +- 0.05 of them, whatever the number of
statements before it. Were each run a fair coin, 2,500 runs would miss the interval with p < 1e-6; the seeds are fixed,
so the test says the same each time.
Table 1: in each of 100 runs for a pair of statements that pair is brought together, if it can be; and the failures that
come of it are those that the program's head states:

  // EXPECT-PAIR: VARIABLE @a @b real [FAILURE] | not-created      the lines that end in `// @a` and `// @b`; FAILURE is
                                                                   exception or signal:NAME; without it none may happen

The rates come from the program's fork server (controlled.py); that the command gets there from nothing but the
program, by `duress explore --strategy racefuzzer`, is checked too.
"""
import pathlib
import random
import re
import signal
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402
from controlled import Server, marked_site, sites_of  # noqa: E402
from harness import expect  # noqa: E402

FIGURES = harness.ROOT / "examples" / "racefuzzer"


def usual_length(server, seeds, sites):
    """What a search knows of the program's length when it comes to racefuzzer: the middle of 16 runs at random."""
    lengths = [server.run("random", seeds.getrandbits(64), sites=sites).choices for _ in range(16)]
    return int(statistics.median_high(lengths))


def directed(server, pair, runs, seeds):
    length = usual_length(server, seeds, [])
    return [
        server.run("racefuzzer", seeds.getrandbits(64), length=length, sites=pair, pairs=[pair]) for _ in range(runs)
    ]


def figure1(tool, runs):
    source = FIGURES / "figure1.cc"
    binary = tool.compile(source)
    sites = sites_of(binary)
    real = [marked_site(source, sites, "5", "z"), marked_site(source, sites, "7", "z")]
    false = [marked_site(source, sites, "1", "x"), marked_site(source, sites, "10", "x")]
    seeds = random.Random(harness.SEED)
    with Server(tool, binary) as server:
        both = frozenset(site.key for site in real)
        done = directed(server, real, runs, seeds)
        created = sum(both in run.created for run in done)
        reached = sum(run.code == 1 for run in done)
        print(f"figure 1, pair (5,7): created in {created} of {runs} runs, ERROR1 in {reached}")
        expect(created == runs, f"pair (5,7) was created in {created} of {runs} runs only")
        expect(reached > 0, "ERROR1 was never reached")
        expect(all(run.code in (0, 1) and run.signal == 0 for run in done), "something else than ERROR1 happened")
        done = directed(server, false, runs, seeds)
        created = sum(run.races_created != 0 for run in done)
        print(f"figure 1, pair (1,10): created in {created} of {runs} runs")
        expect(created == 0, f"pair (1,10) was created in {created} runs")
        expect(all(run.code in (0, 1) and run.signal == 0 for run in done), "ERROR2 was reached")
    # The same from the command line. All failures of 1,000 runs: nothing but ERROR1.
    code, document, errors = tool.explore(
        binary, options=["--strategy", "racefuzzer", "--keep-going", "--runs", "1000"]
    )
    found = [failure["failure"] for failure in (document or {}).get("failures", [])]
    expect(code == 66 and found == ["exit:1"], f"explore ended with {code} and found {found} {errors}")
    raced = {race["variable"] for race in document["races"]}
    expect(raced == {"z"}, f"explore names races on {raced}")


def figure2(tool, statements, runs):
    source = FIGURES / "figure2.cc"
    binary = tool.compile(source)
    pair = [marked_site(source, sites_of(binary), mark, "x") for mark in ("8", "10")]
    with Server(tool, binary, [str(statements)]) as server:
        done = directed(server, pair, runs, random.Random(harness.SEED))
    created = sum(run.races_created != 0 for run in done)
    reached = sum(run.code == 1 for run in done)
    print(f"figure 2, {statements} statements: created in {created} of {runs} runs, ERROR in {reached / runs:.3f}")
    expect(all(run.code in (0, 1) and run.signal == 0 for run in done), "something else than ERROR happened")
    expect(created == runs, f"{statements} statements: the race was created in {created} of {runs} runs only")
    expect(abs(reached / runs - 0.5) <= 0.05, f"{statements} statements: ERROR in {reached / runs:.3f} of the runs")
    code, document, errors = tool.explore(binary, [str(statements)], ["--strategy", "racefuzzer", "--runs", "64"])
    found = [failure["failure"] for failure in (document or {}).get("failures", [])]
    expect(
        code == 66 and found == ["exit:1"],
        f"{statements} statements: explore ended with {code} and found {found} in 64 runs {errors}",
    )


def statement_pairs(source):
    """(variable, mark, mark, real or not-created, failure) of each EXPECT-PAIR."""
    return re.findall(r"^// EXPECT-PAIR: (\S+) @(\w+) @(\w+) (real|not-created)(?: (\S+))?$", source.read_text(), re.M)


def direct_pair(server, source, sites, variable, marks, runs):
    """Runs directed at two statements, each of which may have several sites. How many created the race; all runs."""
    text = source.read_text().splitlines()
    places = []
    for mark in marks:
        lines = [n for n, line in enumerate(text, 1) if re.search(rf"// @{mark}$", line)]
        places.append([s for s in sites if s.line in lines and s.variable == variable])
        expect(places[-1], f"{source.name}: no site of {variable} in the line marked @{mark}")
    pairs = [(a, b) for a in places[0] for b in places[1] if "write" in (a.access, b.access)]
    seeds = random.Random(harness.SEED)
    length = usual_length(server, seeds, [])
    done = [
        server.run("racefuzzer", seeds.getrandbits(64), length=length, sites=places[0] + places[1], pairs=pairs)
        for _ in range(runs)
    ]
    return sum(run.races_created != 0 for run in done), done


def failure_of(run):
    if run.signal == signal.SIGABRT:
        return "exception"
    if run.signal:
        return f"signal:{signal.Signals(run.signal).name}"
    return f"exit:{run.code}" if run.code else run.outcome if run.failed else ""


def table1(tool, source, runs=100):
    binary = tool.compile(source)
    sites = sites_of(binary)
    with Server(tool, binary) as server:
        for variable, a, b, kind, failure in statement_pairs(source):
            created, done = direct_pair(server, source, sites, variable, (a, b), runs)
            failures = [failure_of(run) for run in done if run.failed]
            where = f"{source.stem}, {variable} (@{a}, @{b})"
            print(f"{where}: created in {created} of {runs} runs, {len(failures)} failed {sorted(set(failures))}")
            expect((created > 0) == (kind == "real"), f"{where}: created in {created} runs, expected {kind}")
            expect(
                set(failures) == ({failure} if failure else set()),
                f"{where}: failures {sorted(set(failures))}, expected {failure or 'none'}",
            )


def main():
    options = harness.parser(__doc__, programs=False).parse_args()
    tool = harness.Tool(options.build, options.duress)
    fast = options.suite == "fast"
    jobs = [("figure 1", lambda: figure1(tool, 200 if fast else 1000))]
    jobs += [
        (f"figure 2, {n} statements", lambda n=n: figure2(tool, n, 2500)) for n in ([] if fast else [10, 1000, 100000])
    ]
    programs = [p for p in sorted(FIGURES.glob("*.cc")) if statement_pairs(p)]
    jobs += [(f"table 1, {p.stem}", lambda p=p: table1(tool, p)) for p in programs if not fast or p.stem == "cache4j"]
    harness.report(jobs)


if __name__ == "__main__":
    main()
