# SPDX-License-Identifier: Apache-2.0
"""`duress collide -p`: a running process is sampled and left as it was."""
import os
import signal
import subprocess

from case import ARGS, CollideTest, FAST, TIMEOUT


class AttachTest(CollideTest):
    def setUp(self):
        super().setUp()
        self.process = subprocess.Popen([self.program("counter.c")], stdout=subprocess.DEVNULL)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        while len(os.listdir(f"/proc/{self.process.pid}/task")) < 3:
            pass

    def code(self):
        """All executable memory of the process."""
        result = []
        with open(f"/proc/{self.process.pid}/maps", encoding="utf-8") as maps:
            for line in maps:
                if " r-xp " in line and "/" in line:
                    begin, end = (int(word, 16) for word in line.split()[0].split("-"))
                    with open(f"/proc/{self.process.pid}/mem", "rb") as memory:
                        memory.seek(begin)
                        result.append(memory.read(end - begin))
        return result

    def tracer(self):
        """A `duress collide` that has attached to the process and takes no samples."""
        tracer = subprocess.Popen(
            [ARGS.duress, "collide", "-p", str(self.process.pid), "--hide=all", "--overhead=0"],
            stderr=subprocess.PIPE,
            text=True,
        )
        self.wait_until_traced(self.process)
        return tracer

    def test_found_and_left_as_it_was(self):
        before = self.code()
        for _ in range(5):
            race, _ = self.first_race("-p", str(self.process.pid))
            self.assertEqual(race["variable"], "counter")
            self.assertIsNone(self.process.poll())
            self.assertEqual(self.code(), before)
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
            self.assertIn("TracerPid:\t0\n", file.read())

    def test_duration_and_interrupt(self):
        before = self.code()
        result, document = self.document("-p", str(self.process.pid), "--duration=0.2s", "--overhead=0")
        self.assertEqual(result.returncode, 125, result)  # nothing was sampled
        self.assertEqual(document["collide"]["process"], self.process.pid)
        tracer = self.tracer()
        tracer.send_signal(signal.SIGINT)
        _, errors = tracer.communicate(timeout=TIMEOUT)
        self.assertEqual(tracer.returncode, 125, errors)
        self.assertIn("nothing was sampled", errors)
        self.assertIsNone(self.process.poll())
        self.assertEqual(self.code(), before)

    def test_the_process_ends(self):
        tracer = self.tracer()
        self.process.kill()
        _, errors = tracer.communicate(timeout=TIMEOUT)
        self.assertEqual(tracer.returncode, 125, errors)


class ManyTest(AttachTest):
    """Again and again."""

    test_found_and_left_as_it_was = test_duration_and_interrupt = test_the_process_ends = None

    def test_attached(self):
        before = self.code()
        for i in range(ARGS.times):
            result, document = self.document(
                "-p", str(self.process.pid), "--duration=0.05s", "--overhead=20%", f"--seed={i}"
            )
            self.assertIn(result.returncode, (0, 66, 125), result)  # 125: too short for a sample
            self.assertIsNone(self.process.poll())
            self.assertEqual(self.code(), before)

    def test_silent(self):
        program = self.program("silent.cc", "-g", "-O2")
        for i in range(ARGS.times):
            self.no_race(*self.document(*FAST, f"--seed={i}", "--", program, "300"))
