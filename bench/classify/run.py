#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What one trial of `duress classify` costs, beside JUMBLE's figure 10 and prescient memory's averages; trials per
second.

parallel: `duress run --model stale --heuristic SequentiallyConsistent --only VARIABLE`, against the program itself on
all processors. stale, profile, future: one controlled execution, against the program itself on one processor: histories
and the
newest value for every load; a profile of values of the future; as many predictions as the profile found, none of which
comes true. Repetitions take turns, the fastest counts.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "bench" / "papers")]

import tables  # noqa: E402
from trial import Costs, geometric_mean, print_table, text  # noqa: E402

SMALL = {
    "jbb": ["20000"],
    "montecarlo": ["2000"],
    "mtrt": ["150"],
    "raytracer": ["120"],
    "tsp": ["10"],
    "sor": ["100", "5"],
    "lufact": ["80"],
    "moldyn": ["64", "5"],
}


def costs(options):
    rows, columns, problems = [], {name: [] for name in Costs.RATIOS}, []
    for row in tables.JUMBLE_FIGURE10:
        if options.program and not any(word in row.name for word in options.program):
            continue
        size = SMALL[row.example.split("/")[1]] if options.quick else row.size
        found = Costs(options.build, row, size, 1 if options.quick else options.repeat)
        problems += [f"{row.name}: {found.problem}"] if found.problem else []
        for name in Costs.RATIOS:
            columns[name].append(found.ratios[name])
        parallel, *others = (text(found.ratios[name]) for name in Costs.RATIOS)
        rows.append([row.name, text(found.native), parallel, text(row.jumble, ".1f"), *others, found.predictions])
        print(f"{row.name}: done", file=sys.stderr, flush=True)
    jumble = None if options.program else geometric_mean([row.jumble for row in tables.JUMBLE_FIGURE10])
    mean, *means = (text(geometric_mean(columns[name])) for name in Costs.RATIOS)
    rows.append(["geometric mean", "", mean, text(jumble), *means, ""])
    rows.append(["prescient memory's average", "", "", "", *map(text, tables.PRESCIENT_FIGURE13.values()), ""])
    print_table(
        "times slower than the program itself, one variable tracked",
        ("program", "native s", "parallel ×", "JUMBLE ×", "stale ×", "profile ×", "future ×", "predictions"),
        rows,
    )
    return problems


def trials_per_second(options):
    rows = []
    for example in ("jumble/mtrt", "jumble/montecarlo"):
        program = ROOT / "examples" / f"{example}.cc"
        binary = options.build / "bench" / "classify" / program.stem
        subprocess.run(
            [
                options.build / "bin" / "duress-c++",
                "-std=c++20",
                "-O2",
                "-g",
                "-pthread",
                f"-I{ROOT}/examples/support",
                program,
                "-o",
                binary,
            ],
            check=True,
        )
        best = {1: 0.0, 2: 0.0}
        for _ in range(1 if options.quick else options.repeat):
            for jobs in best:
                with tempfile.TemporaryDirectory() as folder:
                    start = time.perf_counter()
                    done = subprocess.run(
                        [
                            options.build / "bin" / "duress",
                            "classify",
                            "--no-advice",
                            "--runs",
                            "50" if options.quick else "300",
                            "-j",
                            str(jobs),
                            "--json",
                            "--dir",
                            folder,
                            "--",
                            binary,
                        ],
                        stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE,
                        text=True,
                    )
                    seconds = time.perf_counter() - start
                if done.returncode not in (0, 66):
                    return [f"trials per second: duress classify -j ended with {done.returncode}: {done.stderr[-300:]}"]
                best[jobs] = max(best[jobs], json.loads(done.stdout)["runs"] / seconds)
        rows.append([example.split("/")[1], f"{best[1]:.0f}", f"{best[2]:.0f}", f"{best[2] / best[1]:.2f}"])
    print_table("trials per second", ("program", "-j 1", "-j 2", "ratio"), rows)
    return []


def many_variables(options, count=200):
    """The time of `duress classify` on a program in which two threads race on so many variables."""
    folder = options.build / "bench" / "classify"
    source, binary = folder / "many.cc", folder / "many"
    variables = "".join(f"static int v{i};\n" for i in range(count))
    updates = "".join(f"  v{i} = v{i} + k;\n" for i in range(count))
    source.write_text(
        f"#include <thread>\n{variables}static void work(int k) {{\n{updates}}}\n"
        "int main() { std::thread a(work, 1), b(work, 2); a.join(); b.join(); return v0 == 12345; }\n"
    )
    compiler = options.build / "bin" / "duress-c++"
    subprocess.run([compiler, "-std=c++20", "-O1", "-g", "-pthread", source, "-o", binary], check=True)
    with tempfile.TemporaryDirectory() as dir_name:
        start = time.perf_counter()
        words = [options.build / "bin" / "duress", "classify", "--json", "--dir", dir_name, "--", binary]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        seconds = time.perf_counter() - start
    if done.returncode not in (0, 66):
        return [f"many variables: duress classify ended with {done.returncode}: {done.stderr[-300:]}"]
    runs = json.loads(done.stdout)["runs"]
    rows = [[count, runs, f"{seconds:.1f}", f"{runs / seconds:.0f}"]]
    print_table("classify, default options (required: 15 s)", ("variables", "runs", "s", "runs/s"), rows)
    return []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--program", action="append", help="only rows whose name contains this")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="small sizes, one repetition")
    parser.add_argument("--only", choices=("costs", "trials", "many"))
    options = parser.parse_args()
    options.build = options.build.resolve()
    problems = []
    if options.only in (None, "costs"):
        problems += costs(options)
    if options.only in (None, "trials"):
        problems += trials_per_second(options)
    if options.only in (None, "many"):
        problems += many_variables(options)
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
