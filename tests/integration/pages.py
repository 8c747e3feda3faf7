#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Man pages, shell completions in the shells themselves, and the problem matcher on what duress prints."""
import json
import os
import pathlib
import pty
import re
import select
import shutil
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness import project  # noqa: E402


def share():
    return project.BUILD / "share"


def command_names():
    text = project.run([project.tool(), "--help"], code=0)[1].split("Usage:")[1].split("duress COMMAND --help")[0]
    return re.findall(r"^  ([a-z]+)\b", text, re.M)


class PagesTest(project.ProjectTest):
    def test_a_page_for_each_command(self):
        pages = {path.name for path in (share() / "man/man1").iterdir()}
        for name in ("duress", "duress-cc", "duress-c++", *(f"duress-{c}" for c in command_names())):
            self.assertIn(f"{name}.1", pages)

    def test_pages_name_every_option(self):
        for name in command_names():
            text = project.run([project.tool(), name, "--help"], code=0)[1]
            page = (share() / f"man/man1/duress-{name}.1").read_text().replace("\\-", "-")
            for option in re.findall(r"^  (?:-\w,)?(--[\w-]+)", text, re.M):
                self.assertIn(f"\\fB{option}\\fR", page, name)

    def test_pages_are_well_formed(self):
        for page in sorted((share() / "man/man1").iterdir()):
            if shutil.which("mandoc"):
                code, out, err = project.run(["mandoc", "-T", "lint", "-W", "warning", page])
                # A page without a date is the same in every build.
                said = [line for line in (out + err).splitlines() if "missing date" not in line]
                self.assertEqual(said, [], page.name)
            done = project.run(
                ["man", "--warnings", "-l", page], env={"MANPAGER": "cat", "LC_ALL": "C.UTF-8", "MANWIDTH": "80"}
            )
            self.assertEqual((done[0], done[2]), (0, ""), page.name)
            self.assertIn(page.stem.upper(), done[1])

    # ---- completions, each by the shell itself ---------------------------------------------------

    def bash(self, *words):
        script = f"""source {share()}/bash-completion/completions/duress
COMP_WORDS=({' '.join(repr(w) for w in words)}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _duress; printf '%s\\n' "${{COMPREPLY[@]}}" """
        return project.run(["bash", "--norc", "-c", script], self.folder, code=0)[1].split()

    def keep_ids(self):
        """A record with findings and a fix, here and in a folder of its own."""
        for path in ("findings/R-12ab", "findings/F-34cd", "fixes/R-12ab"):
            for folder in (".duress", "other"):
                file = self.folder / folder / f"{path}{'9' if folder == 'other' else ''}.json"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text("{}")
        (self.folder / ".duress/findings/F-34cd.stdin").touch()

    def test_bash_completes_ids(self):
        self.keep_ids()
        self.assertEqual(set(self.bash("duress", "replay", "")), {"F-34cd", "R-12ab"})
        self.assertEqual(self.bash("duress", "replay", "R-"), ["R-12ab"])
        self.assertEqual(self.bash("duress", "pin", "F"), ["F-34cd"])
        self.assertEqual(self.bash("duress", "fix", ""), ["R-12ab"])
        self.assertEqual(self.bash("duress", "replay", "--dir", "other", "R-"), ["R-12ab9"])
        self.assertEqual(self.bash("duress", "replay", "--tr"), ["--trace"])

    def test_bash(self):
        self.assertEqual(self.bash("duress", "cla"), ["classify"])
        self.assertEqual(set(self.bash("duress", "")) - {"--help", "--version"}, set(command_names()))
        self.assertEqual(self.bash("duress", "classify", "--fail-on", "new"), ["new-destructive"])
        self.assertIn("--baseline", self.bash("duress", "test", "--b"))
        self.assertEqual(self.bash("duress", "run", "-t", "Fast"), ["FastTrack"])
        self.assertEqual(self.bash("duress", "run", "--color", "=", "al"), ["always"])
        self.assertEqual(self.bash("duress", "list", "ana"), ["analyses"])
        (self.folder / "program").touch()
        self.assertEqual(self.bash("duress", "run", "--", "pro"), ["program"])

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish(self):
        self.keep_ids()

        def complete(line):
            script = f"source {share()}/fish/vendor_completions.d/duress.fish; complete -C '{line}'"
            out = project.run(
                ["fish", "--no-config", "-c", script], self.folder, env={"HOME": str(self.folder)}, code=0
            )[1]
            return [entry.split("\t")[0] for entry in out.splitlines()]

        self.assertEqual(complete("duress replay R-"), ["R-12ab"])
        self.assertEqual(complete("duress fix R"), ["R-12ab"])
        self.assertEqual(complete("duress replay --dir other F-"), ["F-34cd9"])
        self.assertEqual(complete("duress cla"), ["classify"])
        self.assertTrue(set(command_names()) <= set(complete("duress ")))
        self.assertEqual(complete("duress classify --fail-on new"), ["new-destructive"])
        self.assertIn("--baseline", complete("duress test --b"))
        self.assertEqual(complete("duress run -t Fast"), ["FastTrack"])
        self.assertEqual(complete("duress list ana"), ["analyses"])

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh(self):
        """A real zsh at a terminal: types the line, presses Tab, and has the line that came of it printed."""
        (self.folder / ".zshrc").write_text(
            f"fpath=({share()}/zsh/site-functions $fpath)\nautoload -Uz compinit; compinit -u -D\nPS1='READY>'\n"
            "show() { print -r -- \"LINE<$BUFFER>\"; BUFFER=; zle accept-line }\nzle -N show\nbindkey '^X' show\n"
            "unsetopt beep\n"
        )

        def complete(line):
            pid, fd = pty.fork()
            if pid == 0:
                os.chdir(self.folder)
                env = {**project.environment(), "ZDOTDIR": str(self.folder), "TERM": "dumb", "COLUMNS": "200"}
                os.execvpe("zsh", ["zsh", "-i"], env)
            seen, sent, end = "", False, time.monotonic() + project.TIMEOUT
            while "LINE<" not in seen or ">" not in seen.split("LINE<")[1]:
                self.assertLess(time.monotonic(), end, seen)
                if select.select([fd], [], [], 1)[0]:
                    seen += os.read(fd, 4096).decode(errors="replace")
                if not sent and "READY>" in seen:
                    os.write(fd, f"{line}\t\x18".encode())
                    sent = True
            os.write(fd, b"exit\n")
            os.close(fd)
            os.waitpid(pid, 0)
            return re.search(r"LINE<([^>]*)>", seen)[1].strip()

        self.keep_ids()
        self.assertEqual(complete("duress replay R-"), "duress replay R-12ab")
        self.assertEqual(complete("duress replay --dir other F-"), "duress replay --dir other F-34cd9")
        self.assertEqual(complete("duress fix R"), "duress fix R-12ab")
        self.assertEqual(complete("duress cla"), "duress classify")
        self.assertEqual(complete("duress classify --fail-on new"), "duress classify --fail-on new-destructive")
        self.assertEqual(complete("duress test --basel").rstrip("="), "duress test --baseline")
        self.assertEqual(complete("duress run -t FastT"), "duress run -t FastTrack")

    def test_version(self):
        version = re.search(r"project\(duress VERSION ([\d.]+)", (project.ROOT / "CMakeLists.txt").read_text())[1]
        self.assertEqual(project.run([project.tool(), "--version"], code=0), (0, f"duress {version}\n", ""))
        # Loading LLVM would take twenty times as long as all the rest: only the commands have it.
        self.assertNotIn("LLVM", project.run([project.tool()], env={"LD_TRACE_LOADED_OBJECTS": "1"}, code=0)[1])

    def test_without_its_commands_it_says_so(self):
        (self.folder / "bin").mkdir()
        shutil.copy(project.tool(), self.folder / "bin/duress")
        self.one_line(project.run([self.folder / "bin/duress", "list"]), 125, "cannot start its commands")

    # ---- the problem matcher ---------------------------------------------------------------------

    def problems(self, text):
        matcher = json.loads((project.ROOT / "packaging/problem-matcher.json").read_text())["problemMatcher"][0]
        (pattern,) = matcher["pattern"]
        found = [re.match(pattern["regexp"], line) for line in text.splitlines()]
        return [
            {key: match[pattern[key]] for key in ("file", "line", "column", "severity", "message", "code")}
            for match in found
            if match
        ]

    def test_the_editors_pattern_is_the_same(self):
        tasks = json.loads((project.ROOT / "examples/ci/vscode-tasks.json").read_text())["tasks"]
        matcher = json.loads((project.ROOT / "packaging/problem-matcher.json").read_text())["problemMatcher"][0]
        self.assertEqual(tasks[0]["problemMatcher"]["pattern"], matcher["pattern"][0])

    def test_the_problem_matcher_finds_what_duress_prints(self):
        for name in ("bank", "dl"):
            project.run(
                [
                    project.tool("duress-c++"),
                    "-std=c++20",
                    "-g",
                    "-O1",
                    "-pthread",
                    project.ROOT / f"tests/integration/docs/{name}.cc",
                    "-o",
                    self.folder / name,
                ],
                code=0,
            )
        (self.folder / "size.cc").write_text(
            "#include <cstdlib>\n#include <thread>\nint size_;\nint main() {\n  std::thread other([] { size_ = 1; });\n"
            "  int seen = size_;\n  other.join();\n  if (seen != 0) std::abort();\n}\n"
        )
        (self.folder / "hits.cc").write_text(
            "#include <thread>\nint hits;\nint main() {\n  std::thread other([] { hits = hits + 1; });\n"
            "  hits = hits + 1;\n  other.join();\n}\n"
        )
        for name in ("size", "hits"):
            project.run(
                [project.tool("duress-c++"), "-std=c++20", "-g", "-O1", "-pthread", f"{name}.cc", "-o", name],
                self.folder,
                code=0,
            )
        for words, severity, code, message in (
            (["run", "--", "./bank"], "warning", "R-", "data race on balance"),
            (["classify", "--runs", "10", "--", "./size"], "error", "R-", "data race on size_ is DESTRUCTIVE"),
            (
                ["classify", "--runs", "5", "--test", "A.B", "--fail-on", "never", "--", "./hits"],
                "warning",
                "R-",
                "data race on hits: no harm found",
            ),
            (["verify", "--", "./bank"], "error", "R-", "data race on balance"),
            (["explore", "--", "./dl"], "error", "F-", "deadlock"),
        ):
            _, out, err = project.run([project.tool(), *words], self.folder)
            found = self.problems(out + err)
            self.assertTrue(found, (words, out, err))
            one = found[0]
            self.assertEqual(one["severity"], severity, words)
            self.assertTrue(one["code"].startswith(code) and one["message"].startswith(message), one)
            self.assertTrue(pathlib.Path(self.folder, one["file"]).exists(), one)
            self.assertGreater(int(one["line"]), 0)
            self.assertEqual(len({p["code"] for p in found}), len(found), "each finding once")
        self.assertEqual(self.problems("duress: 3 data races, seed 1\n  T1 writes  f()  a.cc:3  holds nothing\n"), [])


if __name__ == "__main__":
    project.main()
