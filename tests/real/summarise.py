#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""summarise.py NAME REPORT...: how many races the reports of a program hold, and on which variables, in one line.

Fails if one of them was never judged: docs/real.md has a row for each program and variable, with why it is a true race. So a false
alarm is a failing test, and a new true race is one until somebody has looked at it. Races that Duress itself calls unconfirmed claim
nothing and are only counted.
"""
import fnmatch
import json
import pathlib
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/real.md"


def judged(name):
    """Patterns of variables whose race is true, from the table `| program | variable | Duress | ... |`."""
    patterns = []
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) >= 5 and cells[0] == name and cells[2].startswith("reported"):
            patterns += [one.strip().strip("`") for one in cells[1].split(",")]
    return patterns


def main(name, *reports):
    races, unconfirmed = {}, 0
    for path in reports:
        with open(path) as file:
            for race in json.load(file)["races"]:
                if race.get("confirmed") is False:
                    unconfirmed += 1
                else:
                    races.setdefault(race["id"], race["variable"])
    names = sorted(set(races.values()))
    shown = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
    print(
        f"{len(races)} races"
        + (f" on {shown}" if races else "")
        + (f", {unconfirmed} unconfirmed" if unconfirmed else "")
    )
    patterns = judged(name)
    new = [
        one for one in names if not any(fnmatch.fnmatchcase(one, pattern.replace("[", "[[]")) for pattern in patterns)
    ]
    if new:
        print(f"not judged in docs/real.md: {', '.join(new)}")
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
