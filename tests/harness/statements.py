# SPDX-License-Identifier: Apache-2.0
"""What the head of a program states, in comment lines: `// KEY: value` or `// KEY`. Each test knows its own keys."""
import re
import shlex

LINE = re.compile(r"//\s*([A-Z][A-Z0-9-]+)(?::\s*(.*))?$")


class Statements:
    """The statements of one program in their order."""

    def __init__(self, text):
        found = (LINE.match(line) for line in text.splitlines())
        self.pairs = [(match[1], (match[2] or "").strip()) for match in found if match]

    def __iter__(self):
        return iter(self.pairs)

    def __contains__(self, key):
        return any(name == key for name, _ in self.pairs)

    def all(self, key):
        return [value for name, value in self.pairs if name == key]

    def first(self, key, default=""):
        return next(iter(self.all(key)), default)


def words(statements, key):
    """The first value of that key, as words of a command line."""
    return shlex.split(statements.first(key))
