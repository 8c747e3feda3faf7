#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`duress` as a user meets it: exit codes, streams, text, JSON held to the schema.

The target is fake_target.cc, which writes a log of its own; so nothing here depends on luck or on timing.
"""
import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

ARGS = None


class RunTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="duress-test-")
        self.addCleanup(self.folder.cleanup)
        self.target = os.path.join(ARGS.targets, "fake_target")

    def duress(self, *words, env=None):
        environment = {k: v for k, v in os.environ.items() if k not in ("DURESS_OPTIONS", "NO_COLOR")}
        environment.update(env or {})
        return subprocess.run(
            [ARGS.duress, *words],
            cwd=self.folder.name,
            env=environment,
            text=True,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
        )

    def run_target(self, *what, options=(), target=None, env=None):
        return self.duress("run", *options, "--", target or self.target, *what, env=env)

    def document(self, *what, options=(), target=None):
        result = self.run_target(*what, options=["--json=out.json", *options], target=target)
        with open(os.path.join(self.folder.name, "out.json"), encoding="utf-8") as file:
            document = json.load(file)
        harness.valid(document)
        return result, document

    def one_line(self, result, code):
        self.assertEqual(result.returncode, code, result)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)

    # ---- exit codes ------------------------------------------------------------------------------

    def test_own_code_is_passed_on_when_nothing_is_found(self):
        for code in (0, 1, 42):
            result = self.run_target("say", str(code))
            self.assertEqual(result.returncode, code)
            self.assertEqual(result.stdout, "hello from the program\n")
            self.assertEqual(result.stderr, "duress: no data race found, seed 1\n")

    def test_findings_are_66_and_fail_on_decides(self):
        self.assertEqual(self.run_target("field", "3").returncode, 66)
        self.assertEqual(self.run_target("field", "3", options=["--fail-on=never"]).returncode, 3)
        self.assertEqual(self.run_target("field", "3", options=["--fail-on", "destructive"]).returncode, 3)

    def test_not_instrumented(self):
        result = self.duress("run", "--", "/bin/true")
        self.one_line(result, 125)
        self.assertEqual(
            result.stderr, "duress: /bin/true is not instrumented; build it with duress-cc or duress-c++\n"
        )

    def test_instrumented_without_a_log(self):
        result = self.run_target("no-log")
        self.one_line(result, 125)
        self.assertIn("is instrumented, but its runtime did not start", result.stderr)

    def test_cannot_start(self):
        result = self.duress("run", "--", "./missing")
        self.one_line(result, 125)
        self.assertEqual(result.stderr, "duress: cannot start './missing': No such file or directory\n")
        path = os.path.join(self.folder.name, "data")
        with open(path, "w", encoding="utf-8") as file:
            file.write("text")
        result = self.duress("run", "--", "./data")
        self.one_line(result, 125)
        self.assertIn("Permission denied", result.stderr)
        self.one_line(self.duress("run", "--", "."), 125)

    def test_wrong_use(self):
        for words in (
            ["run"],
            ["run", "--"],
            ["run", "--frobnicate", "--", "x"],
            ["run", "--fail-on=x", "--", "x"],
            ["run", "--seed=x", "--", "x"],
            ["run", "-t", "FastTrak", "--", "x"],
            ["run", "-t"],
            ["run", "--json=/nonexistent/f", "--", "x"],
            ["run", "--volatile=often", "--", "x"],
            ["run", "--json", "--suppressions"],
            ["list", "x"],
            ["lst"],
            ["--foo"],
            [],
            ["cmake", "x"],
        ):
            result = self.duress(*words)
            self.one_line(result, 2)
            self.assertIn("--help", result.stderr)
        self.assertIn("nearest: FastTrack", self.duress("run", "-t", "FastTrak", "--", "x").stderr)
        self.assertIn("nearest: list", self.duress("lst").stderr)
        self.one_line(self.duress("run", "--controlled", "--free", "--", "x"), 2)

    # ---- streams ---------------------------------------------------------------------------------

    def test_json_alone_goes_to_stdout_after_the_programs_output(self):
        result = self.run_target("say", "field", options=["--json"])
        first, rest = result.stdout.split("\n", 1)
        self.assertEqual(first, "hello from the program")
        harness.valid(json.loads(rest))
        self.assertEqual(result.stderr, "")

    def test_a_program_is_not_overwritten(self):
        with open(self.target, "rb") as file:
            before = file.read()
        self.assertEqual(self.duress("run", "--json", self.target, "--", "x").returncode, 2)
        self.assertEqual(self.duress("run", "--json", self.target, "field").returncode, 66)
        with open(self.target, "rb") as file:
            self.assertEqual(file.read(), before)

    def test_no_color_unless_asked(self):
        self.assertNotIn("\033", self.run_target("field").stderr)
        self.assertIn("\033[", self.run_target("field", options=["--color=always"]).stderr)

    def test_interrupt_is_passed_on_and_the_report_comes(self):
        process = subprocess.Popen(
            [ARGS.duress, "run", "--", self.target, "field", "wait"],
            cwd=self.folder.name,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.assertEqual(process.stdout.readline(), "waiting\n")
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 66)
        self.assertIn("data race on Cache::size_", errors)
        process = subprocess.Popen(
            [ARGS.duress, "run", "--", self.target, "wait"],
            cwd=self.folder.name,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.assertEqual(process.stdout.readline(), "waiting\n")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 128 + signal.SIGINT)
        self.assertIn("duress: the program was ended by SIGINT\n", errors)

    # ---- options handed over ---------------------------------------------------------------------

    def test_how_long_the_end_waits_for_threads(self):
        for time, option in (("0", "exit_wait=0"), ("250ms", "exit_wait=250"), ("2s", "exit_wait=2000")):
            result = self.run_target("options", options=["--exit-wait", time])
            self.assertIn(f":{option}\n", result.stdout)
        self.one_line(self.run_target("options", options=["--exit-wait", "soon"]), 2)

    def test_options_are_appended_to_the_users(self):
        result = self.run_target(
            "options",
            options=["-t", "FastTrack", "--halt", "--seed=7", "--volatile"],
            env={"DURESS_OPTIONS": "faithful=1"},
        )
        self.assertRegex(
            result.stdout,
            r"^faithful=1:log_dir=.*/\.duress/runs/[^:]+:chain=FastTrack:seed=7:halt=1" r":volatile=relaxed\n$",
        )

    def test_dir(self):
        result = self.run_target("options", "field", options=["--dir", "records"])
        self.assertIn("/records/runs/", result.stdout)
        runs = os.listdir(os.path.join(self.folder.name, "records", "runs"))
        self.assertEqual(len(runs), 1)
        self.run_target("0", options=["--dir", "records"])  # nothing found: nothing kept
        self.assertEqual(os.listdir(os.path.join(self.folder.name, "records", "runs")), runs)

    # ---- text ------------------------------------------------------------------------------------

    def test_text(self):
        text = self.run_target("field", "field-again").stderr
        self.assertRegex(text, r"^/project/src/cache\.cc:88:9: warning: data race on Cache::size_ \[R-[0-9a-f]{4}\]\n")
        self.assertIn("  T2 'evictor' writes  Cache::evict()  cache.cc:88  holds mu\n", text)
        self.assertIn("  T1           reads   Cache::get()    cache.cc:41  holds nothing\n", text)
        self.assertIn("  in a heap block of 40 bytes, at offset 8, allocated by T0\n", text)
        self.assertRegex(text, r"    #0 app::make_node\(\)  \S*fake_target\.cc:\d+")
        self.assertIn("  T2 'evictor' was created by T0\n", text)
        self.assertIn("  seen 1 more time\n", text)
        self.assertTrue(text.endswith("duress: 1 data race, seed 1\n"), text)

    def test_names_of_globals_and_heap_blocks(self):
        text = self.run_target("global", "heap").stderr
        self.assertIn("data race on hits [", text)
        self.assertRegex(
            text, r"data race on heap block of 40 bytes from app::make_node\(\) \(fake_target\.cc:\d+\) \["
        )

    def test_library_frames_are_folded_unless_verbose(self):
        text = self.run_target("inlined").stderr
        self.assertIn("cache.cc:45:3: warning", text)
        self.assertIn("… 1 library frame, called as push_back()", text)
        self.assertNotIn("stl_vector.h", text)
        self.assertIn("stl_vector.h:1200", self.run_target("inlined", options=["-v"]).stderr)

    def test_other_kinds_of_binary(self):
        text = self.run_target("global", target=os.path.join(ARGS.targets, "fake_target_no_pie")).stderr
        self.assertIn("data race on hits [", text)
        self.assertIn("app::worker_loop()", text)
        text = self.run_target("field", target=os.path.join(ARGS.targets, "fake_target_stripped")).stderr
        self.assertIn("data race on Cache::size_ [", text)
        self.assertRegex(text, r"#1 fake_target_stripped\+0x[0-9a-f]+\n")

    def test_quiet_is_one_line_per_finding(self):
        self.assertEqual(self.run_target("field", "heap", options=["-q"]).stderr.count("\n"), 2)
        self.assertEqual(self.run_target("0", options=["-q"]).stderr, "")

    def test_crash_keeps_findings_and_passes_the_signal_on(self):
        result = self.run_target("field", "crash")
        self.assertEqual(result.returncode, 66)
        self.assertIn("data race on Cache::size_", result.stderr)
        self.assertRegex(
            result.stderr, r"duress: the program crashed: SIGSEGV at \S*fake_target\.cc:\d+(:\d+)? in T2 'evictor'\n"
        )
        self.assertEqual(self.run_target("crash").returncode, 128 + signal.SIGSEGV)

    def test_incomplete_stats_and_events(self):
        result = self.run_target("incomplete", "stat", "event", options=["--stats"])
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stderr.count("duress: incomplete: vfork\n"), 1)
        self.assertIn("duress: reads  41\n", result.stderr)
        self.assertIn("T1 write 0x10\n", result.stderr)

    def test_children_are_reported_with_their_process(self):
        result = self.run_target("fork", "field")
        self.assertEqual(result.returncode, 66)
        self.assertIn("duress: 1 data race, seed 1\n", result.stderr)
        self.assertIn("  seen 1 more time\n", result.stderr)

    # ---- bad logs --------------------------------------------------------------------------------

    def test_bad_lines_are_named_and_the_rest_is_kept(self):
        result = self.run_target("malformed", "field", "torn")
        self.assertEqual(result.returncode, 66)
        self.assertRegex(result.stderr, r"duress: warning: \S+\.jsonl:6: unreadable log line")
        self.assertEqual(result.stderr.count("unreadable"), 2)  # `torn` is followed by `end`: one bad line
        self.one_line(self.run_target("malformed", "5"), 125)  # nothing can be said of a run whose log is damaged

    def test_hostile_names_and_tables(self):
        result, document = self.document("evil", "cycle")
        self.assertNotIn("\033", result.stderr)
        self.assertIn("evil\\x1b[31m\\x0aname", result.stderr)
        self.assertIn("evil\033[31m\nname", [race["variable"] for race in document["races"]])

    # ---- JSON ------------------------------------------------------------------------------------

    def test_json_holds_to_the_schema(self):
        result, document = self.document(
            "field",
            "heap",
            "global",
            "inlined",
            "free",
            "evil",
            "cycle",
            "incomplete",
            "stat",
            "malformed",
            "crash",
            options=["--stats", "--seed=9"],
        )
        self.assertEqual(result.returncode, 66)
        self.assertEqual(
            (document["schema"], document["command"], document["seed"], document["runs"]), ("duress/1", "run", 9, 1)
        )
        self.assertEqual(document["target"][0], self.target)
        self.assertEqual(document["incomplete"][0], "vfork")
        self.assertIn("the log of an execution is damaged", document["incomplete"][1])
        self.assertRegex(document["version"], r"^\d+\.\d+\.\d+$")
        self.assertGreaterEqual(document["seconds"], 0)
        race = [r for r in document["races"] if r["variable"] == "Cache::size_" and r["kind"] == "write-read"][0]
        write, read = race["sites"]
        self.assertEqual(
            (
                write["file"],
                write["line"],
                write["column"],
                write["function"],
                write["access"],
                write["thread"],
                write["thread_name"],
                write["locks"],
            ),
            ("/project/src/cache.cc", 88, 9, "Cache::evict", "write", 2, "evictor", ["mu"]),
        )
        self.assertEqual((read["line"], read["function"], read["locks"]), (41, "Cache::get", []))
        self.assertEqual(write["stack"][1]["function"], "app::worker_loop")
        self.assertEqual(race["found_by"], ["FastTrack"])

    def test_no_findings_is_a_document_too(self):
        result, document = self.document("4")
        self.assertEqual(result.returncode, 4)
        self.assertEqual(document["races"], [])

    def test_ids_are_the_same_in_every_run(self):
        ids = {
            tuple(r["id"] for r in self.document("field", "field-other-line", "heap", "global")[1]["races"])
            for _ in range(3)
        }
        self.assertEqual(len(ids), 1)
        self.assertEqual(len(set(next(iter(ids)))), 3)  # two of the pairs are of one variable

    # ---- suppressions ----------------------------------------------------------------------------

    def write(self, name, text):
        with open(os.path.join(self.folder.name, name), "w", encoding="utf-8") as file:
            file.write(text)

    def test_suppressions(self):
        self.write("known.txt", "# known\nrace:^Cache::evict$\nrace:foo\n")
        result = self.run_target("field", "2", options=["--suppressions=known.txt"])
        self.assertEqual(result.returncode, 2)  # the program's own
        self.assertIn("duress: no data race found (1 suppressed), seed 1\n", result.stderr)
        self.assertIn("duress: suppression never used: race:foo (known.txt:3)\n", result.stderr)

    def test_unreadable_suppressions(self):
        self.write("bad.txt", "race:x\n\nnonsense\n")
        result = self.run_target("say", options=["--suppressions", "bad.txt"])
        self.one_line(result, 2)
        self.assertTrue(result.stderr.startswith("bad.txt:3: "), result.stderr)
        self.assertEqual(result.stdout, "")  # the program was not started
        self.one_line(self.run_target("say", options=["--suppressions", "missing.txt"]), 2)

    def test_printed_suppressions_hide_what_they_were_made_from(self):
        everything = ["field", "heap", "global", "inlined", "free"]
        self.assertEqual(self.run_target(*everything, options=["--print-suppressions=made.txt"]).returncode, 66)
        with open(os.path.join(self.folder.name, "made.txt"), encoding="utf-8") as file:
            self.assertRegex(file.read(), re.compile(r"^# R-[0-9a-f]{4}: data race on \S.*\nrace:", re.M))
        self.assertEqual(self.run_target(*everything, options=["--suppressions=made.txt"]).returncode, 0)

    # ---- the other commands ----------------------------------------------------------------------

    def test_help_list_version_cmake(self):
        for words in (["--help"], ["run", "--help"], ["list", "--help"], ["doctor", "--help"], ["cmake", "--help"]):
            result = self.duress(*words)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
        for command in ("run", "list", "doctor", "cmake"):
            self.assertIn(f"\n  {command}", self.duress("--help").stdout)
        self.assertRegex(self.duress("--version").stdout, r"^duress \d+\.\d+\.\d+\n$")
        self.assertIn("FastTrack", self.duress("list", "analyses").stdout)
        self.assertEqual(self.duress("list").returncode, 0)
        for kind in ("strategies", "models", "heuristics"):
            self.assertEqual(self.duress("list", kind).returncode, 0)
        path = self.duress("cmake").stdout.strip()
        self.assertTrue(os.path.isfile(path), path)

    def test_doctor_says_what_and_how(self):
        result = self.duress("doctor")
        self.assertIn(result.returncode, (0, 125))
        for line in re.findall(r"^(?:FAIL|warn) .*\n(.*)$", result.stdout, re.M):
            self.assertIn("fix: ", line)
        for words, text in ((["--fix"], "unexpected argument '--fix'"), (["--"], "no program behind '--'")):
            result = self.duress("doctor", *words)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn(text, result.stderr)
        result = self.duress("doctor", "/bin/true")
        self.assertEqual(result.returncode, 125)
        self.assertIn("is not instrumented", result.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--duress", required=True, type=os.path.abspath)
    parser.add_argument("--targets", required=True, type=os.path.abspath, help="folder of the fake targets")
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
