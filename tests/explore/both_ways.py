#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands say the same whether processes are rolled back or every execution has its own: the documents of explore,
verify, classify and test are equal to the byte, times apart."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402
from harness import Failure  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
EXPLORED = (
    "abba account busy_wait call_once cancel_holding_lock crash exit_holding_lock fork_pipe future lost_wakeup "
    "many_threads queue semaphore_count shared_mutex stack_aba thread_facts three_step use_after_free"
).split()
VERIFIED = "deadlock lost_update meet_condition meet_semaphore lock_kept publication updates".split()
CLASSIFIED = "tutorial/bank tutorial/null_check tutorial/use_before_init".split()
# Calls are handled without a trap as early as possible.
WAYS = ("rollback=0", "rollback=1:patch_after=1")


def without_times(document, folder):
    text = json.dumps(document, indent=1).replace(folder, "")
    return re.sub(r'"\w*(seconds|per_second|rate|started|ended|time)": [\d.e+-]+', "", text)


def compare(tool, what, *words, options=()):
    """words[0]: the command; the rest is what it runs."""
    texts = []
    for way in WAYS:
        with tempfile.TemporaryDirectory(prefix="duress-both-") as folder:
            command = [tool.duress, words[0], "--json", *options, "-j", "2", "--dir", folder, *words[1:]]
            env = {**tool.env, "DURESS_OPTIONS": way}
            done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            if not done.stdout:
                raise Failure(f"{words[0]} of {what} with {way} has no document: {done.stderr.decode()}")
            texts.append((done.returncode, without_times(json.loads(done.stdout), folder)))
    if texts[0] != texts[1]:
        pairs = zip(texts[0][1].splitlines(), texts[1][1].splitlines())
        line = next((f"{b!r}, without {a!r}" for a, b in pairs if a != b), "longer")
        raise Failure(f"{words[0]} of {what}: with rollback {texts[1][0]} {line}, {texts[0][0]}")


def check_tests(tool, binaries):
    with tempfile.TemporaryDirectory(prefix="duress-both-tests-") as folder:
        tests = "".join(f'add_test([=[{b.stem}]=] "{b}")\n' for b in binaries)
        (pathlib.Path(folder) / "CTestTestfile.cmake").write_text(tests)
        compare(tool, "two tests", "test", folder, options=("--runs", "5"))


def main():
    options = harness.parser(__doc__, programs=False).parse_args()
    tool = harness.Tool(options.build, options.duress)

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
