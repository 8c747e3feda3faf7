#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands say the same whether processes are rolled back or every execution has its own, and whether a process performs
executions before they are asked for: the documents of explore, verify, classify, replay and test are equal to the byte, times
apart.

  --all PART    instead of a selection all programs of the tests of explore, verify or classify (label `real`)
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402
import run as programs_run  # noqa: E402
from harness import Failure  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
EXPLORED = (
    "abba account busy_wait call_once cancel_holding_lock crash exit_holding_lock fork_pipe future lost_wakeup "
    "many_threads queue semaphore_count shared_mutex stack_aba thread_facts three_step use_after_free"
).split()
VERIFIED = "deadlock lost_update meet_condition meet_semaphore lock_kept publication updates".split()
CLASSIFIED = "tutorial/bank tutorial/null_check tutorial/use_before_init".split()
# Options and workers. Calls are handled without a trap as early as possible. One worker performs executions ahead in `verify`, too.
WAYS = (("rollback=0", "2"), ("rollback=1:patch_after=1:ahead=0", "2"), ("rollback=1", "1"))


def without_times(document, folder):
    text = json.dumps(document, indent=1).replace(folder, "")
    return re.sub(r'"\w*(seconds|per_second|rate|started|ended|time)": [\d.e+-]+', "", text)


def replayed(tool, document, folder, env):
    """What the replay of the first failure prints, every step of it. One that does not end is ended by the clock."""
    failures = [failure for failure in document.get("failures") or [] if failure["failure"] != "no-end"]
    if not failures:
        return ""
    command = [tool.duress, "replay", failures[0]["id"], "--trace", "--dir", folder]
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    text = (done.stdout + done.stderr).decode(errors="replace").replace(folder, "")
    return f"replay: {done.returncode}\n" + re.sub(r"\d+(\.\d+)? m?s\b|==\d+==", "", text)  # times, processes


def compare(tool, what, *words, options=()):
    """words[0]: the command; the rest is what it runs."""
    texts = []
    for way, jobs in WAYS:
        with tempfile.TemporaryDirectory(prefix="duress-both-") as folder:
            command = [tool.duress, words[0], "--json", *options, "-j", jobs, "--dir", folder, *words[1:]]
            env = {**tool.env, "DURESS_OPTIONS": way}
            done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            if not done.stdout:
                raise Failure(f"{words[0]} of {what} with {way} has no document: {done.stderr.decode()}")
            document = json.loads(done.stdout)
            text = without_times(document, folder)
            if words[0] in ("explore", "verify"):
                text += "\n" + replayed(tool, document, folder, env)
            texts.append((done.returncode, text))
    for (way, jobs), (code, text) in zip(WAYS, texts):
        if (code, text) != texts[0]:
            pairs = zip(texts[0][1].splitlines(), text.splitlines())
            line = next((f"{b!r}, without rollback {a!r}" for a, b in pairs if a != b), "longer")
            raise Failure(f"{words[0]} of {what} with {way} -j {jobs}: {code} {line}, {texts[0][0]}")


def check_tests(tool, binaries):
    with tempfile.TemporaryDirectory(prefix="duress-both-tests-") as folder:
        tests = "".join(f'add_test([=[{b.stem}]=] "{b}")\n' for b in binaries)
        (pathlib.Path(folder) / "CTestTestfile.cmake").write_text(tests)
        compare(tool, "two tests", "test", folder, options=("--runs", "5"))


def with_runs(count, stated):
    """The stated options, and so many runs unless they say otherwise."""
    return (*stated,) if "--runs" in stated else ("--runs", count, *stated)


def all_of(tool, part):
    """A case for each program of the tests of that part, with the options that its head states."""

    def explored(program):
        binary = tool.compile(program.path, program.flags)
        options = ("--keep-going", *with_runs("60", program.options))
        compare(tool, program.path.name, "explore", "--", binary, *program.args[0], options=options)

    def verified(path, flags):
        binary = tool.compile(path, ["-DDURESS_ANY_ORDER"], level="-O1")
        fixed = {"--model", "--preemptions", "--timeouts"} & set(flags)  # the latter two are for sc alone
        for model in [[]] if fixed else [["--model", "sc"], ["--model", "rc11"]]:
            options = ("--no-advice", *model, *with_runs("300", flags))
            compare(tool, f"{path.name} {' '.join(model)}", "verify", "--", binary, options=options)

    def classified(path, statements):
        target = [tool.compile(path), *harness.words(statements, "CLASSIFY-ARGS")]
        options = ("--no-advice", *with_runs("4", harness.words(statements, "CLASSIFY-OPTIONS")))
        compare(tool, path.name, "classify", "--", *target, options=options)

    if part == "explore":
        programs = [programs_run.Program(path, statements) for path, statements in programs_run.all_programs()]
        return [(f"explore {p.path.name}", lambda p=p: explored(p)) for p in programs]
    folders = ("tests/verify/programs", "examples/*") if part == "verify" else ("examples/*",)
    head = "EXPECT-VERIFY" if part == "verify" else "EXPECT-VERDICT"
    cases = []
    for path in sorted(path for folder in folders for path in harness.ROOT.glob(f"{folder}/*.cc")):
        statements = harness.Statements(path.read_text())
        if head not in statements:
            continue
        if part == "verify":
            flags = harness.words(statements, "VERIFY-FLAGS")
            cases.append((f"verify {path.name}", lambda path=path, flags=flags: verified(path, flags)))
        else:
            cases.append((f"classify {path.name}", lambda path=path, s=statements: classified(path, s)))
    return cases


def main():
    parser = harness.parser(__doc__, programs=False)
    parser.add_argument("--all", choices=("explore", "verify", "classify"))
    options = parser.parse_args()
    tool = harness.Tool(options.build, options.duress)
    if options.all:
        harness.report(all_of(tool, options.all))

    def explored(name):
        binary = tool.compile(HERE / f"programs/{name}.cc")
        compare(tool, name, "explore", "--", binary, options=("--runs", "60", "--keep-going"))

    def verified(name):
        binary = tool.compile(HERE.parent / f"verify/programs/{name}.cc")
        for model in "sc", "rc11":
            compare(tool, f"{name} ({model})", "verify", "--", binary, options=("--runs", "300", "--model", model))

    def classified(name):
        binary = tool.compile(harness.ROOT / f"examples/{name}.cc")
        compare(tool, name, "classify", "--", binary, options=("--runs", "8"))

    cases = [(f"explore {name}", lambda name=name: explored(name)) for name in EXPLORED]
    cases += [(f"verify {name}", lambda name=name: verified(name)) for name in VERIFIED]
    cases += [(f"classify {name}", lambda name=name: classified(name)) for name in CLASSIFIED]
    tested = ("account", "stack_aba")
    cases.append(("test", lambda: check_tests(tool, [tool.compile(HERE / f"programs/{n}.cc") for n in tested])))
    harness.report(cases)


if __name__ == "__main__":
    main()
