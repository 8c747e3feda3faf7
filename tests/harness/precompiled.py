# SPDX-License-Identifier: Apache-2.0
"""Headers that most test programs include, parsed once for each set of flags: compiling one then takes a quarter of the time."""
import fcntl
import hashlib
import os
import re
import subprocess

HEADERS = (
    "atomic",
    "cassert",
    "chrono",
    "condition_variable",
    "cstdio",
    "cstdlib",
    "cstring",
    "functional",
    "map",
    "memory",
    "mutex",
    "pthread.h",
    "shared_mutex",
    "stdexcept",
    "string",
    "thread",
    "unistd.h",
    "vector",
)
# Templates that the headers themselves use are instantiated once too: a third of the time of compiling a program.
PARSED_WITH = ("-fpch-instantiate-templates",)
# Flags that say nothing of how headers are parsed, by their beginnings.
OTHERS = ("-I", "-L", "-l", "-Wl,", "-shared", "-o", "-fuse-ld=")
# Macros of our own programs: no header of the library knows them.
OWN_MACRO = re.compile(r"-D(?!NDEBUG)[A-Z]\w*(=.*)?$")


def flags_for(command, folder, stamp=b""):
    """What to add to the command that compiles one C++ program. Nothing if the headers do not compile with its flags.

    command: compiler and flags, without sources; stamp: what else the compiler depends on."""
    command = [
        word
        for word in command
        if not OWN_MACRO.match(word)
        and not word.startswith(OTHERS)
        and os.path.splitext(word)[1] not in (".so", ".o", ".a")
    ]
    if "-include" in command or any(word.startswith(("-x", "-D", "-U")) for word in command):
        return []  # they may change what headers say
    key = hashlib.sha256(repr((command, HEADERS, PARSED_WITH)).encode() + stamp).hexdigest()[:16]
    made = folder / f"headers.{key}.pch"
    if not made.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / f"headers.{key}.lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not made.exists() and not parse(command, made):
                return []
    return ["-include-pch", str(made)]


def parse(command, made):
    partial = f"{made}.partial"
    text = "".join(f"#include <{name}>\n" for name in HEADERS)
    done = subprocess.run(
        [*command, *PARSED_WITH, "-x", "c++-header", "-", "-o", partial],
        input=text,
        text=True,
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        return False
    os.rename(partial, made)
    return True
