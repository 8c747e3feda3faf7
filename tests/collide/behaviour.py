# SPDX-License-Identifier: Apache-2.0
"""What a target does while `duress collide` samples it: silence where there is no race, and its own behaviour."""
import signal
import subprocess

from case import ARGS, CollideTest, FAST, TIMEOUT


class SilenceTest(CollideTest):
    """Memory that is shared as it should be."""

    def silent(self, *words):
        result, document = self.document(*FAST, "--", *words)
        self.no_race(result, document)
        return document

    def test_locked_atomic_and_read_only(self):
        for flags in (["-g", "-O0"], ["-g0", "-static"]):
            with self.subTest(flags=flags):
                self.silent(self.program("silent.cc", *flags), "6000")

    def test_stripped(self):
        self.silent(self.program("silent.cc", "-g0", strip=True), "6000")

    def test_one_thread(self):
        document = self.silent("/bin/ls", "/")
        self.assertEqual(document["collide"]["samples"], 0)


class BehaviourTest(CollideTest):
    """What the target does is what it does without us."""

    def test_code_and_output(self):
        for code in (0, 3):
            result = self.collide("--", "/bin/sh", "-c", f"echo out; echo err >&2; exit {code}")
            self.assertEqual((result.returncode, result.stdout), (code or 125, "out\n"))
            self.assertTrue(result.stderr.startswith("err\n"))
            self.assertIn("nothing was sampled", result.stderr)
            self.assertNotIn("no data race", result.stderr)

    def test_killed_by_a_signal(self):
        result = self.collide("--", "/bin/sh", "-c", "kill -SEGV $$")
        self.assertEqual(result.returncode, 128 + signal.SIGSEGV)
        self.assertIn("duress: the program was ended by SIGSEGV\n", result.stderr)

    def test_own_traps(self):
        # A program with breakpoints of its own, handled and not.
        result = self.collide("--", "/bin/sh", "-c", "trap 'echo trapped' TRAP; kill -TRAP $$; echo after")
        self.assertEqual((result.returncode, result.stdout), (125, "trapped\nafter\n"))
        result = self.collide("--", "/bin/sh", "-c", "kill -TRAP $$")
        self.assertEqual(result.returncode, 128 + signal.SIGTRAP)

    def test_forks_libraries_signals_and_exec(self):
        program = self.program("family.c")
        alone = subprocess.run([program, "20"], text=True, capture_output=True, timeout=TIMEOUT, check=False)
        result, document = self.document(*FAST, "--", program, "20")
        self.assertEqual((alone.returncode, alone.stdout), (9, result.stdout), result.stderr)
        self.no_race(result, document, code=9)

    def test_children_are_sampled(self):
        result, document = self.document(
            "--halt", *FAST, "--", "/bin/sh", "-c", self.program("counter.c") + " & wait $!"
        )
        self.assertEqual(result.returncode, 66, result)
        self.assertIn("in process ", result.stderr)
        self.assertEqual(document["races"][0]["variable"], "counter")

    def test_time_is_up(self):
        result, document = self.document("--duration=1s", "--overhead=0", "--", self.program("counter.c"))
        self.assertEqual(result.returncode, 124, result)
        self.assertEqual(document["collide"]["samples"], 0)

    def test_interrupt_is_passed_on(self):
        process = subprocess.Popen(
            [
                ARGS.duress,
                "collide",
                "--",
                "/bin/sh",
                "-c",
                "trap 'echo got; exit 4' TERM; echo ready; while :; do sleep 0.05; done",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=TIMEOUT)
        self.assertEqual((process.returncode, output), (4, "got\n"))
