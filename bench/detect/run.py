#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What detection costs: kernels native, with ThreadSanitizer and with Duress, awake and inert.

Every kernel with 2, 4, 8 and 32 threads, on data that fits a cache and on data of several times the last one. Time is
that of the kernel's parallel part, without start and input; memory is the peak of the program. The tools take turns
(A B C A B C ...), so that a slow phase of the machine hits all alike; the median counts.

With --tsan-objects something else: objects that gcc and clang compiled with -fsanitize=thread, linked with their own
runtime and with Duress'. With --openmp: OpenMP kernels against ThreadSanitizer with Archer.

Then: the start of a program, 1000 threads, a million atomics; the time per event for more and more threads; and with
--real programs from Debian's sources. The exit code is 1 if a run failed, gave another answer or reached the limit.
"""
import argparse
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import objects  # noqa: E402
import openmp  # noqa: E402
import real  # noqa: E402
import tables  # noqa: E402
from measurement import ROOT, Row, Runner  # noqa: E402
from sizes import SIZES  # noqa: E402

PROGRAMS = HERE / "programs"
EVENT_THREADS = [2, 8, 32, 128, 300]


def kernels(runner, options, rows):
    for name in options.kernels:
        source = HERE / "kernels" / f"{name}.cc"
        binaries = runner.binaries(source, options.helgrind)
        for size in options.sizes:
            for threads in options.threads:
                commands = {tool: [binary, threads, *SIZES[name][size]] for tool, binary in binaries.items()}
                if size == "large":
                    commands.pop("helgrind", None)
                rows.append(runner.fill(Row(name, threads, size), commands))


def extremes(runner, rows):
    """The start of an empty program, and what the number of threads and atomics does."""
    binaries = runner.binaries(PROGRAMS / "empty.cc")
    records = runner.out / "records"
    commands = {tool: [binary] for tool, binary in binaries.items()}
    commands["duress"] = [runner.build / "bin" / "duress", "run", "-q", "--dir", records, "--", binaries["duress"]]
    rows.append(runner.fill(Row("start of an empty program", 1, ""), commands, whole=True, wrapped=True))
    shutil.rmtree(records, ignore_errors=True)
    for name, threads, work, data, size in (
        ("programs/many_threads", 1000, 300000, 1024, ""),
        ("kernels/read_tree", 1000, 1000000, 16000, "small"),
        ("programs/many_atomics", 4, 1, 1000000, "1,000,000"),
    ):
        source = HERE / f"{name}.cc"
        binaries = runner.binaries(source)
        commands = {tool: [binary, threads, work, data] for tool, binary in binaries.items()}
        rows.append(runner.fill(Row(source.stem, threads, size), commands))


def per_event(runner, options):
    binaries = runner.binaries(PROGRAMS / "events.cc")
    del binaries["inert"]
    events = 1 << (22 if options.quick else 24)
    lines = []
    for threads in EVENT_THREADS:
        row = runner.fill(Row("events", threads, ""), {tool: [b, threads, events] for tool, b in binaries.items()})
        line = [str(threads)]
        for what in ("wall", "cpu"):
            times = [row.value(tool, what) for tool in binaries]
            line += [tables.number(seconds and seconds * 1e9 / events) for seconds in times]
            line.append(tables.number(row.ratio("duress", "tsan", what)))
        lines.append(line)
    head = [f"{tool} ns/event" for tool in binaries] + ["time ÷ tsan"]
    head = ["threads", *head, *(f"CPU: {name}" for name in head[:-1]), "CPU ÷ tsan"]
    tables.print_table(head, lines, options.markdown)


def words(allowed):
    """A list with commas, of which each word is allowed."""

    def parse(text):
        result = text.split(",")
        for word in result:
            if word not in allowed:
                raise argparse.ArgumentTypeError(f"{word}: not one of {', '.join(allowed)}")
        return result

    return parse


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="build folder of Duress")
    parser.add_argument("--kernels", type=words(sorted(SIZES)), help="only these kernels, and nothing else: a,b")
    parser.add_argument("--threads", type=lambda text: [int(word) for word in text.split(",")], help="2,4,8,32")
    parser.add_argument("--sizes", type=words(["small", "large"]), help="small,large")
    parser.add_argument("--repeat", type=int, help="runs of each; the median counts (default 5)")
    parser.add_argument("--limit", type=float, default=60, help="seconds that one run may take (default 60)")
    parser.add_argument("--quick", action="store_true", help="unless said otherwise: one run, 2 and 8 threads, small")
    parser.add_argument(
        "--real", action="store_true", help="also programs from Debian's sources: network, 10 min to build"
    )
    parser.add_argument(
        "--tsan-objects", action="store_true", help="only: -fsanitize=thread objects of gcc and clang, by runtime"
    )
    parser.add_argument("--openmp", action="store_true", help="only: OpenMP kernels, against Archer")
    parser.add_argument("--no-kernels", action="store_true", help="without the kernels")
    parser.add_argument("--no-extremes", action="store_true", help="without start, many threads and atomics, events")
    parser.add_argument(
        "--helgrind", action="store_true", help="Helgrind too, small sizes, one run each; may need --limit 600"
    )
    parser.add_argument("--markdown", action="store_true", help="tables as in the README")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.threads = options.threads or ([2, 8] if options.quick else [2, 4, 8, 32])
    options.sizes = options.sizes or (["small"] if options.quick else ["small", "large"])
    options.repeat = options.repeat or (1 if options.quick else 5)
    options.no_extremes |= options.kernels is not None or options.tsan_objects or options.openmp
    options.kernels = [] if options.no_kernels else options.kernels or sorted(SIZES)
    if options.helgrind and shutil.which("valgrind") is None:
        parser.error("no valgrind here")
    return options


def main():
    options = parse_options()
    runner = Runner(options)
    rows = []
    try:
        if options.tsan_objects:
            objects.kernels(runner, options)
        elif options.openmp:
            openmp.kernels(runner, options)
        else:
            kernels(runner, options, rows)
    except KeyboardInterrupt:
        runner.failures.append("interrupted")
    if rows:
        tables.print_rows(rows, options.limit, options.markdown)
        tables.print_means(rows, options.markdown)
        tables.print_above(rows)
    if "interrupted" not in runner.failures:
        for wanted, fill_rows in ((options.real, real.programs), (not options.no_extremes, extremes)):
            more = []
            if wanted:
                fill_rows(runner, more)
                tables.print_rows(more, options.limit, options.markdown)
        if not options.no_extremes:
            per_event(runner, options)
    for failure in runner.failures:
        print(f"error: {failure}", file=sys.stderr)
    return 1 if runner.failures else 0


if __name__ == "__main__":
    sys.exit(main())
