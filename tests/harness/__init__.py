# SPDX-License-Identifier: Apache-2.0
"""What the tests of whole programs share.

  tool         builds target programs (once for equal source, flags and compiler) and runs duress on them
  statements   what the head of a program states: `// KEY: value`
  documents    JSON documents: the schema, and what two of them may differ in
  cases        the command line of a test, and its cases one after the other with a line each
  unit_tests   the same for cases that are methods of unittest classes
  halves       programs that are two, the right half and the wrong one
  campaign     campaigns with workers in other processes
  project      projects with a build system of their own

Scripts put the folder `tests` on sys.path and import from here; ctest calls them with one program each, so that a
failure has a name. By hand: `tests/explore/run.py --build build abba`.
"""
import signal

from .cases import Failure, case_of, chosen, expect, parser, report
from .documents import SCHEMA, differences, valid, without_times
from .statements import Statements, words
from .tool import ROOT, SEED, SUPPORT, TIMEOUT, Tool
from .unit_tests import ToolTest, unit_tests

# A shell starts commands in the background with SIGINT ignored, and what they start inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)

__all__ = [
    "ROOT",
    "SCHEMA",
    "SEED",
    "SUPPORT",
    "TIMEOUT",
    "Failure",
    "Statements",
    "Tool",
    "ToolTest",
    "case_of",
    "chosen",
    "differences",
    "expect",
    "parser",
    "report",
    "unit_tests",
    "valid",
    "without_times",
    "words",
]
