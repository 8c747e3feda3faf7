#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`duress collide` as a user meets it, on programs that GCC built.

Sampling is a matter of luck; these tests are not. A racy program runs until it is stopped, and --halt stops it at its
first race: a race that is never found is a test that never ends, and ctest ends it. Whatever is silent must be so in
every run, so any number of samples will do.
"""
import argparse
import os
import sys
import unittest

from attach import AttachTest, ManyTest  # noqa: F401
from behaviour import BehaviourTest, SilenceTest  # noqa: F401
from case import ARGS
from debian import DebianTest  # noqa: F401
from races import RacesTest  # noqa: F401
from words import WordsTest  # noqa: F401


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--duress", required=True)
    parser.add_argument("--work", required=True, help="folder for built programs")
    parser.add_argument("--times", type=int, default=100, help="how often ManyTest repeats each of its tests")
    parser.add_argument("--compressors", type=int, default=6, help="how many of them DebianTest runs")
    _, rest = parser.parse_known_args(namespace=ARGS)
    ARGS.duress, ARGS.work = os.path.abspath(ARGS.duress), os.path.abspath(ARGS.work)
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
