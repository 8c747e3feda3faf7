#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`duress run` where only a part of the program is instrumented: a plugin in a program built by gcc, for which the runtime is preloaded; and
the reverse."""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

MAIN = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
int main(int count, char** arguments) {
  void* plugin = dlopen(arguments[1], RTLD_NOW);
  if (!plugin) return puts(dlerror()), 3;
  void* (*work)(void*) = (void* (*)(void*))dlsym(plugin, "w");
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  return count > 2 ? 7 : 0;
}
"""
RACY = "int shared; void* w(void* p) { shared++; return p; }"
LOCKED = """
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int shared;
void* w(void* p) { pthread_mutex_lock(&mutex); shared++; pthread_mutex_unlock(&mutex); return p; }
"""


class PluginsTest(harness.ToolTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="duress-plugins-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.build("gcc", "main", MAIN, "-pthread", "-ldl")
        cls.build(cls.tool.duress + "-cc", "instrumented", MAIN, "-pthread", "-ldl")
        for name, text in (("racy", RACY), ("locked", LOCKED)):
            cls.build(cls.tool.duress + "-cc", f"{name}.so", text, "-shared", "-fPIC")
            cls.build("gcc", f"plain_{name}.so", text, "-shared", "-fPIC")

    @classmethod
    def build(cls, compiler, name, text, *options):
        source = cls.folder / f"{name}.c"
        source.write_text(text)
        subprocess.run([compiler, "-g", "-O1", str(source), "-o", str(cls.folder / name), *options], check=True)

    def duress(self, *words, env=None):
        code, out, err = self.tool.run([self.tool.duress, "run", *words], str(self.folder), b"", 60, env)
        return code, out.decode(), err.decode()

    def test_race_of_a_plugin(self):
        """Its function has a name that, as a C++ one, would be the type wchar_t."""
        code, out, err = self.duress("--json", "--", "./main", "./racy.so")
        self.assertEqual(code, 66, err)
        document = json.loads(out)
        harness.valid(document)
        self.assertEqual({race["variable"] for race in document["races"]}, {"shared"})
        self.assertEqual([race["sites"][0]["function"] for race in document["races"]][0], "w")
        self.assertTrue(
            any("main is not instrumented" in line for line in document["incomplete"]), document["incomplete"]
        )

    def test_plugin_that_locks(self):
        code, out, err = self.duress("--", "./main", "./locked.so", "more")
        self.assertEqual(code, 7, err)
        self.assertIn("incomplete: main is not instrumented: only the instrumented libraries", err)
        self.assertIn("no data race found", err)

    def test_nothing_is_instrumented(self):
        code, out, err = self.duress("--", "./main", "./plain_racy.so")
        self.assertEqual(code, 125)
        self.assertEqual(err, "duress: ./main is not instrumented; build it with duress-cc or duress-c++\n")

    def test_the_reverse_is_said(self):
        code, out, err = self.duress("--", "./instrumented", "./plain_locked.so")
        self.assertEqual(code, 0, err)
        lines = [line for line in err.splitlines() if "plain_locked.so is not instrumented" in line]
        self.assertEqual(len(lines), 1, err)
        self.assertTrue(lines[0].startswith("duress: incomplete: "), err)

    def test_both_are(self):
        code, out, err = self.duress("--", "./instrumented", "./locked.so")
        self.assertEqual((code, "incomplete" in err), (0, False), err)

    def test_programs_that_it_starts(self):
        """They get no second runtime."""
        code, out, err = self.duress("--json", "--", "sh", "-c", "./instrumented ./racy.so; ./main ./locked.so")
        self.assertEqual(code, 66, err)
        self.assertEqual({race["variable"] for race in json.loads(out)["races"]}, {"shared"})


if __name__ == "__main__":
    harness.unit_tests(__doc__)
