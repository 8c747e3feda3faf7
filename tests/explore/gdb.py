#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`duress replay --gdb` with a real gdb: where it stops, who is alive, back and forth between switches; and the same
through gdb's machine interface, as editors do it."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT = 300  # seconds: only a hang gets there


def line_of(name, part):
    """The line of that program's source that contains a text."""
    lines = (HERE / "gdb" / f"{name}.cc").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if part in line)


@unittest.skipUnless(shutil.which("gdb"), "gdb is not installed")
class GdbTest(harness.ToolTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="duress-gdb-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def find(self, name, *options):
        """Explores a program, and returns the id of its failure."""
        program = self.tool.compile(HERE / "gdb" / f"{name}.cc", level="-O0")
        code, _, err = self.tool.run([self.tool.duress, "explore", *options, "--", str(program)], self.folder)
        self.assertEqual(code, 66, err.decode())
        return re.search(r"F-[0-9a-f]+", err.decode())[0]

    def gdb(self, finding, *commands):
        """What gdb prints with these commands at its prompt."""
        code, out, err = self.tool.run(
            [self.tool.duress, "replay", finding, "--gdb"],
            self.folder,
            ("\n".join([*commands, "quit"]) + "\n").encode(),
            TIMEOUT,
        )
        self.assertEqual(code, 0, err)
        return out.decode(errors="replace") + err.decode(errors="replace")

    def test_stops_at_the_racing_access_with_both_threads_alive(self):
        out = self.gdb(
            self.find("account"), "print seen", "print account.balance", "duress threads", "continue", "continue"
        )
        write = line_of("account", "the racing write")
        self.assertRegex(
            out, rf"\[duress\] T\d is about to write .*balance at \S*account\.cc:{write}; T\d (read|wrote) it at"
        )
        self.assertIn("= 100", out)
        # Both have begun to deposit and have not ended.
        rows = [
            row
            for row in out.splitlines()
            if re.search(r"T[12].*deposit\(\) at account\.cc:\d+", row) and "gdb's" in row
        ]
        self.assertEqual(len(rows), 2, out)
        self.assertNotIn("has ended", out)
        self.assertRegex(out, r"T0 'main' .*main\(\) at account\.cc:\d+: waits for the end of T\d")
        self.assertIn("the program is about to end: exit code 1", out)

    def test_back_and_forth_between_switches(self):
        out = self.gdb(
            self.find("account"),
            *["duress next-switch"] * 2,
            "duress prev-switch",
            "duress prev-switch",
            "duress next-switch",
        )
        stops = re.findall(r"\[duress\] switch (\d+): (T\d) goes on", out)
        self.assertEqual(len(stops), 5, out)
        numbers = [int(number) for number, _ in stops]
        first = numbers[0]
        self.assertEqual(numbers, [first, first + 1, first, first - 1, first], out)
        self.assertEqual(stops[0], stops[2], "the same switch has the same thread")
        self.assertEqual(stops[0], stops[4])

    def test_there_is_nothing_before_the_first_switch(self):
        out = self.gdb(self.find("account"), *["duress prev-switch"] * 8)
        self.assertIn("[duress] switch 1: ", out)
        self.assertIn("there is no switch before this point", out)

    def test_a_deadlock_shows_who_waits_for_whom(self):
        out = self.gdb(self.find("locks"), "duress threads")
        self.assertIn("the program is about to end: deadlock", out)
        self.assertRegex(out, r"T1 .*forwards\(\) at locks\.cc:\d+: waits for mutex_b, held by T2; holds mutex_a")
        self.assertRegex(out, r"T2 .*backwards\(\) at locks\.cc:\d+: waits for mutex_a, held by T1; holds mutex_b")

    def test_a_stale_value_is_the_load_that_decides(self):
        out = self.gdb(self.find("flag", "--model", "rc11"), "bt 1", "continue")
        load = line_of("flag", "message.load")
        self.assertRegex(out, rf"T1 is about to read message at \S*flag\.cc:{load}; it gets 0, memory holds 42")
        self.assertIn("about to end: exit code 1", out)

    def test_an_id_that_is_not_there_is_one_line(self):
        code, out, err = self.tool.run([self.tool.duress, "replay", "F-0000", "--gdb"], self.folder)
        self.assertEqual((code, out, err.count(b"\n")), (2, b"", 1), err)

    def test_the_machine_interface(self):
        """As an editor does it: loads the script, gives the id, and speaks MI from then on."""
        finding = self.find("account")
        script = self.tool.build / "share/duress/gdb/duress.py"
        commands = [
            f'-interpreter-exec console "source {script}"',
            f'-interpreter-exec console "duress replay {finding}"',
            "-exec-run",
            "-thread-info",
            "-stack-list-frames",
            '-interpreter-exec console "duress next-switch"',
            '-interpreter-exec console "duress threads"',
            '-interpreter-exec console "duress prev-switch"',
            "-exec-continue",
            "-thread-info",
        ]
        out = self.machine_interface(commands)
        self.assertIn("T1", out)
        self.assertRegex(out, r'\*stopped,.*func="__duress_debugger_stop"')
        self.assertRegex(out, r'\^done,threads=\[.*id="3"')
        self.assertRegex(out, r'frame=\{[^}]*func="deposit"[^}]*line="\d+"')
        self.assertIn("goes on", out)
        self.assertRegex(out, r"T0 'main' .*main\(\) at account\.cc:\d+")
        self.assertIn("is about to end: exit code 1", out)
        self.assertNotIn("^error", out)

    def machine_interface(self, commands):
        """Each command is given when the one before has had its effect: a result, and a stop if it runs the program."""
        process = subprocess.Popen(
            ["gdb", "-q", "-nx", "-i=mi"],
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=self.tool.env,
        )
        self.addCleanup(process.stdout.close)
        seen = ""
        for number, command in enumerate(commands, 1):
            process.stdin.write(f"{number}{command}\n")
            process.stdin.flush()
            runs = command.startswith("-exec") or "-switch" in command
            result = stopped = False
            while not result or (runs and not stopped):
                line = process.stdout.readline()
                self.assertTrue(line, seen)
                seen += line
                result = result or bool(re.match(rf"{number}\^", line))
                stopped = stopped or line.startswith("*stopped") or bool(re.match(rf"{number}\^error", line))
        process.stdin.write("-gdb-exit\n")
        process.stdin.close()
        process.wait(TIMEOUT)
        return seen


if __name__ == "__main__":
    harness.unit_tests(__doc__)
