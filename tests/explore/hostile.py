#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that do not want to end: `explore` is bounded by --time and --run-timeout, says in a line what happened, and leaves
no process behind."""
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent


class HostileTest(harness.ToolTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="duress-hostile-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.marks = os.path.join(self.folder, "marks")
        self.program = str(self.tool.compile(HERE / "hostile.cc"))

    def explore(self, how, *options):
        words = [self.tool.duress, "explore", *options, "--", self.program, how, self.marks]
        code, _, err = self.tool.run(words, self.folder, b"", 120)
        return code, err.decode(errors="replace")

    def assert_nobody_is_left(self, least):
        with open(self.marks, encoding="utf-8") as text:
            pids = {int(line) for line in text}
        self.assertGreaterEqual(len(pids), least)
        # Those that were killed may be on their way out.
        for _ in range(500):
            left = [pid for pid in pids if self.is_alive(pid)]
            if not left:
                return
            time.sleep(0.02)
        self.fail(f"processes {left} live on")

    def is_alive(self, pid):
        """The number may be another process's by now."""
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as text:
                return self.marks.encode() in text.read()
        except OSError:
            return False

    def test_no_point_is_reached(self):
        code, err = self.explore("compute", "--runs", "1", "--run-timeout", "300ms", "--no-minimise")
        self.assertEqual(code, 66, err)
        self.assertIn("no end", err)
        self.assert_nobody_is_left(1)

    def test_time_is_over_before_a_point_is_reached(self):
        code, err = self.explore("compute", "--time", "1s")
        self.assertEqual(code, 124, err)
        self.assertIn("out of time", err)
        self.assert_nobody_is_left(1)

    def test_signals_are_ignored(self):
        code, err = self.explore("ignore", "--time", "1s")
        self.assertEqual(code, 124, err)
        self.assert_nobody_is_left(1)

    def test_signals_are_blocked(self):
        code, err = self.explore("block", "--time", "1s")
        self.assertEqual(code, 124, err)
        self.assert_nobody_is_left(1)
        code, err = self.explore("block", "--runs", "1", "--run-timeout", "300ms", "--no-minimise")
        self.assertEqual(code, 66, err)

    def test_children_are_stopped(self):
        code, err = self.explore("stopped", "--time", "2s")
        self.assertIn(code, (66, 124), err)  # a wait for children that never end may be called a deadlock before
        self.assert_nobody_is_left(2)

    def test_many_children(self):
        code, err = self.explore("forks", "--time", "2s")
        self.assertEqual(code, 124, err)
        self.assert_nobody_is_left(2)

    def test_children_of_children(self):
        code, err = self.explore("chain", "--runs", "2")
        self.assertIn(code, (0, 66), err)
        self.assertRegex(err, "left .*process")
        self.assert_nobody_is_left(2)

    def test_all_descriptors_are_closed(self):
        code, err = self.explore("close", "--runs", "40")
        self.assertEqual(code, 0, err)
        self.assertIn("no failure in 40 runs", err)
        self.assert_nobody_is_left(1)


if __name__ == "__main__":
    harness.unit_tests(__doc__)
