#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`duress explore` and `duress replay` as a user meets them: wrong use, odd programs, exit codes, one line per
error."""
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

slow = unittest.skipIf("fast" in sys.argv, "takes seconds")
HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"


class UseTest(harness.ToolTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="duress-use-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.odd = str(self.tool.compile(HERE / "odd.cc"))

    def duress(self, *words, stdin=b"", env=None, timeout=120):
        code, out, err = self.tool.run([self.tool.duress, *words], self.folder, stdin, timeout, env)
        return code, out.decode(errors="replace"), err.decode(errors="replace")

    def explore(self, *program, options=(), **more):
        return self.duress("explore", *options, "--", *program, **more)

    def document(self, *program, options=(), **more):
        code, out, err = self.explore(*program, options=["--json", *options], **more)
        self.assertTrue(out, err)
        return code, json.loads(out)

    def one_line(self, result, code, *words):
        self.assertEqual(result[0], code, result)
        self.assertEqual(result[1], "", result)
        self.assertEqual(result[2].count("\n"), 1, result[2])
        self.assertTrue(result[2].startswith("duress: "), result[2])
        for word in words:
            self.assertIn(word, result[2])

    def token(self, *program):
        code, document = self.document(*(program or (self.odd, "race")))
        self.assertEqual(code, 66, document)
        return document["failures"][0]["replay"]

    # ---- tokens ----------------------------------------------------------------------------------

    def test_garbage_is_no_token(self):
        for garbage in (
            "garbage",
            "D1",
            "D1.",
            "D1..",
            "D1.odd",
            "F-",
            "F-xyz",
            "D1.odd.",
            "....",
            "D.odd.AAAA",
            "@",
            "\x01\xff",
            "D99999999999999999999.odd.AAAA",
            "x" * 100000,
        ):
            with self.subTest(garbage=garbage[:30]):
                self.one_line(self.duress("replay", garbage, "--", self.odd, "race"), 2)

    def test_damaged_token(self):
        token = self.token()
        for damaged in (token[:-1], token[:-4], token + "A", token.replace(token[-8], "!", 1), token[:20]):
            with self.subTest(damaged=damaged):
                self.one_line(self.duress("replay", damaged, "--", self.odd, "race"), 2)

    def test_token_of_another_version(self):
        other = re.sub(r"^D\d+\.", "D99.", self.token())
        self.one_line(self.duress("replay", other, "--", self.odd, "race"), 2, "version 99")

    def test_token_of_another_program(self):
        other = str(self.tool.compile(PROGRAMS / "abba.cc"))
        self.one_line(self.duress("replay", self.token(), "--", other), 2, "odd", "abba")

    def test_token_needs_a_program(self):
        self.one_line(self.duress("replay", self.token()), 2)

    def test_token_with_other_arguments_says_that_it_diverged_or_passed(self):
        code, _, err = self.duress("replay", self.token(), "--", self.odd, "fine")
        self.assertEqual(code, 0, err)
        self.assertIn("did not fail", err)

    def test_unknown_id_and_missing_file(self):
        self.one_line(self.duress("replay", "F-0000"), 2, "F-0000")
        self.one_line(self.duress("replay", "@nowhere.trail", "--", self.odd), 2, "nowhere.trail")
        self.one_line(self.duress("replay"), 2)

    def test_token_of_a_missing_program(self):
        token = self.token()
        self.one_line(self.duress("replay", token, "--", "./none/odd", "race"), 125)

    def test_id_knows_its_program(self):
        code, _, err = self.explore(self.odd, "race")
        self.assertEqual(code, 66, err)
        name = re.search(r"\[(F-[0-9a-f]+)\]", err)[1]
        code, _, err = self.duress("replay", name)
        self.assertEqual(code, 66, err)
        self.assertIn(name, err)

    def test_token_in_a_file(self):
        token = self.token()
        with open(f"{self.folder}/bug.trail", "w", encoding="utf-8") as file:
            file.write(f"# a line for people\n{token}\n")
        code, _, err = self.duress("replay", "@bug.trail", "--", self.odd, "race")
        self.assertEqual(code, 66, err)

    # ---- wrong use -------------------------------------------------------------------------------

    def test_wrong_use(self):
        for words in (
            ["explore"],
            ["explore", "--"],
            ["explore", "--strategy", "nosuch", "--", self.odd],
            ["explore", "--strategy", "replay", "--", self.odd],
            ["explore", "--runs", "0", "--", self.odd],
            ["explore", "--runs", "many", "--", self.odd],
            ["explore", "--runs", "-1", "--", self.odd],
            ["explore", "--time", "soon", "--", self.odd],
            ["explore", "--time", "0", "--", self.odd],
            ["explore", "--points", "some", "--", self.odd],
            ["explore", "--backend", "green", "--", self.odd],
            ["explore", "--nosuch", "--", self.odd],
            ["explore", "--model", "weak", "--", self.odd],
            ["explore", "--model", "stale", "--", self.odd],
            ["explore", "--heuristic", "Oldest", "--", self.odd],
            ["explore", "--model", "rc11", "--heuristic", "nosuch", "--", self.odd],
            ["run", "--model", "rc11", "--", self.odd],
            ["run", "--controlled", "--model", "future", "--", self.odd],
            ["explore", "--expect-output", "missing", "--", self.odd],
            ["explore", "--json=missing/out.json", "--", self.odd],
            ["replay", "--times", "0", "D1.x.y", "--", self.odd],
        ):
            with self.subTest(words=words):
                self.one_line(self.duress(*words), 2)

    # ---- memory models ---------------------------------------------------------------------------

    def test_one_controlled_run_with_weak_atomics(self):
        program = str(self.tool.compile(PROGRAMS / "rc11_message.cc"))
        codes = {}
        for model in ("sc", "rc11"):
            options = ["--controlled", "--model", model] + (["--heuristic", "Oldest"] if model == "rc11" else [])
            runs = [
                [self.duress("run", *options, "--seed", str(seed), "--", program)[0] for seed in range(40)]
                for _ in range(2)
            ]
            self.assertEqual(runs[0], runs[1])  # the same seed, the same run
            codes[model] = set(runs[0])
        self.assertEqual(codes["sc"], {0})
        self.assertEqual(codes["rc11"], {0, 128 + signal.SIGABRT})

    def test_the_report_says_what_was_stale(self):
        program = str(self.tool.compile(PROGRAMS / "rc11_message.cc"))
        code, _, err = self.explore(program, options=["--model", "rc11"])
        self.assertEqual(code, 66, err)
        self.assertRegex(err, r"T2 reads stale 0 from message \(newest 42\)  \S*rc11_message.cc:\d+")
        self.assertIn("with sequentially consistent memory 200 schedules pass", err)
        name = re.search(r"\[(F-[0-9a-f]+)\]", err)[1]
        code, out, err = self.duress("replay", name, "--trace")
        self.assertEqual(code, 66, err)
        self.assertIn("message → 0 (stale, newest 42)", out)

    def test_a_failure_of_any_model_needs_no_stale_value(self):
        code, document = self.document(self.odd, "race", options=["--model", "rc11"])
        self.assertEqual(code, 66, document)
        self.assertEqual(document["failures"][0]["model"], "rc11")
        self.assertEqual(document["failures"][0]["stale"], 0)

    # ---- programs that cannot be explored ---------------------------------------------------------

    def test_missing_program(self):
        self.one_line(self.explore("./missing"), 125, "missing")
        self.one_line(self.explore("no-such-command-anywhere"), 125, "no-such-command-anywhere")

    def test_not_a_program(self):
        with open(f"{self.folder}/text", "w", encoding="utf-8") as file:
            file.write("hello\n")
        self.one_line(self.explore("./text"), 125, "text")
        os.chmod(f"{self.folder}/text", 0o755)
        self.one_line(self.explore("./text"), 125, "text")
        self.one_line(self.explore(self.folder), 125)

    def test_uninstrumented_program(self):
        plain = str(self.tool.compile(HERE / "odd.cc", compiler=["clang++-19"]))
        self.one_line(self.explore(plain, "race"), 125, "not instrumented", "duress-c++")
        self.one_line(self.explore("/bin/true"), 125, "not instrumented")
        token = self.token()
        self.one_line(self.duress("replay", token, "--", plain, "race"), 125, "not instrumented")

    def test_never_reaches_main(self):
        self.one_line(self.explore(self.odd, env={"ODD_EARLY": "exit"}), 125, "exit code 5")
        self.one_line(self.explore(self.odd, env={"ODD_EARLY": "crash"}), 125, "SIGSEGV")

    @slow
    def test_hangs_before_main(self):
        options = ["-q", "--run-timeout", "1s"]
        self.one_line(self.explore(self.odd, env={"ODD_EARLY": "hang"}, options=options), 125, "main")

    # ---- odd programs ----------------------------------------------------------------------------

    def test_no_thread_and_exit_at_once(self):
        for words in ((self.odd, "no-thread"), (self.odd,), (self.odd, "exit", "0")):
            with self.subTest(words=words[1:]):
                code, _, err = self.explore(*words)
                self.assertEqual(code, 0, err)
                self.assertIn("no thread", err)
                _, document = self.document(*words)
                self.assertEqual(document["failures"], [])
                self.assertLess(document["runs"], 100)

    def test_fails_at_once(self):
        code, document = self.document(self.odd, "exit", "3")
        self.assertEqual((code, document["failures"][0]["failure"]), (66, "exit:3"))
        code, _ = self.document(self.odd, "exit", "3", options=["--expect-exit", "3"])
        self.assertEqual(code, 0)

    @slow
    def test_prints_megabytes(self):
        code, document = self.document(self.odd, "megabytes", "3")
        self.assertEqual((code, document["failures"][0]["failure"]), (66, "assertion"))
        token = document["failures"][0]["replay"]
        code, out, err = self.duress("replay", token, "--", self.odd, "megabytes", "3")
        self.assertEqual(code, 66, err[-2000:])
        self.assertEqual(len(out), 3 << 20)

    @slow
    def test_megabytes_are_said(self):
        code, _, err = self.explore(self.odd, "megabytes", "20", options=["--runs", "20"])
        self.assertEqual(code, 66, err[-2000:])
        self.assertIn("MiB", err)

    @slow
    def test_daemon(self):
        file = f"{self.folder}/pids"
        code, _, err = self.explore(self.odd, "daemon", file, options=["--runs", "20"])
        self.assertEqual(code, 0, err)
        self.assertRegex(err, "left .*process")
        pids = []
        if os.path.exists(file):
            with open(file, encoding="utf-8") as text:
                pids = [int(line) for line in text]
        for pid in pids:
            self.assertFalse(os.path.exists(f"/proc/{pid}"), "a daemon lives on")

    @slow
    def test_thousand_threads(self):
        many = str(self.tool.compile(PROGRAMS / "many_threads.cc"))
        code, document = self.document(many, "1000", options=["--runs", "3"])
        self.assertEqual((code, document["runs"]), (0, 3))

    @slow
    def test_input_reaches_every_run_and_its_replay(self):
        code, document = self.document(self.odd, "input", stdin=b"2\n")
        self.assertEqual((code, document["failures"][0]["failure"]), (66, "assertion"))
        code, _, err = self.duress("replay", document["failures"][0]["replay"], "--", self.odd, "input", stdin=b"2\n")
        self.assertEqual(code, 66, err)
        self.assertNotIn("diverged", err)
        code, _ = self.document(self.odd, "input", stdin=b"7\n", options=["--runs", "100"])
        self.assertEqual(code, 0)

    # ---- oracles ---------------------------------------------------------------------------------

    @slow
    def test_check_and_expected_output(self):
        code, document = self.document(self.odd, "output", options=["--check", "grep -q 'was 2'"])
        self.assertEqual((code, document["failures"][0]["failure"]), (66, "check"))
        with open(f"{self.folder}/wanted", "w", encoding="utf-8") as file:
            file.write("the last was 2\n")
        code, document = self.document(self.odd, "output", options=["--expect-output", "wanted"])
        self.assertEqual((code, document["failures"][0]["failure"]), (66, "output"))
        code, _ = self.document(self.odd, "output", options=["--check", "true", "--runs", "100"])
        self.assertEqual(code, 0)

    # ---- the search itself -----------------------------------------------------------------------

    @slow
    def test_doctor_says_how_executions_are_performed(self):
        state = str(self.tool.compile(HERE / "kernel_state.cc"))
        code, out, err = self.duress("doctor", state, "memory")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"ok    rollback +[5-9] of [0-9]+ executions were undone in their process")
        code, out, err = self.duress("doctor", "--", state, "umask")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"slow  rollback +0 of 8 .*system call 95 cannot be undone")

    def test_out_of_time(self):
        code, _, err = self.explore(self.odd, "fine", options=["--time", "1s"])
        self.assertEqual(code, 124, err)

    def test_ids_of_runs_without_end_say_who_runs(self):
        ids = []
        for how in ("wait-three", "wait-four", "wait-three"):
            code, _, err = self.explore(self.odd, how, options=["--runs", "1"])
            self.assertEqual(code, 66, err)
            ids.append(re.search(r"livelock.* \[(F-[0-9a-f]+)\]", err)[1])
        self.assertEqual(ids[0], ids[2])
        self.assertNotEqual(ids[0], ids[1])

    def test_out_of_time_in_a_check_without_end(self):
        pids = os.path.join(self.folder, "pids")
        check = f"sleep 100000 & echo $! >> {pids}; wait"
        code, _, err = self.explore(self.odd, "fine", options=["--time", "1s", "--check", check])
        self.assertEqual(code, 124, err)
        with open(pids) as file:
            for pid in file.read().split():
                self.assertFalse(os.path.exists(f"/proc/{pid}"), "the command of --check goes on")

    def test_out_of_time_when_the_server_is_stopped(self):
        code, _, err = self.explore(self.odd, "stop-parent", options=["--time", "1s"])
        self.assertEqual(code, 124, err)
        self.assertIn("no failure in 0 runs", err)

    @slow
    def test_interrupted_and_resumed(self):
        marks = os.path.join(self.folder, "marks")
        program = (self.odd, "fine", marks)
        process = subprocess.Popen(
            [self.tool.duress, "explore", "--runs", "1000000", "--", *program],
            cwd=self.folder,
            env=self.tool.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        # Runs count when their round is complete, and some are repeated: so many are more than the first rounds.
        while process.poll() is None and (not os.path.exists(marks) or os.path.getsize(marks) < 200):
            os.sched_yield()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=harness.TIMEOUT)
        self.assertEqual(process.returncode, 124, err)
        runs = int(re.search(r"no failure in (\d+) runs", err)[1])
        self.assertGreater(runs, 0)
        code, _, err = self.explore(*program, options=["--runs", "1000000", "--time", "1s"])
        self.assertEqual(code, 124, err)
        self.assertIn(f"resuming at run {runs + 1}", err)

    def test_pairs_that_were_brought_together_were_seen(self):
        """Of three pairs in the reports racefuzzer makes four: each of two reads meets each of two writes."""
        binary = str(self.tool.compile(PROGRAMS / "plain_wait.c", level="-O1"))
        code, _, err = self.explore(binary, options=["--runs", "500", "--seed", "3"])
        self.assertEqual(code, 0, err)
        seen, together = re.search(r"(\d+) racing access pairs seen, (\d+) brought together", err).groups()
        self.assertGreater(int(together), 0, err)
        self.assertGreaterEqual(int(seen), int(together), err)

    def test_first_line_is_a_compilers(self):
        binary = str(self.tool.compile(PROGRAMS / "account.cc"))
        code, _, err = self.explore(binary)
        self.assertEqual(code, 66, err)
        self.assertRegex(err.splitlines()[0], r"^[^ :]*account\.cc:\d+:\d+: error: .* \[F-[0-9a-f]{4,}\]$")
        self.assertRegex(err, r"(?m)^  replay: duress replay F-[0-9a-f]{4,}$")

    def test_deadlock_names_locks_holders_and_both_stacks(self):
        binary = str(self.tool.compile(PROGRAMS / "abba.cc"))
        code, document = self.document(binary)
        self.assertEqual(code, 66)
        stacks = document["failures"][0]["stacks"]
        waiting = [entry for entry in stacks if entry.get("operation") == "lock"]
        self.assertEqual(len(waiting), 2, stacks)
        self.assertEqual([entry["held_by"] for entry in waiting], [[waiting[1]["thread"]], [waiting[0]["thread"]]])
        for entry in waiting:
            self.assertTrue(any("transfer" in frame["function"] for frame in entry["stack"]), entry)

    def test_crash_is_shown_where_it_is_in_the_program(self):
        binary = str(self.tool.compile(PROGRAMS / "crash.cc"))
        for backend in ("fiber", "thread"):
            with self.subTest(backend=backend):
                code, document = self.document(binary, options=["--backend", backend])
                failure = document["failures"][0]
                self.assertEqual((code, failure["failure"]), (66, "signal:SIGSEGV"))
                self.assertTrue(failure.get("file", "").endswith("crash.cc"), failure)
                self.assertTrue(failure["replayed"])
                self.assertIn("crash", failure["stacks"][0]["stack"][0]["function"])

    def test_trace_has_a_column_per_thread(self):
        binary = str(self.tool.compile(PROGRAMS / "reorder.cc"))
        token = self.token(binary, "3")
        code, out, err = self.duress("replay", token, "--trace", "--", binary, "3")
        self.assertEqual(code, 66, err)
        self.assertIn("│", out)
        self.assertRegex(out, r"a = 1")


if __name__ == "__main__":
    harness.unit_tests(__doc__)
