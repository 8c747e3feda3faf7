# SPDX-License-Identifier: Apache-2.0
"""The command line that tests of programs share, and how they say what failed."""
import argparse
import pathlib
import re
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUITES = ("fast", "rest", "all")


class Failure(Exception):
    """What a test found wrong; its text is all that is printed."""


def expect(condition, text):
    if not condition:
        raise Failure(text)


def parser(description, programs=True):
    """Build folder, suite and, with `programs`, which of them."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    made.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="build folder of Duress")
    made.add_argument("--duress", type=pathlib.Path, help="the command; default: that of the build folder")
    made.add_argument("--suite", choices=SUITES, default="all", help="rest: what all has and fast has not")
    if programs:
        made.add_argument(
            "programs", nargs="*", help="a path below the project, or an expression that is searched for in it"
        )
    return made


def chosen(paths, wanted):
    """Those of the paths that were asked for on the command line; all of them if nothing was."""
    if not wanted:
        return list(paths)
    exact = {str(pathlib.Path(word).resolve()) for word in wanted if (ROOT / word).is_file()}
    expressions = [word for word in wanted if not (ROOT / word).is_file()]
    return [
        path
        for path in paths
        if str(path) in exact or any(re.search(word, str(path.relative_to(ROOT))) for word in expressions)
    ]


def case_of(path):
    return str(path.relative_to(ROOT))


def report(cases):
    """Runs (name, function) in turn. A function returns its problems, or one as a text, or raises Failure; ends the
    test."""
    failed = count = 0
    for name, check in cases:
        begun = time.monotonic()
        try:
            problems = check()
            problems = [problems] if isinstance(problems, str) and problems else list(problems or [])
        except Failure as failure:
            problems = [str(failure)]
        count += 1
        failed += bool(problems)
        text = "".join("\n    " + problem.rstrip().replace("\n", "\n    ") for problem in problems)
        print(f"{'FAIL' if problems else 'ok  '} {name} ({time.monotonic() - begun:.1f} s){text}", flush=True)
    if not count:
        sys.exit("nothing to check: no such program is in this suite")
    sys.exit(1 if failed else 0)
