#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`duress collide` as a user meets it, on programs that GCC built.

Sampling is a matter of luck; these tests are not. A racy program runs until it is stopped, and --halt stops it at its
first race: a race that is never found is a test that never ends, and ctest ends it. Whatever is silent must be so in
every run, so any number of samples will do.
"""
import argparse
import filecmp
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

ARGS = None
PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
FAST = ["--rate=2000/s", "--delay=0.2ms"]  # many samples, whatever they cost
TIMEOUT = 200  # seconds: only a hang gets there


class CollideTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.built = {}

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="duress-collide-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def program(self, source, *flags, strip=False):
        """The path of a program built by GCC at -O2; -g unless `flags` say otherwise."""
        key = (source, flags, strip)
        if key not in self.built:
            work = pathlib.Path(ARGS.work)
            work.mkdir(parents=True, exist_ok=True)
            compiler = "g++" if source.endswith(".cc") else "gcc"
            words = [
                compiler,
                "-O2",
                "-pthread",
                *(["-std=c++20"] if compiler == "g++" else []),
                *(flags or ["-g"]),
                str(PROGRAMS / source),
            ]
            name = re.sub(r"[^\w.]", "", "".join([source, *flags])) + (".stripped" if strip else "")
            handle, path = tempfile.mkstemp(prefix=name + "-", dir=work)
            os.close(handle)
            subprocess.run([*words, "-o", path, "-ldl"], check=True)
            if strip:
                subprocess.run(["strip", path], check=True)
            final = str(work / name)
            # Classes run side by side: a program that another one runs must not be replaced below it.
            if os.path.exists(final) and filecmp.cmp(path, final, shallow=False):
                os.remove(path)
            else:
                os.replace(path, final)
            self.built[key] = final
        return self.built[key]

    def collide(self, *words, **more):
        return subprocess.run(
            [ARGS.duress, "collide", *words],
            cwd=self.folder,
            text=True,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT,
            **more,
        )

    def document(self, *words):
        result = self.collide("--json=out.json", *words)
        with open(os.path.join(self.folder, "out.json"), encoding="utf-8") as file:
            document = json.load(file)
        harness.valid(document)
        self.assertEqual(document["command"], "collide")
        return result, document

    def first_race(self, *words):
        """Until a race is found; it, and the output. Threads that are held together can be caught together."""
        result, document = self.document("--halt", *FAST, *words)
        self.assertEqual(result.returncode, 66, result)
        self.assertGreaterEqual(len(document["races"]), 1, result.stderr)
        return document["races"][0], result

    def no_race(self, result, document, code=0):
        """No race, and that is said only if something was sampled: on a busy machine the target may end before."""
        sampled = document["collide"]["samples"] > 0
        self.assertEqual(result.returncode, code or (0 if sampled else 125), result)
        self.assertEqual(document["races"], [], result.stderr)
        self.assertIn("no data race found" if sampled else "nothing was sampled", result.stderr)

    def needs_watchpoints(self, document):
        if not document["collide"]["watchpoints"]:
            self.skipTest("no hardware watchpoints here")


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
            tracer = "0"
            while tracer == "0":
                with open(f"/proc/{target.pid}/status", encoding="utf-8") as file:
                    tracer = re.search(r"TracerPid:\s*(\d+)", file.read())[1]
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


class RacesTest(CollideTest):
    def test_counter(self):
        race, result = self.first_race("--", self.program("counter.c"))
        self.assertEqual(race["variable"], "counter")
        self.assertEqual(race["kind"], "write-write")
        self.assertEqual(race["found_by"], ["Collide"])
        self.assertEqual(race["category"], "counter")
        for site in race["sites"]:
            self.assertEqual((os.path.basename(site["file"]), site["function"]), ("counter.c", "bump"))
            self.assertEqual([frame["function"] for frame in site["stack"][:2]], ["bump", "work"])
            self.assertRegex(site["instruction"], r"^add qword ptr \[0x[0-9A-F]+\], 0x1$")
        self.assertEqual({site["thread"] for site in race["sites"]}, {1, 2})
        self.assertRegex(result.stderr, r"counter\.c:\d+:\d+: warning: data race on counter \[R-[0-9a-f]{4}\]\n")
        self.assertIn("looks like a statistics counter (--hide=counters)", result.stderr)

    def test_the_same_id_as_an_instrumented_build(self):
        race, _ = self.first_race("--", self.program("counter.c"))
        compiler = os.path.join(os.path.dirname(ARGS.duress), "duress-cc")
        path = os.path.join(self.folder, "counter")
        subprocess.run([compiler, "-O2", "-g", "-pthread", str(PROGRAMS / "counter.c"), "-o", path], check=True)
        subprocess.run(
            [ARGS.duress, "run", "--halt", "--json=run.json", "--", path],
            cwd=self.folder,
            text=True,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
        with open(os.path.join(self.folder, "run.json"), encoding="utf-8") as file:
            races = json.load(file)["races"]
        self.assertIn(
            (race["id"], "counter"),
            [(other["id"], other["variable"]) for other in races if other["kind"] == "write-write"] or races,
        )

    def test_field_of_a_heap_object(self):
        race, _ = self.first_race("--", self.program("cache.cc"))
        self.assertEqual(race["variable"], "Cache::size_")
        # What the other thread stored while the first was held may be what was there.
        self.assertIn(race["category"], ("race", "same-value"))

    def test_without_debug_information(self):
        # The symbol has a name; the instruction proves that no atomic is meant.
        race, _ = self.first_race("--", self.program("counter.c", "-g0"))
        self.assertEqual(race["variable"], "counter")
        self.assertEqual(race["sites"][0]["function"], "bump")

    def test_stripped_static_and_fixed(self):
        for flags in (["-g0"], ["-g0", "-static-pie"], ["-g0", "-static"], ["-g0", "-no-pie"]):
            with self.subTest(flags=flags):
                race, _ = self.first_race("--", self.program("counter.c", *flags, strip=True))
                self.assertRegex(race["variable"], "^0x[0-9a-f]+$")
                self.assertEqual(race["sites"][0]["file"], "")

    def test_kinds(self):
        program = self.program("kinds.c")
        # Which store is caught is a matter of the moment: one that changes nothing can be seen of any but the named one.
        for kind, categories in (
            ("flags", ("flag", "same-value")),
            ("names", ("special-name",)),
            ("state", ("race", "same-value")),
            ("same", ("same-value", "race")),
        ):
            with self.subTest(kind=kind):
                if kind == "same":
                    _, document = self.document("--rate=0/s", "--", "/bin/true")
                    self.needs_watchpoints(document)
                race, _ = self.first_race("--", program, kind)
                self.assertIn(race["category"], categories)

    def test_volatile_and_untyped_are_asked_for(self):
        race, _ = self.first_race("--volatile", "--", self.program("kinds.c"), "volatile")
        self.assertEqual((race["variable"], race["category"]), ("ready", "volatile"))
        race, _ = self.first_race("--untyped", "--", self.program("kinds.c", "-g0"), "state")
        self.assertEqual((race["variable"], race["category"]), ("state", "untyped"))

    def test_values_alone(self):
        race, result = self.first_race("--no-watchpoints", "--", self.program("counter.c"))
        self.assertEqual(result.stderr.count("no hardware watchpoints"), 1)
        self.assertEqual(race["variable"], "counter")
        self.assertIn(-1, [site["thread"] for site in race["sites"]])
        self.assertNotEqual(race["before"], race["after"])
        self.assertIn("only the value changed, the writer is not known", result.stderr)

    def test_suppressed(self):
        with open(os.path.join(self.folder, "known.txt"), "w", encoding="utf-8") as file:
            file.write("race:^counter$\n")
        result, document = self.document("--suppressions=known.txt", *FAST, "--", self.program("counter.c"), "0.5")
        self.assertEqual(result.returncode, 7, result)
        self.assertEqual(document["races"], [])

    def test_hidden(self):
        result, document = self.document("--hide=counters", *FAST, "--", self.program("counter.c"), "0.5")
        self.assertEqual(result.returncode, 7, result)
        self.assertEqual(document["races"], [])
        self.assertFalse(document["collide"]["categories"]["counter"]["shown"])

    def test_a_writer_that_ends_is_known(self):
        # A thread may write what is watched and be gone before anybody looks.
        _, document = self.document(*FAST, "--", self.program("brief.c"))
        self.needs_watchpoints(document)
        self.assertEqual([race for race in document["races"] if -1 in [site["thread"] for site in race["sites"]]], [])

    def test_quiet(self):
        result = self.collide("--halt", "-q", *FAST, "--", self.program("counter.c"))
        self.assertEqual(result.returncode, 66)
        self.assertRegex(result.stderr, r"^(\S+counter\.c:\d+:\d+: warning: data race on counter \[R-[0-9a-f]{4}\]\n)+$")


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
        tracer = subprocess.Popen(
            [ARGS.duress, "collide", "-p", str(self.process.pid), "--hide=all", "--overhead=0"],
            stderr=subprocess.PIPE,
            text=True,
        )
        traced = "0"
        while traced == "0":
            with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
                traced = re.search(r"TracerPid:\s*(\d+)", file.read())[1]
        tracer.send_signal(signal.SIGINT)
        _, errors = tracer.communicate(timeout=TIMEOUT)
        self.assertEqual(tracer.returncode, 125, errors)
        self.assertIn("nothing was sampled", errors)
        self.assertIsNone(self.process.poll())
        self.assertEqual(self.code(), before)

    def test_the_process_ends(self):
        tracer = subprocess.Popen(
            [ARGS.duress, "collide", "-p", str(self.process.pid), "--hide=all", "--overhead=0"],
            stderr=subprocess.PIPE,
            text=True,
        )
        traced = "0"
        while traced == "0":
            with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
                traced = re.search(r"TracerPid:\s*(\d+)", file.read())[1]
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


class DebianTest(CollideTest):
    """Debian's own binaries: the same output, byte for byte."""

    def test_compressors(self):
        source = os.path.join(self.folder, "data")
        with open(source, "wb") as file:  # some real bytes, some that do not compress
            size = 0
            for path in (sys.executable, ARGS.duress, "/usr/lib/x86_64-linux-gnu/libc.so.6"):
                data = pathlib.Path(path).read_bytes()[: 8 << 20]
                size += len(data)
                file.write(data)
        tried = 0
        for words in (
            ["pigz", "-p", "2"],
            ["zstd", "-T2", "-q"],
            ["pbzip2", "-p2"],
            ["xz", "-T2", "-1", "--block-size=1MiB"],
            ["lbzip2", "-n", "2"],
            ["plzip", "-n", "2", "-1", "-B", "1MiB"],
        ):
            if shutil.which(words[0]) is None or tried == ARGS.compressors:
                continue
            tried += 1
            with self.subTest(program=words[0]):
                packed = [
                    subprocess.run(
                        [*before, *words, "-c", source],
                        stdin=subprocess.DEVNULL,
                        capture_output=True,
                        timeout=TIMEOUT,
                        check=False,
                    )
                    for before in ([], [ARGS.duress, "collide", *FAST, "--"])
                ]
                self.assertEqual(packed[0].returncode, 0, packed[0].stderr)
                self.assertIn(packed[1].returncode, (0, 125), packed[1].stderr)  # 125: too short for a sample
                self.assertEqual(packed[0].stdout, packed[1].stdout)
                unpacked = subprocess.run(
                    [ARGS.duress, "collide", *FAST, "--", *words, "-d", "-c"],
                    input=packed[0].stdout,
                    capture_output=True,
                    timeout=TIMEOUT,
                    check=False,
                )
                self.assertIn(unpacked.returncode, (0, 125), unpacked.stderr)  # 125: too short for a sample
                self.assertEqual(unpacked.stdout, pathlib.Path(source).read_bytes())
        self.assertGreaterEqual(tried, 2)


def main():
    global ARGS
    parser = argparse.ArgumentParser()
    parser.add_argument("--duress", required=True)
    parser.add_argument("--work", required=True, help="folder for built programs")
    parser.add_argument("--times", type=int, default=100, help="how often ManyTest repeats each of its tests")
    parser.add_argument("--compressors", type=int, default=6, help="how many of them DebianTest runs")
    ARGS, rest = parser.parse_known_args()
    ARGS.duress, ARGS.work = os.path.abspath(ARGS.duress), os.path.abspath(ARGS.work)
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
