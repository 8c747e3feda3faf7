#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `duress explore` prints below a failure: the threads side by side, with the names that the program's author gave to
locks and variables, and where the values came from that were read last."""
import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

PROGRAMS = pathlib.Path(__file__).resolve().parent / "lanes"


class LanesTest(harness.ToolTest):
    def explore(self, name, *options, command="explore"):
        """What it prints, and the document with the lanes of its failures."""
        with tempfile.TemporaryDirectory() as folder:
            runs = {"explore": ["--runs", "500"], "classify": ["--runs", "60"], "verify": []}[command]
            words = [command, "--seed", "1", *runs, "--dir", f"{folder}/d", *options]
            binary = self.tool.compile(PROGRAMS / f"{name}.cc", level="-O1")
            code, out, errors = self.tool.run([str(self.tool.duress), *words, "--", str(binary)], folder)
            self.assertEqual(code, 66, errors.decode())
            path = pathlib.Path(folder) / "report.json"
            words = [str(self.tool.duress), "report", "--dir", f"{folder}/d", f"--json={path}"]
            code, _, more = self.tool.run(words, folder)
            self.assertEqual(code, 0, more.decode())
            document = json.loads(path.read_text())
            harness.valid(document)
            return (out + errors).decode(), document

    def test_plain_accesses_that_explain_an_exit_code(self):
        text, document = self.explore("bank")
        lanes = text[text.index("interleaving of") :]
        self.assertRegex(lanes, r":17 lock \S*ount::mutex")
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

    def test_locks_inside_globals(self):
        for command in ("explore", "verify"):
            text, document = self.explore("global_locks", command=command)
            self.assertRegex(text, r"T1 waits to lock locks\.second, held by T2", command)
            self.assertRegex(text, r"T2 waits to lock savings\[1\]\.mutex, held by T1", command)
            source = (PROGRAMS / "global_locks.cc").read_text().split("\n")
            line = 1 + next(i for i, text in enumerate(source) if "other locks" in text)
            steps = [
                (event.get("object"), event.get("line"))
                for event in document["failures"][0]["lanes"]["events"]
                if event["operation"] == "lock"
            ]
            self.assertIn(("locks.second", line), steps, command)

    def test_locks_without_a_name_have_one_number(self):
        for command in ("explore", "verify"):
            text, document = self.explore("other_locks", command=command)
            waits = dict(re.findall(r"(T[12]) waits to lock (M\d+), held by", text))
            held = {}  # what each thread locked last
            for event in document["failures"][0]["lanes"]["events"]:
                if event["operation"] == "lock":
                    held[f"T{event['thread']}"] = event["object"]
            self.assertEqual((waits["T1"], waits["T2"]), (held["T2"], held["T1"]), command)

    def test_captured_variables(self):
        text, document = self.explore("captured")
        self.assertIn("main()::sum", text)
        self.assertNotIn("(unnamed)", text)
        objects = {event.get("object") for event in document["failures"][0]["lanes"]["events"]}
        self.assertIn("main()::sum", objects)

    def test_the_replaced_load_is_the_one_that_is_marked(self):
        _, document = self.explore("old_pointer", "--no-advice", "--model", "stale", command="classify")
        head = next(race for race in document["races"] if race["variable"] == "head")
        marked = [e["object"] for e in head["lanes"]["events"] if e.get("how") == "stale"]
        self.assertEqual(marked, ["head"])

    def test_a_crash_is_where_the_program_has_it(self):
        text, _ = self.explore("null_object")
        source = PROGRAMS / "null_object.cc"
        line = 1 + next(i for i, text in enumerate(source.read_text().split("\n")) if "the crash" in text)
        self.assertRegex(text, rf"null_object.cc:{line}:\d+: error: SIGSEGV")
        self.assertIn(f":{line} SIGSEGV", text[text.index("interleaving of") :])


if __name__ == "__main__":
    harness.unit_tests(__doc__)
