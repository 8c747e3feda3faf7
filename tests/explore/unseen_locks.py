#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Locks that Duress cannot see: a library built by gcc, in which threads spin. Nothing hangs, the program is not blamed, and what is
really wrong is found."""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent / "unseen"
# Of the library only a function without a lock is called.
UNUSED = """
#include <pthread.h>
void spin_unlock(volatile int* lock);
static int total;
static volatile int lock;
static void* add(void* unused) { total++; spin_unlock(&lock); return unused; }
int main(void) {
  pthread_t threads[2];
  // A number in an instruction that looks like a call of spin_lock.
  __asm__ volatile(".byte 0x48, 0xb8, 0xe8; .long spin_lock - . - 4; .byte 0, 0, 0" ::: "rax");
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], 0, add, 0);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  return 0;
}
"""
SPINS = "a thread that spins where it cannot be watched"


class UnseenLocksTest(harness.ToolTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="duress-unseen-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        library = f"{cls.folder}/spin.o"
        subprocess.run(["gcc", "-O2", "-c", str(HERE / "spin.c"), "-o", library], check=True)
        cls.program = f"{cls.folder}/main"
        build = [cls.tool.duress + "-cc", "-g", "-O1", "-pthread", str(HERE / "main.c"), library, "-o", cls.program]
        subprocess.run(build, check=True)

    def duress(self, *words):
        code, out, err = self.tool.run([self.tool.duress, *words], self.folder, b"", 120, None)
        return code, out.decode(), err.decode()

    def test_locks_that_are_right(self):
        for kind in ("spin", "exchange"):
            with self.subTest(kind=kind):
                code, out, err = self.duress("explore", "--runs", "20", "--", self.program, kind)
                self.assertEqual(code, 0, err)
                self.assertIn(f"incomplete: {SPINS}", err)

    def test_same_document_whatever_the_number_of_jobs(self):
        documents = []
        for jobs in ("1", "2"):
            code, out, err = self.duress("explore", "--runs", "20", "-j", jobs, "--json", "--", self.program, "spin")
            self.assertEqual(code, 0, err)
            document = json.loads(out)
            harness.valid(document)
            documents.append({key: document.get(key) for key in ("runs", "races", "failures", "incomplete")})
        self.assertEqual(documents[0], documents[1])

    def test_a_thread_without_the_lock_is_found(self):
        code, out, err = self.duress("explore", "--json", "--", self.program, "broken")
        self.assertEqual(code, 66, err)
        failure = json.loads(out)["failures"][0]
        self.assertEqual((failure["failure"], failure["replayed"]), ("assertion", True))

    def test_a_controlled_run_ends(self):
        code, out, err = self.duress("run", "--controlled", "--fail-on", "never", "--", self.program, "spin")
        self.assertEqual(code, 0, err)
        self.assertNotIn("did not start", err)

    def test_doctor_lists_them(self):
        code, out, err = self.duress("doctor", self.program, "broken")
        self.assertEqual(code, 0, err)
        listed = {line.split()[3] for line in out.splitlines() if line.startswith("warn  unseen lock")}
        self.assertEqual(listed, {"spin_lock()", "exchange_lock()"})

    def test_doctor_lists_those_of_a_stripped_program(self):
        stripped = f"{self.folder}/stripped"
        subprocess.run(["strip", self.program, "-o", stripped], check=True)
        code, out, err = self.duress("doctor", stripped, "broken")
        self.assertEqual(code, 0, err)
        listed = [line.split()[3:6] for line in out.splitlines() if line.startswith("warn  unseen lock")]
        self.assertEqual([words[:2] for words in listed], [["a", "function"]] * 2, out)

    def test_doctor_lists_libraries(self):
        library = f"{self.folder}/libspin.so"
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", str(HERE / "spin.c"), "-o", library], check=True)
        program = f"{self.folder}/with_library"
        build = [
            self.tool.duress + "-cc",
            "-g",
            "-O1",
            "-pthread",
            str(HERE / "main.c"),
            library,
            f"-Wl,-rpath,{self.folder}",
        ]
        subprocess.run([*build, "-o", program], check=True)
        code, out, err = self.duress("doctor", program, "broken")
        self.assertEqual(code, 0, err)
        listed = [line for line in out.splitlines() if line.startswith("warn  unseen lock")]
        self.assertEqual(len(listed), 1, out)
        self.assertIn("libspin.so: spin_lock(), unused_lock(), exchange_lock() have atomic instructions", listed[0])

    def test_a_program_without_any_has_confirmed_races(self):
        program = f"{self.folder}/unused"
        source = pathlib.Path(f"{self.folder}/unused.c")
        source.write_text(UNUSED)
        build = [self.tool.duress + "-cc", "-g", "-O1", "-pthread", str(source), f"{self.folder}/spin.o", "-o", program]
        subprocess.run(build, check=True)
        code, out, err = self.duress("run", "--controlled", "--json", "--", program)
        self.assertEqual(code, 66, err)
        document = json.loads(out)
        self.assertEqual({race.get("confirmed", True) for race in document["races"]}, {True})
        self.assertEqual([line for line in document["incomplete"] if "not instrumented" in line], [])

    def test_races_are_unconfirmed(self):
        code, out, err = self.duress("run", "--controlled", "--json", "--", self.program, "spin")
        self.assertEqual(code, 66, err)
        document = json.loads(out)
        harness.valid(document)
        self.assertEqual({race["confirmed"] for race in document["races"]}, {False})
        said = [
            line for line in document["incomplete"] if line.startswith("spin_lock(), exchange_lock(): not instrumented")
        ]
        self.assertEqual(len(said), 1, document["incomplete"])
        code, out, err = self.duress("run", "--controlled", "--", self.program, "spin")
        self.assertIn("  unconfirmed: spin_lock(), exchange_lock() may order the accesses", err)

    def test_seen_and_excluded_atomics_are_not_listed(self):
        # The second has functions that are not to be watched: its author has said so.
        for path in ("tests/explore/programs/cxx20_sync.cc", "examples/jumble/double_checked_locking.cc"):
            with self.subTest(path=path):
                code, out, err = self.duress("doctor", str(self.tool.compile(harness.ROOT / path)))
                self.assertEqual(code, 0, err)
                self.assertNotIn("unseen lock", out)

    def test_classify_confirms_only_what_it_brings_together(self):
        options = ["--runs", "5", "--no-advice", "--fail-on", "never", "--json"]
        for kind, confirmed in (("spin", False), ("broken", True)):
            with self.subTest(kind=kind):
                code, out, err = self.duress("classify", *options, "--", self.program, kind)
                self.assertEqual(code, 0, err)
                races = json.loads(out)["races"]
                self.assertTrue(races)
                self.assertEqual(any(race["confirmed"] for race in races), confirmed, races)

    def test_threads_that_spin_for_ever_end_in_time(self):
        options = ["--runs", "40", "--run-timeout", "2s", "--no-minimise"]
        code, out, err = self.duress("explore", *options, "--json", "--", self.program, "crossed")
        self.assertEqual(code, 66, err)
        self.assertEqual(json.loads(out)["failures"][0]["failure"], "no-end")


if __name__ == "__main__":
    harness.unit_tests(__doc__)
