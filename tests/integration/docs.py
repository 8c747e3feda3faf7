#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command that README, guide and manual show is run, in the order of its page, in a folder of the page's own.

A command is a line of a fenced block that begins with `$ ` or with the name of a program below; what the block shows
after `$ echo $?` must be the code. A block whose first line is `// NAME` or `# NAME` is the file NAME. What a page
takes for granted (programs of its readers) is in GIVEN. Nothing may end with 2 (wrong use), 125 (Duress failed), 126 or
127.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness import project  # noqa: E402

ROOT = project.ROOT
PAGES = [
    "README.md",
    *sorted(
        str(p.relative_to(ROOT)) for d in ("guide", "manual", "tutorial") for p in (ROOT / "docs" / d).glob("*.md")
    ),
]
PAGES.remove("docs/guide/cluster.md")  # needs a Slurm: tests/slurm/manual.py runs it
PROGRAMS = r"\$ |duress |duress-c|CC=|cmake |ctest |sqlite3 |\./|build/bin/|gcc |g\+\+ |meson |valgrind "
FILE = re.compile(r"(?://|#) ([\w./-]+\.(?:cc|c|h|txt|json|yml|build|toml))$")

# What cannot run in a test, and why.
CANNOT = {
    "./demo.sh": "installs packages",
    "./test.sh": "runs this test",
    "CC=duress-cc CXX=duress-c++ ./configure && make": "a project of the reader's",
    "duress collide -p $(pidof server) --duration 60s --overhead 1%": "needs the right to trace, and a server",
    "duress collide -- ./server --port 8080": "a server does not end",
    "duress run -- ./rust_race": "the flags depend on the version of rustc: tests/tsan/rust.py",
    "CC=duress-cc bazel test --run_under='duress run --' :cache_test": "needs bazel; build_systems.py runs it where it is",
}

# Programs of the readers: name -> (source, compiler). A racy counter unless a page says more.
RACY = "examples/racefuzzer/figure1.cc"
GIVEN = {
    "README.md": {"double_checked_locking.cc": "examples/jumble/double_checked_locking.cc"},
    "docs/guide/classify.md": {"point.cc": "examples/jumble/double_checked_locking.cc"},
    "docs/guide/coverage.md": {"queue_test": RACY},
    "docs/guide/verify.md": {
        "readers": "bench/verify/programs/readers.cc",
        "writers": "tests/verify/programs/rf_writers.cc",
        "simple_sync.cc": "examples/jrf/simple_sync.cc",
        "unsafe_publication": "examples/jrf/unsafe_publication.cc",
        "lost_update": "tests/integration/docs/lost_update.cc",
        "if_ready": "tests/verify/programs/spurious_if.cc",
        "while_ready": "tests/verify/programs/spurious_while.cc",
        "peterson": "examples/herlihy_shavit/peterson.cc",
    },
    "docs/guide/report.md": {"point": "examples/jumble/double_checked_locking.cc"},
    "docs/guide/trace.md": {"prog": "examples/jumble/double_checked_locking.cc"},
    "docs/guide/explore.md": {"dl.cc": "tests/integration/docs/dl.cc", "queue_test": "tests/integration/docs/dl.cc"},
    "docs/guide/replay.md": {"bank": "tests/integration/docs/bank.cc"},
    "docs/guide/run.md": {"counter.cc": "tests/integration/docs/counter.cc"},
    "docs/guide/collide.md": {"counter.c": "tests/integration/docs/counter.c"},
}


def blocks(page):
    """(language, lines) of each fenced block."""
    inside, found = None, []
    for line in (ROOT / page).read_text().splitlines():
        if line.lstrip().startswith("```"):
            if inside is None:
                inside = (line.strip()[3:].strip(), [])
            else:
                found.append(inside)
                inside = None
        elif inside is not None:
            inside[1].append(line)
    return found


def commands(lines):
    """(command, shown after it) of a block; a line that ends with a backslash goes on."""
    out, i = [], 0
    while i < len(lines):
        line = lines[i].strip()
        i += 1
        if not re.match(PROGRAMS, line) or re.match(r"(duress:|\./\S+: error)", line):
            continue
        while line.endswith("\\") and i < len(lines):
            line = line[:-1] + lines[i].strip()
            i += 1
        command = re.sub(r"\s{2,}# .*$", "", line.removeprefix("$ ")).strip()
        out.append((command, lines[i].strip() if i < len(lines) else ""))
    return out


