#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of tests/programs, compiled with -fsanitize=thread by other compilers and linked by duress-c++.

`duress run` must find the races that their heads state, as it does in the programs that duress-c++ compiles. Such code
says nothing of variables: a global has its name from the symbol table, other memory is called after where it lies
(`heap block of 8 bytes from main()`, `stack of T0`); then the lines must be the stated ones.

--compiler may be repeated; one that is not installed is left out, with a line that says so.
"""
import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402
from harness import Failure  # noqa: E402

COMPILERS = {"gcc": ("gcc-12", "g++-12"), "clang14": ("clang-14", "clang++-14"), "clang19": ("clang-19", "clang++-19")}
# Racy and silent halves. What is not here looks into calls of the C library, uses C++ that the older compilers lack,
# or is about how the pass names things.
PROGRAMS = """
racy: abort after_main array_element array_range atomic_vs_plain barrier_bystander before_main bitfields
  broken_release_sequence c11_threads condition_without_mutex crash different_locks exit_threads_alive failed_trylock
  field fork_child fork_parent free global half_order heap_array inlined misaligned missing_join nested_field
  old_write overlap_union quick_exit read_write relaxed_publication same_sites_two_variables scoped_globals
  shared_readers_then_writer stack_variable static_local thread_local_leaked unjoined_thread use_after_free
  vector_element virtual_destructor volatile_flag write_under_read_lock
silent: annotation_free_queue annotations async atomic_ref atomic_sizes before_main bitfields_separated byte_neighbours
  c11_threads call_once condition_timedwait condition_variable detached_semaphore exceptions exit_threads_alive
  fork_joined function_static future_promise hand_over_hand heap_reuse join_main pipe pointer_publication
  pthread_barrier pthread_cancel pthread_exit pthread_keys pthread_rwlock pthread_spin read_only_then_written
  recursive_mutex relaxed_flag_fences release_sequence_rmw sem_t semaphore seq_cst_fence shared_mutex shared_ptr
"""
FAST = {"racy/global", "racy/heap_array", "silent/condition_variable", "silent/relaxed_flag_fences"}


def programs_module():
    path = harness.ROOT / "tests/programs/run.py"
    spec = importlib.util.spec_from_file_location("programs_run", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RUN = programs_module()
UNNAMED = re.compile(r"heap block of .*|stack of T\d+|thread-local memory of T\d+|0x[0-9a-f]+")


class Loose(RUN.Expected):
    """An expectation that memory without a name meets by its lines, and a part of a global by the global's name."""

    def matches_name(self, race):
        name = race["variable"]
        whole = re.split(r"\.|::|\[", self.text)[0]
        part = re.sub(r"\.\d+$", "", name)  # of a structure that the compiler took apart
        return super().matches_name(race) or UNNAMED.fullmatch(name) or part in (whole, self.text.split("::")[-1])


def paths():
    for line in re.sub(r"\n  ", " ", PROGRAMS).strip().splitlines():
        group, names = line.split(":")
        for name in names.split():
            yield next(p for p in (harness.ROOT / "tests/programs" / group).glob(f"{name}.c*"))


def compiled(program, compiler, level, tool, folder):
    """The program: an object by the compiler, linked by duress-cc or duress-c++."""
    is_c = program.path.suffix == ".c"
    source = [str(program.path), f"-I{harness.SUPPORT}", f"-I{harness.ROOT / 'include'}"]
    standard = "-std=c11" if is_c else "-std=c++20"
    driver = COMPILERS[compiler][0 if is_c else 1]
    binary = f"{folder}/{program.path.stem}"
    link = [str(tool.build / "bin" / ("duress-cc" if is_c else "duress-c++")), f"{binary}.o", "-o", binary, "-pthread"]
    for words in (
        [driver, "-fsanitize=thread", standard, level, "-g", *program.flags, *source, "-c", "-o", f"{binary}.o"],
        [*link, "-fuse-ld=lld", *(flag for flag in program.flags if flag.startswith("-l"))],
    ):
        done = subprocess.run(words, capture_output=True, text=True, env=tool.env, check=False)
        if done.returncode != 0:
            raise Failure(f"{' '.join(words)}\n{done.stderr}")
    return binary


def check(program, compiler, level, tool):
    with tempfile.TemporaryDirectory(prefix="duress-tsan-") as folder:
        command = [compiled(program, compiler, level, tool, folder), *program.args]
        RUN.check_inert(program, command, {}, tool)
        RUN.check_duress(program, command, {}, tool)


def loose(path):
    program = RUN.Program(path)
    for race in program.races:
        race.__class__ = Loose
    return program


def main():
    parser = harness.parser(__doc__)
    parser.add_argument("--compiler", choices=COMPILERS, action="append")
    parser.add_argument("--opt", action="append", help="-O0, -O2, ...; may be repeated", default=[])
    options = parser.parse_args()
    tool = harness.Tool(options.build, options.duress)
    found = [loose(path) for path in harness.chosen(paths(), options.programs)]
    if options.suite == "fast":
        found = [p for p in found if p.name().rsplit(".", 1)[0] in FAST]
    wanted = options.compiler or list(COMPILERS)
    there = [name for name in wanted if shutil.which(COMPILERS[name][1])]
    for name in sorted(set(wanted) - set(there)):
        print(f"skipped: {COMPILERS[name][1]} is not installed")
    harness.report(
        (f"{program.name()} {name} {level}", lambda p=program, n=name, at=level: check(p, n, at, tool))
        for name in there
        for program in found
        for level in options.opt or ["-O2"]
    )


if __name__ == "__main__":
    main()
