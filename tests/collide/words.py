# SPDX-License-Identifier: Apache-2.0
"""`duress collide` with wrong words and bad targets."""
import os
import shutil
import signal
import subprocess

from case import ARGS, CollideTest, TIMEOUT


class WordsTest(CollideTest):
    """Wrong words and bad targets: one line, and nothing is touched."""

    def one_line(self, result, code, text):
        self.assertEqual(result.returncode, code, result)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn(text, result.stderr)

    def test_wrong_use(self):
        for words, text in [
            ([], "no program given"),
            (["-p", "1", "--", "/bin/true"], "exclude each other"),
            (["-p", "abc"], "invalid process id 'abc'"),
            (["-p", "0"], "invalid process id '0'"),
            (["-p", "-1"], "invalid process id '-1'"),
            (["--overhead=lots", "--", "/bin/true"], "invalid overhead 'lots'; use 5%"),
            (["--overhead=101%", "--", "/bin/true"], "invalid overhead"),
            (["--overhead=-1%", "--", "/bin/true"], "invalid overhead"),
            (["--rate=fast", "--", "/bin/true"], "invalid rate 'fast'; use 100/s"),
            (["--duration=soon", "--", "/bin/true"], "invalid time 'soon'"),
            (["--duration=0", "--", "/bin/true"], "invalid time"),
            (["--delay=1h", "--", "/bin/true"], "invalid delay"),
            (["--hide=counter", "--", "/bin/true"], "unknown filter 'counter'; nearest: counters"),
            (["--colour", "--", "/bin/true"], "unknown option '--colour'"),
            (["--json=/nowhere/x", "--", "/bin/true"], "cannot write"),
            (["--suppressions=/nowhere/x", "--", "/bin/true"], "No such file"),
        ]:
            with self.subTest(words=words):
                self.one_line(self.collide(*words), 2, text)

    def test_cannot_start(self):
        self.one_line(self.collide("--", "./missing"), 125, "cannot start './missing': No such file or directory")
        self.one_line(self.collide("--", "/etc/passwd"), 125, "cannot start '/etc/passwd': Permission denied")

    def test_no_such_process(self):
        self.one_line(self.collide("-p", "4194304"), 125, "no process 4194304")

    def test_a_process_that_has_ended(self):
        child = subprocess.Popen(["/bin/true"])
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # a zombie until it is waited for
        self.one_line(self.collide("-p", str(child.pid)), 125, f"process {child.pid} has already ended")
        child.wait()

    def test_a_thread(self):
        with subprocess.Popen([self.program("counter.c")], stdout=subprocess.DEVNULL) as process:
            try:
                tasks = []
                while len(tasks) < 3:
                    tasks = sorted(map(int, os.listdir(f"/proc/{process.pid}/task")))
                self.one_line(
                    self.collide("-p", str(tasks[1])),
                    125,
                    f"{tasks[1]} is a thread of process {process.pid}: attach to {process.pid} instead",
                )
            finally:
                process.kill()

    def test_under_another_debugger(self):
        target = subprocess.Popen([self.program("counter.c")], stdout=subprocess.DEVNULL)
        debugger = subprocess.Popen([ARGS.duress, "collide", "-p", str(target.pid)], stderr=subprocess.DEVNULL)
        try:
            tracer = self.wait_until_traced(target)
            self.one_line(
                self.collide("-p", str(target.pid)), 125, f"process {target.pid} is already traced by process {tracer}"
            )
        finally:
            debugger.send_signal(signal.SIGTERM)
            debugger.wait()
            target.kill()
            target.wait()

    def test_no_right(self):
        if os.getuid() != 0 or shutil.which("setpriv") is None:
            self.skipTest("needs root, to be somebody else")
        os.chmod(self.folder, 0o777)
        result = subprocess.run(
            [
                "setpriv",
                "--reuid=65534",
                "--regid=65534",
                "--clear-groups",
                ARGS.duress,
                "collide",
                "-p",
                str(os.getpid()),
            ],
            cwd="/",
            text=True,
            capture_output=True,
            timeout=TIMEOUT,
        )
        if "cannot execute" in result.stderr or result.returncode in (126, 127):
            self.skipTest("the build folder is not for everybody")
        self.one_line(
            result, 125, f"not permitted to attach to process {os.getpid()}: run duress as its owner or as root"
        )

    def test_32_bit(self):
        # The head of a 32-bit program is enough: it is never started.
        path = os.path.join(self.folder, "old")
        with open(path, "wb") as file:
            file.write(b"\x7fELF\x01\x01\x01" + bytes(45))
        os.chmod(path, 0o755)
        self.one_line(self.collide("--", "./old"), 125, "./old is a 32-bit program; only 64-bit ones can be sampled")

    def test_help(self):
        result = self.collide("--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("Usage: duress collide [OPTIONS] (-- PROG ARGS | -p PID)", result.stdout)
