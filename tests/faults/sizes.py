#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Much of one thing: locks, atomics, frames, heap, children, libraries, threads, requests. The program ends as it does by
itself, the race at its end is found, and memory is bounded.

--full      the large counts, and what ThreadSanitizer does: prints a table in Markdown
--growth N  a server under load for N minutes: prints its memory over time"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness.cases import expect, parser, report  # noqa: E402
from harness.tool import TIMEOUT, Tool  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
RACES = 66
SAMPLES = 15
# kind: count of the test, full count, most KiB that the test may take
KINDS = {
    "locks": (1_000_000, 10_000_000, 150_000),
    "atomics": (1_000_000, 10_000_000, 150_000),
    "recursion": (100_000, 1_000_000, 400_000),
    "heap": (256, 8192, 1_000_000),
    "children": (300, 100_000, 150_000),
    "libraries": (1_500, 1_500, 200_000),
    "threads": (1_200, 2_000, 1_000_000),
    "short": (2_000, 20_000, 200_000),
    "server": (20_000, 1_000_000, 200_000),
}


class Sizes:
    def __init__(self, options, detector="duress"):
        self.tool = Tool(options.build, options.duress, detector)
        self.program = self.tool.compile(HERE / "sizes.cc")
        self.library = self.tool.compile(HERE / "library.cc", library=True)

    def words(self, kind, count, folder, options=()):
        words = [self.program, kind, count, *([self.library] if kind == "libraries" else [])]
        if self.tool.detector == "duress":
            words = [self.tool.duress, "run", *options, "--dir", f"{folder}/d", "--", *words]
        return list(map(str, words))

    def start(self, words, folder):
        env = {**self.tool.env, "TSAN_OPTIONS": "exitcode=66"}
        files = [open(f"{folder}/{name}", "wb") for name in ("out", "err")]
        process = subprocess.Popen(
            words, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=files[0], stderr=files[1]
        )
        for file in files:
            file.close()
        return process

    def measured(self, kind, count, options=()):
        """Exit code, seconds, KiB at most (of one process), what was printed."""
        with tempfile.TemporaryDirectory(prefix="duress-sizes-") as folder:
            begun = time.monotonic()
            process = self.start(self.words(kind, count, folder, options), folder)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            out, err = (pathlib.Path(f"{folder}/{name}").read_text(errors="replace") for name in ("out", "err"))
            return process.returncode, time.monotonic() - begun, usage.ru_maxrss, out, err

    def holds(self, kind, options=()):
        def check():
            count, _, most = KINDS[kind]
            code, _, memory, out, err = self.measured(kind, count, options)
            expect(code == RACES and out.split()[:1] == [str(count)], f"exit code {code}:\n{out}\n{err}")
            expect("on last" in err and "1 data race" in err, f"not just the race on last:\n{err}")
            expect(memory < most, f"{memory:,} KiB, more than {most:,}")

        return check

    def does_not_grow(self):
        """The second half of a server's requests takes no more memory than the first."""
        half, whole = (self.measured("server", count)[2] for count in (30_000, 60_000))
        expect(whole < half * 1.1 + 4096, f"{half:,} KiB after 30,000 requests, {whole:,} after 60,000")


def full_table(options):
    ours, theirs = Sizes(options), Sizes(options, "tsan")
    print("| what | count | duress | ThreadSanitizer |\n|---|---:|---|---|")
    for kind, (_, count, _) in KINDS.items():
        cells = []
        for sizes in (ours, theirs):
            code, seconds, memory, out, err = sizes.measured(kind, count)
            right = code == RACES and out.split()[:1] == [str(count)]
            said = (
                "race found"
                if right
                else f"exit code {code}: {(err.strip().splitlines() or ['nothing said'])[-1][:80]}"
            )
            cells.append(f"{said}, {seconds:.1f} s, {memory / 1024:,.0f} MiB")
        print(f"| {kind} | {count:,} | {' | '.join(cells)} |", flush=True)


def growth(options, minutes):
    """Resident memory of the server, at equal distances."""
    sizes = Sizes(options)
    with tempfile.TemporaryDirectory(prefix="duress-sizes-") as folder:
        process = sizes.start(sizes.words("server", 10**12, folder), folder)
        target = None
        print("| minute | resident MiB |\n|---:|---:|")
        for sample in range(SAMPLES + 1):
            time.sleep(5 if sample == 0 else minutes * 60 / SAMPLES)
            target = target or int(
                pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0]
            )
            pages = int(pathlib.Path(f"/proc/{target}/statm").read_text().split()[1])
            print(f"| {sample * minutes / SAMPLES:.1f} | {pages * 4096 / 2**20:.1f} |", flush=True)
        process.kill()
        process.wait(TIMEOUT)


def main():
    made = parser(__doc__)
    made.add_argument("--full", action="store_true")
    made.add_argument("--growth", type=float)
    options = made.parse_args()
    if options.full:
        return full_table(options)
    if options.growth:
        return growth(options, options.growth)
    sizes = Sizes(options)
    cases = {kind: sizes.holds(kind) for kind in options.programs or KINDS}
    if not options.programs:
        cases["libraries, controlled"] = sizes.holds("libraries", ["--controlled"])
        cases["a server's memory does not grow"] = sizes.does_not_grow
    report(cases.items())
    return None


main()
