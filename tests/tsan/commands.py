#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The other commands on a program that g++ compiled with -fsanitize=thread and duress-c++ linked; what is mixed; what is
refused."""
import json
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402
from harness import expect  # noqa: E402

SKIPPED = 77
LOST_UPDATE = """#include <cassert>
#include <thread>
int counter;
int main() {
  std::thread other([] { ++counter; });
  ++counter;
  other.join();
  assert(counter == 2);
}
"""
MIXED = """#include <thread>
extern void by_other_compiler();
int shared_counter;
int main() {
  std::thread other(by_other_compiler);
  ++shared_counter;
  other.join();
}
"""
OTHER = "extern int shared_counter;\nvoid by_other_compiler() { ++shared_counter; }\n"


class Case:
    """A folder, and what runs in it."""

    def __init__(self, tool):
        self.tool = tool
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="duress-tsan-"))

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def run(self, *words, code=0):
        got, out, err = self.tool.run(words, self.folder)
        text = (out + err).decode(errors="replace")
        expect(code is None or got == code, f"{' '.join(map(str, words))} ended with {got}, expected {code}\n{text}")
        return text

    def gcc(self, *words):
        return self.run("g++-12", "-fsanitize=thread", "-g", "-O1", "-std=c++20", *words)

    def link(self, *words, code=0):
        return self.run(str(self.tool.build / "bin/duress-c++"), *words, "-pthread", code=code)

    def duress(self, *words, code=0):
        return self.run(self.tool.duress, *words, code=code)

    def document(self):
        return json.loads((self.folder / "report.json").read_text())


def lost_update(tool):
    case = Case(tool)
    case.write("lost.cc", LOST_UPDATE)
    case.gcc("-c", "lost.cc")
    case.link("lost.o", "-o", "lost")
    return case


def explore_and_replay(tool):
    case = lost_update(tool)
    text = case.duress("explore", "--seed", "1", "-j", "1", "--", "./lost", code=66)
    found = re.search(r"assertion `counter == 2' failed \[(F-\w+)\]", text)
    expect(found, text)
    token = re.search(r"token: (\S+)", text)[1]
    for _ in range(3):
        again = case.duress("replay", token, "--trace", "--", "./lost", code=66)
        expect("counter == 2" in again and ":5 counter written" in again, again)


def verify(tool):
    case = lost_update(tool)
    text = case.duress("verify", "--json=report.json", "--", "./lost", code=66)
    document = case.document()
    expect(document["complete"] and document["interleavings"] == 4, text)
    expect({race["variable"] for race in document["races"]} == {"counter"}, text)


def classify(tool):
    case = lost_update(tool)
    text = case.duress("classify", "--seed", "1", "--json=report.json", "--", "./lost", code=66)
    document = case.document()
    expect([race["verdict"] for race in document["races"]] == ["destructive"] * len(document["races"]), text)
    expect(text.count("values cannot be replaced there") == 1, text)


def trace(tool):
    case = lost_update(tool)
    case.duress("trace", "record", "-o", "lost.trace", "--", "./lost", code=None)
    text = case.duress("trace", "analyze", "-t", "FastTrack", "lost.trace", code=66)
    expect("data race on counter" in text and "lost.cc:5" in text and "lost.cc:6" in text, text)


def mixed(tool):
    """An object of each compiler, and a shared library."""
    for shared in (False, True):
        case = Case(tool)
        case.write("main.cc", MIXED)
        case.write("other.cc", OTHER)
        case.gcc("-fPIC", "-c", "other.cc")
        other = ["other.o"]
        if shared:
            case.link("-shared", "other.o", "-o", "libother.so")
            other = ["libother.so", "-Wl,-rpath,."]
        case.link("-g", "-std=c++20", "main.cc", *other, "-o", "mixed")
        text = case.duress("run", "--", "./mixed", code=66)
        expect("data race on shared_counter" in text and "other.cc:2" in text and "main.cc:6" in text, text)


def refused(tool):
    """ThreadSanitizer's own runtime beside ours: by its option, as a file, in a library."""
    case = lost_update(tool)
    compilers = {"g++-12": "libtsan.a", "clang++-19": "libclang_rt.tsan-x86_64.a"}
    files = [case.run(name, f"-print-file-name={file}").strip() for name, file in compilers.items()]
    for word in ["-ltsan", "libtsan.so", *files]:
        text = case.link("lost.o", word, "-o", "twice", code=1)
        expect(f"error: {word}: ThreadSanitizer's own runtime cannot be in one program" in text, text)
        expect(text.count("\n") == 1, text)
    case.write("other.cc", "int other() { return 1; }\n")
    case.gcc("-fPIC", "-shared", "other.cc", "-Wl,--no-as-needed", "-o", "libother.so")  # needs libtsan.so
    case.link("lost.o", "-Wl,--no-as-needed", "libother.so", "-Wl,-rpath,.", "-Wl,--allow-shlib-undefined", "-o", "two")
    text = case.duress("run", "--", "./two", code=125)
    expect("is linked with libtsan" in text, text)


