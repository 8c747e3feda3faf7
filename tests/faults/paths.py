#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Paths and values that are given by mistake: empty ones, folders, devices without an end, the program itself as the output.
Every command says so in one line, at once, and nothing is overwritten."""
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness.cases import expect, parser, report  # noqa: E402
from harness.tool import Tool  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
HANG = 60  # seconds
EMPTY = "a path is empty"
PROGRAM = ["--", "./program"]
# What is given, and what the line says.
MISTAKES = (
    (["run", "--dir", "", *PROGRAM], EMPTY),
    (["explore", "--dir", "", *PROGRAM], EMPTY),
    (["work", "--dir", "", "--shard", "1/1"], EMPTY),
    (["merge", ""], EMPTY),
    (["trace", "record", "-o", "", *PROGRAM], EMPTY),
    (["trace", "record", "-o", "program", *PROGRAM], "will not be overwritten"),
    (["trace", "record", "-o", "/", *PROGRAM], "is a folder"),
    (["run", "--json=program", *PROGRAM], "will not be overwritten"),
    (["trace", "analyze", "/"], "not a regular file"),
    (["trace", "analyze", "/dev/zero"], "not a regular file"),
    (["trace", "print", "/dev/null"], "not a regular file"),
    (["run", "--suppressions", "/", *PROGRAM], "Is a directory"),
    (["run", "--suppressions", "/dev/zero", *PROGRAM], "File too large"),
    (["classify", "--baseline", "/", *PROGRAM], "Is a directory"),
    (["classify", "--baseline", "/dev/zero", *PROGRAM], "File too large"),
    (["explore", "--expect-output", "/", *PROGRAM], "Is a directory"),
    (["explore", "--expect-output", "/dev/zero", *PROGRAM], "File too large"),
    (["explore", "-j", "99999999999", *PROGRAM], "--jobs must be a whole number, not '99999999999'"),
    (["replay", "a" * 100000], "is not a replay token"),
)


class Paths:
    def __init__(self, options, scratch):
        self.tool = Tool(options.build, options.duress)
        self.folder = pathlib.Path(scratch)
        self.racing = self.tool.compile(HERE / "racing.cc", level="-O1")
        shutil.copy(self.racing, self.folder / "program")

    def refused(self, words, about):
        def check():
            code, out, err = self.tool.run([self.tool.duress, *words], self.folder, timeout=HANG)
            text = err.decode(errors="replace")
            expect(code in (2, 125) and not out, f"exit code {code}:\n{text}")
            expect(len(text.splitlines()) == 1 and about in text, f"not one line that says '{about}':\n{text}")
            same = (self.folder / "program").read_bytes() == self.racing.read_bytes()
            expect(same, "the program has been overwritten")

        return check

    def cases(self):
        for words, about in MISTAKES:
            yield " ".join(words)[:60], self.refused(words, about)


def main():
    options = parser(__doc__, programs=False).parse_args()
    with tempfile.TemporaryDirectory(prefix="duress-paths-") as scratch:
        report(Paths(options, scratch).cases())


main()
