# SPDX-License-Identifier: Apache-2.0
"""Test scripts whose cases are methods of unittest classes, all on the tool that the command line names."""
import sys
import unittest

from .cases import parser
from .tool import Tool


class ToolTest(unittest.TestCase):
    """A class of cases; `tool` is there before the first of them, also in setUpClass."""

    tool: Tool


def unit_tests(description):
    """Runs the classes of the calling script. By hand, `-k test_name` chooses among their cases."""
    options, rest = parser(description, programs=False).parse_known_args()
    ToolTest.tool = Tool(options.build, options.duress)
    unittest.main(argv=[sys.argv[0], *rest])