def unknown_hook(tool):
    """The linker's error, then one line with all names and what to do, by whichever linker."""
    case = Case(tool)
    hooks = "__tsan_hook_of_tomorrow", "__sanitizer_hook_of_tomorrow"
    case.write("new.cc", "".join(f'extern "C" void {hook}();\nvoid by{hook}() {{ {hook}(); }}\n' for hook in hooks))
    case.write("main.cc", "int main() {}\n")
    case.gcc("-fPIC", "-c", "new.cc")
    case.link("-shared", "new.o", "-o", "libnew.so")
    for objects in (["new.o"], ["-Wl,--no-as-needed", "./libnew.so"]):
        for linker in ("bfd", "gold", "lld"):
            text = case.link("main.cc", *objects, f"-fuse-ld={linker}", "-o", "new", code=1)
            last = text.splitlines()[-1]
            expect(last.startswith("duress-c++: error: ") and "please report" in last, text)
            expect(all(hook in last for hook in hooks) and text.count("please report") == 1, text)
    # Not ours: an error of the user's own, and a hook of another sanitizer.
    for name in ("__other", "__sanitizer_cov_trace_pc"):
        case.write("new.cc", f'extern "C" void {name}();\nint main() {{ {name}(); }}\n')
        text = case.link("new.cc", "-o", "new", code=1)
        expect("please report" not in text and name in text, text)


def other_version(tool):
    """An object of a duress-c++ with other hooks: when it is linked, if it calls one that is gone; else when it runs."""
    case = Case(tool)
    case.write(
        "old.cc", 'extern "C" void __duress_hook_of_yesterday();\nint main() { __duress_hook_of_yesterday(); }\n'
    )
    text = case.link("old.cc", "-o", "old", code=1)
    last = text.splitlines()[-1]
    expect("__duress_hook_of_yesterday: an object was built with another version of duress-cc" in last, text)
    case.write("main.cc", MIXED)
    case.write("other.cc", OTHER)
    case.link("-g", "-std=c++20", "-c", "main.cc", "other.cc")
    for name in ("main.o", "other.o"):
        path = case.folder / name
        (case.folder / f"old_{name}").write_bytes(re.sub(rb"(?s)DURS..", b"DURS\x01\x00", path.read_bytes(), count=1))
    for objects in (["main.o", "old_other.o"], ["old_main.o", "other.o"], ["old_main.o", "old_other.o"]):
        case.link(*objects, "-o", "mixed")
        case.run("./mixed")  # by itself
        for command in (["run"], ["explore", "--runs", "2"]):
            text = case.duress(*command, "--", "./mixed", code=125)
            expect("another version of duress" in text and text.count("\n") == 1, text)


def annotations(tool):
    """What programs tell ThreadSanitizer about themselves: a right and a wrong half (-DWRONG) each."""
    for path in sorted((pathlib.Path(__file__).resolve().parent / "programs").glob("*.cc")):
        name = re.search(r"^// WRONG: (.*)$", path.read_text(), re.MULTILINE)[1]
        for wrong in (False, True):
            case = Case(tool)
            case.gcc(*(["-DWRONG"] if wrong else []), "-c", str(path), "-o", "half.o")
            case.link("half.o", "-o", "half")
            case.run("./half")  # by itself
            text = case.duress("run", "--", "./half", code=66 if wrong else 0)
            expect(not wrong or f"data race on {name} " in text, text)


def main():
    options = harness.parser(__doc__).parse_args()
    if not shutil.which("g++-12"):
        print("skipped: g++-12 is not installed")
        sys.exit(SKIPPED)
    tool = harness.Tool(options.build, options.duress)
    cases = [explore_and_replay, verify, classify, trace, mixed, refused, unknown_hook, other_version, annotations]
    wanted = [case for case in cases if not options.programs or case.__name__ in options.programs]
    harness.report((case.__name__, lambda case=case: case(tool)) for case in wanted)


if __name__ == "__main__":
    main()
