#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What controlled executions cost, as ratios of two things measured side by side.

switch    fiber backend ÷ thread backend, time per switch (required at most 1/20)
closure   executions per second of duress::check, 2 threads, 10 operations (required 30,000)
server    runs per second of the fork server ÷ fork and exec of the same program, natively (required 3)
rollback  runs per second with in-process rollback ÷ with a process for each execution
kernels   one controlled run ÷ the native program on one processor, kernels of bench/detect (required 2)
"""
import argparse
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))
import execution  # noqa: E402

# What each kernel does: a tenth of a second to half a second natively.
WORK = {
    "block_compress": 60,
    "channels": 60000,
    "graph": 6000,
    "hash_map": 400000,
    "lufact": 60,
    "matrix_product": 30,
    "moldyn": 30,
    "montecarlo": 12000,
    "pipeline": 6000000,
    "raytracer": 250,
    "read_tree": 2000000,
    "ring": 200000,
    "rwlock_map": 400000,
    "shared_strings": 100000,
    "small_allocations": 400000,
    "sor": 12,
    "sort": 1,
    "thread_pool": 20000,
    "tsp": 14,
    "word_count": 25,
}

FLAGS = ["-std=c++20", "-O2", "-g", "-pthread"]


def compile_program(options, source, name, compiler):
    out = options.build / "bench" / "explore" / name
    out.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([*compiler, *FLAGS, str(source), "-o", str(out)], check=True)
    return str(out)


def native(options, source):
    return compile_program(options, source, source.stem + ".native", ["clang++-19"])


def duress(options, source):
    return compile_program(options, source, source.stem + ".duress", [str(options.build / "bin" / "duress-c++")])


def table(title, head, rows):
    print(title)
    widths = [max(len(str(row[i])) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, *rows]:
        print("  " + "  ".join(str(cell).rjust(w) for cell, w in zip(row, widths)))
    print(flush=True)


def switches(options, files):
    program = duress(options, HERE / "switches.cc")
    rows = []
    for threads in (2, 8, 32, 128, 256):
        per_switch = {}
        for backend, operations in ((execution.FIBER, 200000), (execution.THREAD, 4000)):
            best = math.inf
            for seed in (8, 16, 24):  # a quantum of one step
                done = execution.run_once(
                    files,
                    [program, str(threads), str(max(50, operations // threads))],
                    strategy=execution.ROUND_ROBIN,
                    backend=backend,
                    seed=seed,
                )
                if done.returncode != 0:
                    raise SystemExit(f"{program} ended with {done.returncode}: {done.stdout}")
                count = files.record()["switches"]
                if count:
                    best = min(best, float(done.stdout) / count)
            per_switch[backend] = best
        fiber, thread = per_switch[execution.FIBER], per_switch[execution.THREAD]
        rows.append((threads, f"{fiber:.0f}", f"{thread:.0f}", f"1/{thread / fiber:.0f}"))
    table("switch: nanoseconds, thread creation included", ("threads", "fiber", "thread", "fiber ÷ thread"), rows)


def closures(options):
    program = duress(options, HERE / "closure.cc")
    rows = []
    for threads, operations in ((2, 10), (2, 100), (2, 1000), (4, 10), (16, 10), (64, 10), (256, 10)):
        runs = max(200, 400000 // (threads * operations))
        best = 0.0
        for _ in range(3):
            done = subprocess.run(
                [program, str(threads), str(operations), str(runs)], stdout=subprocess.PIPE, text=True, check=True
            )
            best = max(best, float(done.stdout))
        rows.append((threads, operations, f"{best:,.0f}", f"{1e9 / best / (threads * operations):.0f}"))
    table("closure: duress::check", ("threads", "operations each", "executions/s", "ns per operation"), rows)


def servers(options, files):
    plain, controlled = native(options, HERE / "small.cc"), duress(options, HERE / "small.cc")
    server = execution.Server(files, [controlled])
    best = {"server": 0.0, "exec": 0.0}
    for _ in range(3):
        start = time.perf_counter()
        for seed in range(300):
            if server.run(seed=seed) != 0:
                raise SystemExit("a run of the server failed")
        best["server"] = max(best["server"], 300 / (time.perf_counter() - start))
        start = time.perf_counter()
        for _ in range(300):
            # What a shell does; Python's own start of a process would be measured otherwise.
            pid = os.posix_spawn(
                plain, [plain], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
            )
            os.waitpid(pid, 0)
        best["exec"] = max(best["exec"], 300 / (time.perf_counter() - start))
    server.close()
    table(
        "server: runs per second",
        ("fork server", "fork+exec, native", "ratio"),
        [(f"{best['server']:.0f}", f"{best['exec']:.0f}", f"{best['server'] / best['exec']:.2f}")],
    )


def with_libraries(options, count):
    """The program of `rollback` with so many shared libraries, each with data."""
    folder = options.build / "bench" / "explore" / "libraries"
    folder.mkdir(parents=True, exist_ok=True)
    for i in range(count):
        text = f"int more_{i}[4096] = {{1}}; int* where_{i}[512] = {{more_{i}}};"
        command = ["clang-19", "-shared", "-fPIC", "-xc", "-", "-o", str(folder / f"libmore{i}.so")]
        subprocess.run(command, input=text, text=True, check=True)
    out = options.build / "bench" / "explore" / "rollback.libraries"
    words = [
        str(options.build / "bin" / "duress-c++"),
        *FLAGS,
        str(HERE / "rollback.cc"),
        "-o",
        str(out),
        f"-L{folder}",
    ]
    words += ["-Wl,--no-as-needed", f"-Wl,-rpath,{folder}", *(f"-lmore{i}" for i in range(count))]
    subprocess.run(words, check=True)
    return str(out)


def rollbacks(options):
    """Alternating, the best of five of each; 50 schedule points in two threads, and what more of everything costs."""
    plain, libraries = duress(options, HERE / "rollback.cc"), with_libraries(options, 50)
    rows = []
    cases = [(plain, [threads], "0") for threads in ("0", "2", "8", "64", "200")]
    cases += [(plain, ["2", "1"], "0"), (plain, ["2", "16"], "0"), (plain, ["2", "1"], "100"), (libraries, ["2"], "0")]
    for program, words, heap in cases:
        servers = {}
        for rollback in (0, 1):
            files = execution.Files()
            servers[rollback] = execution.Server(files, [program, *words], rollback, HEAP=heap)
            for seed in range(300):  # what is learned in the first executions
                servers[rollback].run(seed=seed % 8)
                if int(words[0]) > 8 and seed > 20:
                    break
        runs = 200 if int(words[0]) <= 8 else 20
        best = {0: 0.0, 1: 0.0}
        for _ in range(5):
            for rollback, server in servers.items():
                start = time.perf_counter()
                for seed in range(runs):
                    if server.run(seed=seed) != 0:
                        raise SystemExit("a run of the server failed")
                best[rollback] = max(best[rollback], runs / (time.perf_counter() - start))
        for server in servers.values():
            server.close()
        megabytes = words[1] if len(words) > 1 else "0"
        count = 50 if program == libraries else 0
        ratio = f"{best[1] / best[0]:.2f}"
        rows.append((words[0], megabytes, heap, count, f"{best[0]:.0f}", f"{best[1]:.0f}", ratio))
    head = ("threads", "MB written", "MB of heap", "libraries", "fork", "rollback", "ratio")
    table("rollback: runs per second", head, rows)
    campaigns(options, plain)


def campaigns(options, program):
    """The same with the host: `duress explore -j 1`, and processor time of both for each execution. Executions of a program that
    prints nothing are handed over several at a time (`ahead`)."""
    rows = []
    ways = [("fork", "rollback=0", 1500), ("rollback", "ahead=0", 15000), ("rollback, ahead", "ahead=1", 15000)]
    for quiet, (name, way, runs) in [(quiet, case) for quiet in (False, True) for case in ways]:
        best, least = 0.0, math.inf
        for _ in range(3):
            folder = tempfile.TemporaryDirectory(prefix="duress-bench-")
            command = [str(options.build / "bin" / "duress"), "explore", "--runs", str(runs), "-j", "1", "--dir"]
            before, start = os.times(), time.perf_counter()
            subprocess.run(
                [*command, folder.name, "--", program, "2"],
                env=dict(os.environ, DURESS_OPTIONS=way, **({"QUIET": "1"} if quiet else {})),
                stderr=subprocess.DEVNULL,
                check=True,
            )
            after = os.times()
            best = max(best, runs / (time.perf_counter() - start))
            spent = after.children_user + after.children_system - before.children_user - before.children_system
            least = min(least, spent / runs * 1e6)
        rows.append((name, "nothing" if quiet else "a line", f"{best:.0f}", f"{least:.0f}"))
    table("explore -j 1, two threads", ("", "prints", "runs/s", "us of processor per run"), rows)


def kernels(options, files):
    rows, ratios = [], []
    for source in sorted((ROOT / "bench" / "detect" / "kernels").glob("*.cc")):
        if options.kernel and source.stem not in options.kernel:
            continue
        plain, controlled = native(options, source), duress(options, source)
        words = ["2", str(WORK[source.stem])]
        best = {"native": math.inf, "controlled": math.inf}
        for _ in range(3):
            start = time.perf_counter()
            subprocess.run(
                ["taskset", "-c", "0", plain, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True
            )
            best["native"] = min(best["native"], time.perf_counter() - start)
            start = time.perf_counter()
            done = execution.run_once(files, ["taskset", "-c", "0", controlled, *words], strategy=execution.RANDOM)
            best["controlled"] = min(best["controlled"], time.perf_counter() - start)
            if done.returncode != 0:
                raise SystemExit(f"{controlled} ended with {done.returncode}: {done.stdout[-300:]}")
        ratio = best["controlled"] / best["native"]
        ratios.append(ratio)
        rows.append(
            (source.stem, f"{best['native']:.3f}", f"{best['controlled']:.3f}", f"{ratio:.2f}", files.record()["steps"])
        )
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        rows.append(("geometric mean", "", "", f"{mean:.2f}", ""))
    table("kernels: seconds on one processor", ("kernel", "native", "controlled", "ratio", "schedule points"), rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--only", choices=("switch", "closure", "server", "rollback", "kernels"), action="append")
    parser.add_argument("--kernel", action="append", help="only this one")
    options = parser.parse_args()
    options.build = options.build.resolve()
    files = execution.Files()
    wanted = options.only or ("switch", "closure", "server", "rollback", "kernels")
    if "switch" in wanted:
        switches(options, files)
    if "closure" in wanted:
        closures(options)
    if "server" in wanted:
        servers(options, files)
    if "rollback" in wanted:
        rollbacks(options)
    if "kernels" in wanted:
        kernels(options, files)


if __name__ == "__main__":
    main()
