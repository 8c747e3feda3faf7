#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every path below src, tests, tools or docs that the map and the contributor's guide name in backquotes exists."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGES = ["docs/architecture.md", "CONTRIBUTING.md", "README.md"]


def main():
    missing = 0
    for page in PAGES:
        for number, line in enumerate((ROOT / page).read_text().splitlines(), 1):
            for path in re.findall(r"`((?:src|tests|tools|docs|include|examples|bench)/[\w./-]*)`", line):
                if not (ROOT / path).exists() and "NAME" not in path:
                    missing += 1
                    print(f"{page}:{number}: {path} does not exist")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
