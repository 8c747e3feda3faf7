#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""summarise.py REPORT...: how many races the reports hold, and on which variables, in one line."""
import json
import sys

races = {}
for path in sys.argv[1:]:
    with open(path) as file:
        for race in json.load(file)["races"]:
            races.setdefault(race["id"], race["variable"])
names = sorted(set(races.values()))
shown = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
print(f"{len(races)} races" + (f" on {shown}" if races else ""))
