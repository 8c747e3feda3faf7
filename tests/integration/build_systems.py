#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Duress in other people's builds: an installed and moved prefix, CMake old and new, pkg-config, Meson, Bazel,
memcheck."""
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness import project  # noqa: E402

PROJECT = project.ROOT / "examples" / "fit"
NEW_CMAKE = ["cmake_3.31.6-2~bpo12+1_amd64.deb", "cmake-data_3.31.6-2~bpo12+1_all.deb"]  # bookworm-backports


def installed():
    """A prefix that was moved after it was installed: nothing may remember where it was."""
    prefix = project.BUILD / "tests" / "integration" / "moved prefix"
    stamp = repr(
        (
            project.stamp(),
            (project.BUILD / "bin/duress").stat().st_mtime_ns,
            (project.ROOT / "cmake/DuressConfig.cmake").read_bytes(),
        )
    )
    mark = prefix.parent / "prefix.stamp"
    if not mark.exists() or mark.read_text() != stamp:
        first = prefix.parent / "prefix"
        for folder in (prefix, first):
            shutil.rmtree(folder, ignore_errors=True)
        project.run(["cmake", "--install", project.BUILD, "--prefix", first], code=0)
        first.rename(prefix)
        mark.write_text(stamp)
    return prefix


def new_cmake():
    """A CMake that knows TEST_LAUNCHER: the system's, or Debian's backport unpacked into the build folder; or None."""
    version = project.run(["cmake", "--version"])[1].split()[2]
    if tuple(int(n) for n in version.split(".")[:2]) >= (3, 29):
        return pathlib.Path(shutil.which("cmake")).parent
    folder = project.BUILD / "tests" / "integration" / "cmake-3.31"
    if not (folder / "usr/bin/ctest").exists():
        partial = folder.with_name(f"cmake-3.31.{os.getpid()}")
        partial.mkdir(parents=True)
        try:
            for name in NEW_CMAKE:
                with urllib.request.urlopen(
                    f"http://deb.debian.org/debian/pool/main/c/cmake/{name}", timeout=60
                ) as answer:
                    (partial / name).write_bytes(answer.read())
                project.run(["dpkg", "-x", partial / name, partial], code=0)
        except OSError:
            shutil.rmtree(partial)
            return None
        shutil.rmtree(folder, ignore_errors=True)
        partial.rename(folder)
    return folder / "usr" / "bin"


class BuildSystemsTest(project.ProjectTest):
    def build(self, prefix, *options, cmake="cmake", toolchain=True):
        folder = self.folder / "out"
        shutil.rmtree(folder, ignore_errors=True)
        words = [cmake, "-S", PROJECT, "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}", *options]
        if toolchain:
            words.append("-DCMAKE_TOOLCHAIN_FILE=" + project.run([prefix / "bin/duress", "cmake"], code=0)[1].strip())
        project.run(words, code=0)
        project.run([cmake, "--build", folder], code=0)
        return folder

    def ctest(self, folder, *options, ctest="ctest"):
        code, out, err = project.run([ctest, "--test-dir", folder, "--output-on-failure", *options], self.folder)
        return code, out + err

    def check_ctest(self, folder, ctest="ctest"):
        """The case with the race fails, by the launcher, and says why."""
        code, out = self.ctest(folder, ctest=ctest)
        self.assertNotEqual(code, 0, out)
        self.assertRegex(out, r"Cache\.KeepsWhatIsPut \.+ +Passed")
        self.assertRegex(out, r"Cache\.IsCleared \.+\*+Failed")
        self.assertIn("data race on Cache::size_", out)
        self.assertIn("50% tests passed, 1 tests failed out of 2", out)

    def test_from_an_installed_prefix_that_was_moved(self):
        prefix = installed()
        folder = self.build(prefix)
        self.check_ctest(folder)
        # What was built has nothing of duress' build folder in it.
        for path in (
            "share/cmake/Duress/DuressConfig.cmake",
            "share/pkgconfig/duress.pc",
            "share/duress/duress-toolchain.cmake",
        ):
            self.assertNotIn(str(project.ROOT), (prefix / path).read_text())
        code, out, err = project.run(
            [prefix / "bin/duress", "test", folder, "-R", "IsCleared", "--runs", "10"], self.folder
        )
        self.assertEqual(code, 66, out + err)
        self.assertIn(" in Cache.IsCleared", out)

    def test_from_the_build_folder(self):
        self.check_ctest(self.build(project.BUILD))

    def test_with_another_compiler_they_are_plain_tests(self):
        folder = self.build(project.BUILD, "-DCMAKE_CXX_COMPILER=clang++-19", toolchain=False)
        code, out = self.ctest(folder)
        self.assertEqual(code, 0, out)

    def test_a_new_cmake(self):
        cmake = new_cmake()
        if cmake is None:
            self.skipTest("CMake 3.29 or newer is not to be had: neither installed nor in bookworm-backports")
        folder = self.build(project.BUILD, cmake=cmake / "cmake")
        self.check_ctest(folder, cmake / "ctest")
        self.assertNotIn("CROSSCOMPILING", (folder / "CTestTestfile.cmake").read_text())

    def test_the_launcher_is_silent_when_tests_are_listed(self):
        folder = self.build(project.BUILD)
        plain = project.run([folder / "cache_test", "--gtest_list_tests"], code=0)
        for command in ("run", "classify", "explore"):
            self.assertEqual(
                project.run([project.tool(), command, "--", folder / "cache_test", "--gtest_list_tests"], self.folder),
                plain,
            )
        self.assertFalse((self.folder / ".duress").exists())

    def test_an_unknown_launcher_is_refused(self):
        code, _, err = project.run(
            [
                "cmake",
                "-S",
                PROJECT,
                "-B",
                self.folder / "out",
                f"-DCMAKE_PREFIX_PATH={project.BUILD}",
                "-DCMAKE_CXX_COMPILER=" + project.tool("duress-c++"),
                "-DCACHE_DURESS_COMMAND=walk",
            ]
        )
        self.assertNotEqual(code, 0)
        self.assertIn("not 'walk'", err)

    def test_ctest_memcheck_shows_the_verdict_as_a_category(self):
        for command, options, category in (
            ("run", "", "data race"),
            ("classify", ";--runs;10", "data race, destructive"),
        ):
            folder = self.build(
                project.BUILD,
                f"-DCACHE_DURESS_COMMAND={command}",
                f"-DCACHE_DURESS_ARGS=--format=tsan{options}",
                "-DMEMORYCHECK_TYPE=ThreadSanitizer",
            )
            _, out = self.ctest(folder, "-T", "memcheck")
            self.assertRegex(out, rf"\n{category} - [1-9]", command)
            self.assertNotIn("data race - 0", out)
            logs = list(folder.glob("Testing/Temporary/MemoryChecker.*.log*"))
            texts = [path.read_text() for path in logs]
            self.assertTrue(
                any(f"SUMMARY: ThreadSanitizer: {category} " in text and "cache.h:" in text for text in texts), texts
            )

    def test_tsan_format(self):
        folder = self.build(project.BUILD)
        words = ["--format", "tsan", "--", folder / "cache_test", "--gtest_filter=Cache.IsCleared"]
        code, _, err = project.run([project.tool(), "run", *words], self.folder)
        self.assertEqual(code, 66, err)
        self.assertRegex(
            err,
            r"={18}\nWARNING: ThreadSanitizer: data race \(pid=\d+\)\n"
            r"  (Write|Read) of size 4 at 0x[0-9a-f]+ by (main thread|thread T1).*:\n    #0 Cache::\S+ /.*/cache.h:\d+:\d+ \(cache_test\+0x",
        )
        self.assertRegex(err, r"\n  Previous (write|read) of size 4 at 0x")
        self.assertRegex(err, r"\n  Thread T1 created by main thread at:\n    #0 ")
        self.assertRegex(err, r"\nSUMMARY: ThreadSanitizer: data race /.*/cache.h:\d+:\d+ in Cache::clear\n={18}\n")
        self.assertRegex(err, r"\nThreadSanitizer: reported [12] warnings\n")
        # log_path=P: to P.PID and nowhere else.
        code, _, err = project.run(
            [project.tool(), "run", *words],
            self.folder,
            env={"DURESS_OPTIONS": f"stats=1:log_path={self.folder}/log:seed=7"},
        )
        self.assertEqual(code, 66)
        self.assertNotIn("ThreadSanitizer", err)
        (log,) = self.folder.glob("log.*")
        self.assertRegex(log.name, r"^log\.\d+$")
        self.assertIn("WARNING: ThreadSanitizer: data race", log.read_text())
        code, out, _ = project.run([project.tool(), "classify", "--runs", "10", *words], self.folder)
        self.assertEqual(code, 66)
        self.assertIn("WARNING: ThreadSanitizer: data race, destructive (pid=", out)

    def test_pkg_config(self):
        if not shutil.which("pkg-config"):
            self.skipTest("pkg-config is not installed")
        prefix = installed()
        env = {"PKG_CONFIG_PATH": str(prefix / "share/pkgconfig")}
        ask = lambda *words: project.run(["pkg-config", *words, "duress"], env=env, code=0)[1].strip()
        self.assertEqual(ask("--modversion"), project.run([project.tool(), "--version"])[1].split()[1])
        self.assertEqual(
            pathlib.Path(ask("--variable=cxx").replace("\\ ", " ")).resolve(), (prefix / "bin/duress-c++").resolve()
        )
        flags = ask("--cflags").replace("\\ ", " ")[2:]
        self.assertTrue((pathlib.Path(flags) / "duress/annotate.h").exists(), flags)

    def test_meson(self):
        if not shutil.which("meson"):
            self.skipTest("meson is not installed")
        out = self.folder / "out"
        project.run(
            ["meson", "setup", out, PROJECT],
            env={"CC": project.tool("duress-cc"), "CXX": project.tool("duress-c++")},
            code=0,
        )
        project.run(["meson", "compile", "-C", out], code=0)
        code, text, _ = project.run(
            ["meson", "test", "-C", out, "--print-errorlogs", "--wrapper", f"{project.tool()} run --"]
        )
        self.assertNotEqual(code, 0, text)
        self.assertRegex(text, r"Cache\.KeepsWhatIsPut\s+OK")
        self.assertRegex(text, r"Cache\.IsCleared\s+FAIL")
        self.assertIn("data race on Cache::size_", text)

    def test_bazel(self):
        bazel = shutil.which("bazel") or shutil.which("bazel-real")
        if not bazel:
            self.skipTest("bazel is not installed (Debian's package is bazel-bootstrap)")
        try:
            socket.getaddrinfo("github.com", 443)
        except OSError:
            self.skipTest("bazel fetches its rules_cc from github.com, which cannot be reached")
        copy = self.folder / "project"
        shutil.copytree(PROJECT, copy)
        env = {"CC": project.tool("duress-cc"), "HOME": str(self.folder)}
        base = [bazel, f"--output_user_root={self.folder}/bazel"]
        code, out, err = project.run(
            [*base, "test", "--test_output=all", f"--run_under={project.tool()} run --", ":cache_test"], copy, env=env
        )
        project.run([*base, "shutdown"], copy, env=env)
        self.assertNotEqual(code, 0)
        self.assertIn("data race on Cache::size_", out + err)


if __name__ == "__main__":
    project.main()
