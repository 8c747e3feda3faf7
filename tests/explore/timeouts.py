#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A failure that needed a timeout says which one: who waited, how long it would have been, and where. --timeouts says which may
come early."""
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

SOURCE = pathlib.Path(__file__).resolve().parent / "programs" / "early_timeouts.c"
# What is said of each wait, its length in seconds, and the line that waits.
WAITS = {
    "epoll": ("a wait for a descriptor of 5 s", 5, "epoll_wait(set"),
    "poll": ("a wait for a descriptor of 1.5 s", 1.5, "return poll("),
    "select": ("a wait for a descriptor of 3.5 s", 3.5, "return select("),
    "condition": ("a wait of 4 s", 4, "pthread_cond_timedwait("),
    "semaphore": ("a wait for a semaphore of 2 s", 2, "return sem_timedwait("),
    "mutex": ("a lock of 1 s", 1, "pthread_mutex_timedlock("),
    "sleep": ("a sleep of 100 ms", 0.1, "usleep(100000)"),
    "timer": ("a timer of 7 s", 7, "alarm(7)"),
}


class TimeoutsTest(harness.ToolTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="duress-timeouts-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.program = str(self.tool.compile(SOURCE))

    def explore(self, kind, *options):
        words = [self.tool.duress, "explore", *options, "--", self.program, kind]
        code, out, err = self.tool.run(words, self.folder, b"", 120, None)
        return code, out.decode(), err.decode()

    def line_of(self, text):
        lines = SOURCE.read_text().splitlines()
        return 1 + next(i for i, line in enumerate(lines) if text in line)

    def test_reports_name_the_timeout(self):
        for kind, (said, seconds, place) in WAITS.items():
            with self.subTest(kind=kind):
                code, out, err = self.explore(kind, "--json")
                self.assertEqual(code, 66, err)
                document = json.loads(out)
                harness.valid(document)
                (timeout,) = document["failures"][0]["timeouts"]
                # A deadline is a little nearer when the wait begins.
                self.assertLessEqual(timeout["seconds"], seconds)
                self.assertGreater(timeout["seconds"], seconds * 0.999)
                self.assertEqual(timeout["line"], self.line_of(place))
                code, out, err = self.explore(kind)
                self.assertEqual(code, 66, err)
                where = f"early_timeouts.c:{self.line_of(place)}"
                (line,) = [line for line in err.splitlines() if " early: " in line]
                self.assertIn(f"early: {said}", line)
                self.assertIn(where, line)
                self.assertIn("--timeouts real", err)

    def test_real_forbids_early_ones(self):
        for kind in WAITS:
            with self.subTest(kind=kind):
                code, out, err = self.explore(kind, "--timeouts", "real")
                self.assertEqual(code, 0, err)

    def test_long_ones_come_early_if_asked_for(self):
        self.assertEqual(self.explore("long")[0], 0)
        code, out, err = self.explore("long", "--timeouts", "any")
        self.assertEqual(code, 66, err)
        self.assertIn("early: a wait for a descriptor of 60 s", err)
        # The token needs no option.
        token = next(line.split()[1] for line in err.splitlines() if line.startswith("  token: "))
        code, out, err = self.tool.run(
            [self.tool.duress, "replay", token, "--", self.program, "long"], self.folder, b"", 120, None
        )
        self.assertEqual(code, 66, err)
        self.assertIn(b"early: a wait for a descriptor of 60 s", out + err)

    def test_failures_of_other_kinds_say_nothing(self):
        program = str(self.tool.compile(SOURCE.parent / "abba.cc"))
        code, out, err = self.tool.run(
            [self.tool.duress, "explore", "--json", "--", program], self.folder, b"", 120, None
        )
        self.assertEqual(code, 66, err)
        self.assertNotIn("timeouts", json.loads(out)["failures"][0])

    def test_wrong_use(self):
        code, out, err = self.explore("epoll", "--timeouts", "often")
        self.assertEqual(code, 2)
        self.assertEqual(err.count("\n"), 1, err)
        self.assertIn("--timeouts", err)

    def test_classify_takes_it_too(self):
        words = [self.tool.duress, "classify", "--runs", "5", "--timeouts", "real", "--", self.program, "epoll"]
        code, out, err = self.tool.run(words, self.folder, b"", 120, None)
        self.assertEqual(code, 0, err)


if __name__ == "__main__":
    harness.unit_tests(__doc__)
