# SPDX-License-Identifier: Apache-2.0
"""Headers that most test programs include, parsed once for each set of flags: it halves the time of compiling one."""
import hashlib
import os
import subprocess
import threading

HEADERS = ("atomic", "cassert", "chrono", "condition_variable", "cstdio", "cstdlib", "cstring", "functional", "map", "memory",
           "mutex", "pthread.h", "shared_mutex", "stdexcept", "string", "thread", "unistd.h", "vector")
# Flags that say nothing of how headers are parsed, by their beginnings.
OTHERS = ("-I", "-L", "-l", "-Wl,", "-shared", "-o")
LOCK = threading.Lock()


def flags_for(command, folder, stamp=b""):
    """What to add to the command that compiles one C++ program. Nothing if the headers do not compile with its flags.

    command: compiler and flags, without sources; stamp: what else the compiler depends on."""
    if "-include" in command or any(word.startswith(("-x", "-D", "-U")) for word in command):
        return []  # they may change what headers say
    command = [word for word in command if not word.startswith(OTHERS) and not os.path.splitext(word)[1] in (".so", ".o", ".a")]
    key = hashlib.sha256(repr((command, HEADERS)).encode() + stamp).hexdigest()[:16]
    made = folder / f"headers.{key}.pch"
    with LOCK:
        if not made.exists():
            folder.mkdir(parents=True, exist_ok=True)
            partial = folder / f"headers.{key}.{os.getpid()}"
            text = "".join(f"#include <{name}>\n" for name in HEADERS)
            done = subprocess.run([*command, "-x", "c++-header", "-", "-o", str(partial)], input=text, text=True,
                                  capture_output=True)
            if done.returncode != 0:
                return []
            os.rename(partial, made)
    return ["-include-pch", str(made)]