class DocsTest(project.ProjectTest):
    def shell(self, command, code=0):
        script = f"(exit {code})\n{command}"
        return subprocess.run(
            ["bash", "-c", script],
            cwd=self.folder,
            env=project.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=project.TIMEOUT,
            check=False,
        )

    def prepare(self, page):
        (self.folder / "build").symlink_to(project.BUILD)
        for name in ("examples", "docs"):
            (self.folder / name).symlink_to(ROOT / name)
        shutil.copy(ROOT / "examples/support/invisible_barrier.h", self.folder)
        for name, source in GIVEN.get(page, {}).items():
            if pathlib.Path(name).suffix:
                shutil.copy(ROOT / source, self.folder / name)
            else:
                project.run(
                    [
                        project.tool("duress-c++"),
                        "-std=c++20",
                        "-g",
                        "-O1",
                        "-pthread",
                        f"-I{ROOT}/examples/support",
                        ROOT / source,
                        "-o",
                        self.folder / name,
                    ],
                    code=0,
                )
        lists = self.folder / "CMakeLists.txt"  # of the reader's
        lists.write_text("cmake_minimum_required(VERSION 3.20)\nproject(p CXX)\nadd_executable(program p.cc)\n")
        (self.folder / "p.cc").write_text("int main() {}\n")

    def fill_in(self, page, command):
        """What a page can only show by example: an id, a token, a file with one."""
        if page.startswith("docs/tutorial/"):
            return re.sub(r"\b([RF])-1234\b", lambda match: self.last_finding(match[1]), command)
        if page != "docs/guide/replay.md":
            return command
        if not hasattr(self, "known"):
            done = self.shell("duress explore --json --points all --expect-exit 0 -- ./bank")
            self.known = self.document(done.stdout)["failures"][0]
            (self.folder / "bug.trail").write_text(self.known["replay"] + "\n")
        return re.sub(r"D1\.\S+…", self.known["replay"], command).replace("F-fb08", self.known["id"])

    def last_finding(self, letter):
        """An id of that kind in what the last command found."""
        self.assertEqual(self.shell("duress report --json last.json").returncode, 0)
        document = json.loads((self.folder / "last.json").read_text())
        return next(one["id"] for one in [*document["races"], *document.get("failures", [])] if one["id"][0] == letter)

    def run_page(self, page):
        self.prepare(page)
        ran, last = 0, 0
        for _, lines in blocks(page):
            match = FILE.match(lines[0]) if lines else None
            if match:
                path = self.folder / match[1]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("\n".join(lines) + "\n")
                continue
            for command, shown in commands(lines):
                if command in CANNOT:
                    continue
                done = self.shell(self.fill_in(page, command), last)
                if command == "echo $?":
                    self.assertEqual(done.stdout.strip(), shown, f"{page}: {command}")
                self.assertNotIn(done.returncode, (2, 125, 126, 127), f"{page}: {command}\n{done.stdout}{done.stderr}")
                last = done.returncode
                ran += 1
        return ran

    def test_what_cannot_run_is_shown_somewhere(self):
        shown = {command for page in PAGES for _, lines in blocks(page) for command, _ in commands(lines)}
        self.assertEqual(set(CANNOT) - shown, set())

    def test_the_pages_of_lists_and_the_lists_agree(self):
        kebab = lambda name: re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name.replace("+", "")).lower()
        for kind, without_page in (
            ("analyses", set()),
            ("strategies", {"free", "portfolio"}),
            ("models", {"sc", "both"}),
        ):
            names = [line.split()[0] for line in project.run([project.tool(), "list", kind], code=0)[1].splitlines()]
            folder = ROOT / "docs" / kind
            index = (folder / "README.md").read_text()
            pages = {p.stem for p in folder.glob("*.md")} - {"README"}
            for name in names:
                self.assertRegex(
                    index, rf"(?<![\w-]){re.escape(name)}(?![\w-])", f"docs/{kind}/README.md does not name {name}"
                )
            expected = {kebab(name) for name in names if name not in without_page}
            aliases = {"fast-track": "fasttrack", "velodrome": "velodrome"}
            self.assertEqual(pages, {aliases.get(name, name) for name in expected}, kind)

    def test_the_workflow_for_github_does_what_it_says(self):
        """Its steps on the example project: the second run, with the baseline of the first, passes."""
        shutil.copytree(ROOT / "examples/fit", self.folder / "project")
        self.folder = self.folder / "project"
        text = (ROOT / "examples/ci/github/duress.yml").read_text()
        steps = dict(re.findall(r"- name: (\w+)\n(?: +#.*\n)* +run: \|\n((?: {10}.*\n)+)", text))
        env = f"export CMAKE_PREFIX_PATH={project.BUILD}\n"
        self.assertEqual(self.shell(env + steps["Build"]).returncode, 0)
        (command,) = [line.strip() for line in steps["Races"].splitlines() if "duress test" in line]
        first = self.shell(command.replace("--json=new-races.json --baseline races.json", "--json=races.json"))
        self.assertEqual(first.returncode, 66, first.stdout + first.stderr)
        second = self.shell(command)
        self.assertEqual(second.returncode, 0, second.stdout + second.stderr)

    def test_links_lead_somewhere(self):
        for page in PAGES:
            for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", (ROOT / page).read_text()):
                if "://" not in target:
                    self.assertTrue(((ROOT / page).parent / target).exists(), f"{page}: {target}")

    def test_every_command_is_in_the_readme_and_has_help(self):
        readme = (ROOT / "README.md").read_text()
        names = re.findall(
            r"^  ([a-z]+)\b", project.run([project.tool(), "--help"], code=0)[1].split("duress COMMAND --help")[0], re.M
        )
        self.assertGreater(len(names), 10)
        for name in names:
            self.assertIn(f"duress {name}", readme, f"README.md does not name duress {name}")
            self.assertIn(
                "sage: duress " + name if name != "trace" else "duress trace",
                project.run([project.tool(), name, "--help"], code=0)[1],
            )


def page_test(page):
    def test(self):
        ran = self.run_page(page)
        expected = sum(
            1
            for _, lines in blocks(page)
            if not (lines and FILE.match(lines[0]))
            for command, _ in commands(lines)
            if command not in CANNOT
        )
        self.assertEqual(ran, expected)

    return test


for one in PAGES:
    setattr(DocsTest, "test_page_" + re.sub(r"\W", "_", one.removesuffix(".md")), page_test(one))


if __name__ == "__main__":
    project.main()
