#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `duress explore` prints below a failure: the threads side by side, with the names that the program's author gave to
locks and variables, and where the values came from that were read last."""
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

PROGRAMS = pathlib.Path(__file__).resolve().parent / "lanes"


class LanesTest(harness.ToolTest):
    def explore(self, name, *options):
        """What it prints, and the document with the lanes of its failures."""
        with tempfile.TemporaryDirectory() as folder:
            words = ["explore", "--seed", "1", "--runs", "500", "--dir", f"{folder}/d", *options]
            binary = self.tool.compile(PROGRAMS / f"{name}.cc", level="-O1")
            code, _, errors = self.tool.run([str(self.tool.duress), *words, "--", str(binary)], folder)
            self.assertEqual(code, 66, errors.decode())
            path = pathlib.Path(folder) / "report.json"
            words = [str(self.tool.duress), "report", "--dir", f"{folder}/d", f"--json={path}"]
            code, _, more = self.tool.run(words, folder)
            self.assertEqual(code, 0, more.decode())
            document = json.loads(path.read_text())
            harness.valid(document)
            return errors.decode(), document

    def test_plain_accesses_that_explain_an_exit_code(self):
        text, document = self.explore("bank")
        lanes = text[text.index("interleaving of") :]
        self.assertIn("lock Account::mutex", lanes)
        self.assertNotRegex(lanes, r"\bM\d")
        self.assertIn("the values that were read last, and where they came from:", lanes)
        # One thread stores what it made of 100, after the other has stored.
        self.assertRegex(
            lanes,
            r"T0 read Account::balance → (80|90) at \S*bank.cc:\d+: T[12] stored it at \S*bank.cc:\d+; "
            r"it had read 100 at \S*bank.cc:\d+, before T[12] stored (80|90) at",
        )
        self.assertEqual(len(document["failures"][0]["lanes"]["decided_by"]), 1)

    def test_locks_of_a_deadlock(self):
        text, document = self.explore("transfer")
        self.assertRegex(text, r"T1 waits to lock Account::mutex #[12], held by T2")
        self.assertRegex(text, r"T2 waits to lock Account::mutex #[12], held by T1")
        self.assertNotRegex(text, r"\bM\d")
        objects = {event.get("object") for event in document["failures"][0]["lanes"]["events"]}
        self.assertLessEqual({"Account::mutex #1", "Account::mutex #2"}, objects)

    def test_the_end_of_a_run_without_end(self):
        """Of a million steps the last ones are written down; the page counts all of them."""
        _, document = self.explore("spin")
        lanes = document["failures"][0]["lanes"]
        self.assertGreater(lanes["skipped"], 500_000)
        events = lanes["events"]
        self.assertEqual(len(events), 10_000)
        self.assertEqual({event["object"] for event in events[:-1]}, {"ready"})
        self.assertEqual({event["value"] for event in events[:-1]}, {"0"})
        self.assertEqual(events[-1]["operation"], "failure")

    def test_captured_variables(self):
        text, document = self.explore("captured")
        self.assertIn("main()::sum", text)
        self.assertNotIn("(unnamed)", text)
        objects = {event.get("object") for event in document["failures"][0]["lanes"]["events"]}
        self.assertIn("main()::sum", objects)


if __name__ == "__main__":
    harness.unit_tests(__doc__)
