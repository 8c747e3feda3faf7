# SPDX-License-Identifier: Apache-2.0
"""Commands of gdb for an execution that Duress recorded. `duress replay ID --gdb` loads this file; an editor does it with

    source /usr/share/duress/gdb/duress.py
    duress replay ID

before it starts the program. Every run is the recorded execution: the runtime inside the program follows it, and calls
the function __duress_debugger_stop where we want to stop (src/runtime/debugger.h)."""
import json
import pathlib
import re
import shlex
import subprocess

import gdb

PREFIX = pathlib.Path(__file__).resolve().parents[3]  # gdb forgets __file__ when the file is loaded
STOP = "__duress_debugger_stop"
AT_STEP, AT_SWITCH, AT_END = 1, 2, 3
OWN = ("__duress_", "duress::", "__tsan_")  # functions of the runtime
SYSTEM = ("/lib", "/usr/lib", "/usr/include")  # libraries, and the code of theirs in headers
WAITS = {
    "lock": "waits for {object}",
    "read lock": "waits for {object}",
    "once": "waits for {object}",
    "wait": "waits on condition {object}",
    "acquire": "waits on semaphore {object}",
    "barrier": "waits at barrier {object}",
    "futex wait": "waits on {object}",
    "sleep": "sleeps",
    "system call": "waits in a system call",
}


def own_program():
    """`duress`, beside which this file is installed."""
    found = PREFIX / "bin" / "duress"
    return str(found) if found.exists() else "duress"


def speaks_to_editor():
    """Whether this gdb was started with its machine interface."""
    words = pathlib.Path("/proc/self/cmdline").read_text().split("\0")
    return any(re.match(r"(--?(i|interpreter)=)?mi\d?$", word) for word in words)


def number(name):
    """A variable of the runtime, which may have no debug information."""
    return int(gdb.parse_and_eval(f"*(unsigned long *)&{name}"))


def symbol_at(address):
    """The name that lies at an address: "mutex_a", "account+16"; the address itself if there is none."""
    text = gdb.execute(f"info symbol {address:#x}", to_string=True)
    return text.split(" in section ")[0].replace(" ", "") if " in section " in text else f"{address:#x}"


def in_runtime(pc):
    """Whether that is code of the runtime, which stands in for functions of the C library; not known if it is stripped."""
    try:
        begin, end = (int(gdb.parse_and_eval(f"(unsigned long)&duress_text_{name}")) for name in ("begin", "end"))
    except gdb.error:
        return False
    return begin <= pc < end


def is_users(frame):
    """Whether a frame belongs to the program's own code."""
    name, place = frame.name() or "", frame.find_sal().symtab
    if place is None or name.startswith(OWN) or in_runtime(frame.pc()):
        return False
    library = gdb.solib_name(frame.pc()) or ""
    return not library.startswith(SYSTEM) and not place.fullname().startswith(SYSTEM)


def users_frame():
    """The innermost frame of the program's own code in the selected thread, or None."""
    frame = gdb.newest_frame()
    while frame is not None:
        if is_users(frame):
            return frame
        frame = frame.older()
    return None


def place_of(frame):
    if frame is None:
        return "outside of the program's own code"
    line = frame.find_sal()
    return f"{frame.name()}() at {pathlib.Path(line.symtab.filename).name}:{line.line}"


class Replay:
    """The execution that this gdb runs."""

    def __init__(self, words):
        command = [own_program(), "replay", "--for-gdb", *words]
        self.server = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        line = self.server.stdout.readline()
        if not line:
            message = self.server.stderr.read().strip()
            raise gdb.GdbError(message or "duress ended without a word")
        self.about = json.loads(line)
        self.breakpoint = None
        self.prepare("step" if self.about["step"] else "failure")
        program, *arguments = self.about["target"]
        self.set_up(program, arguments)

    def set_up(self, program, arguments):
        folder = pathlib.Path(self.about["folder"])
        # A name with a slash is a path below the folder; else it is looked for in PATH, as a shell does.
        if "/" in program:
            gdb.execute(f"file {shlex.quote(str(folder / program))}", to_string=True)
        else:
            found = subprocess.run(
                ["sh", "-c", 'command -v "$0"', program], capture_output=True, text=True, check=False
            )
            gdb.execute(f"file {shlex.quote(found.stdout.strip() or program)}", to_string=True)
        gdb.execute(f"cd {folder}", to_string=True)
        gdb.execute(f"set args {shlex.join(arguments)} < {shlex.quote(self.about['input'])}")
        # What gdb and shells add to the environment would move the program's stack.
        for name in ("LINES", "COLUMNS"):
            gdb.execute(f"unset environment {name}")
        # System calls that the runtime traps, and its timers; they reach the program as always.
        gdb.execute("handle SIGSYS SIGPROF SIGVTALRM nostop noprint pass", to_string=True)
        gdb.execute("set breakpoint pending on")
        gdb.execute("set confirm off")  # a replay is repeated, not lost
        gdb.execute("set print thread-events off")
        # An editor has to be told of the stop as of any other; at a terminal our own line is enough.
        editor = speaks_to_editor()
        self.breakpoint = gdb.Breakpoint(STOP, internal=not editor)
        self.breakpoint.silent = not editor

    def ask(self, request):
        self.server.stdin.write(request + "\n")
        self.server.stdin.flush()
        line = self.server.stdout.readline()
        if not line:
            raise gdb.GdbError("duress has ended; give 'duress replay' again")
        return json.loads(line)

    def prepare(self, request):
        """The next run follows the execution from its start, and stops there."""
        for name, value in self.ask(request).items():
            gdb.execute(f"set environment {name} = {value}")


CURRENT = None


def current():
    if CURRENT is None:
        raise gdb.GdbError("no execution; give 'duress replay ID' first")
    return CURRENT


def alive():
    current()
    if gdb.selected_inferior().pid == 0:
        raise gdb.GdbError("the program does not run; 'run' starts the execution again")


def thread_list():
    """What the runtime knows of the threads. The call must not let the other threads run."""
    alive()
    before = gdb.parameter("scheduler-locking")
    gdb.execute("set scheduler-locking on")
    try:
        text = gdb.parse_and_eval("((const char *(*)(void))__duress_debugger_threads)()")
        return json.loads(text.string())
    finally:
        gdb.execute(f"set scheduler-locking {before}")


def label(thread):
    name = thread["name"]
    return f"T{thread['strand']}" + (
        f" '{name}'" if name and thread["strand"] else " 'main'" if not thread["strand"] else ""
    )


def waiting_text(thread):
    if thread["state"] == "ended":
        return "has ended"
    if thread["state"] != "blocked":
        return "runs" if thread["running"] else "can go on"
    if thread["op"] == "join":
        return f"waits for the end of T{thread['joins']}"
    text = WAITS.get(thread["op"], "waits: " + thread["op"]).format(object=symbol_at(int(thread["object"], 16)))
    return text + (f", held by T{thread['held_by']}" if "held_by" in thread else "")


def print_threads():
    known = {thread.ptid[1]: thread for thread in gdb.selected_inferior().threads()}
    selected, frame = gdb.selected_thread(), gdb.selected_frame()
    for thread in thread_list():
        words = [label(thread)]
        real = known.get(thread["id"])
        if thread["state"] != "ended" and real is not None:
            real.switch()
            words.append(f"(gdb's thread {real.num}) {place_of(users_frame())}:")
        words.append(waiting_text(thread))
        if thread["holds"]:
            words.append("; holds " + ", ".join(symbol_at(int(lock, 16)) for lock in thread["holds"]))
        print(" ".join(words).replace(" ;", ";"))
    selected.switch()
    frame.select()


def show_place():
    """Where the program's own code has come to, and selects that frame."""
    frame = users_frame()
    if frame is None:
        return
    frame.select()
    gdb.execute("frame")


def on_stop(event):
    """Says why it stopped, and shows the program's code instead of ours."""
    if CURRENT is None or not isinstance(event, gdb.BreakpointEvent) or CURRENT.breakpoint not in event.breakpoints:
        return
    reason, strand = number("__duress_debugger_reason"), number("__duress_debugger_strand")
    switches = number("__duress_debugger_switches")
    if reason == AT_STEP:
        print(f"[duress] {CURRENT.about['step']}; after {switches} switch{'' if switches == 1 else 'es'}")
    elif reason == AT_SWITCH:
        print(f"[duress] switch {switches}: T{strand} goes on")
    else:
        code = number("__duress_debugger_code")
        print(f"[duress] the program is about to end: {CURRENT.about['failure'] or f'exit code {code}'}")
    show_place()


def on_exit(_event):
    """A run may be repeated: then it begins at the start of the execution."""
    if CURRENT is not None:
        CURRENT.prepare("step" if CURRENT.about["step"] else "failure")


class DuressCommand(gdb.Command):
    """The execution that Duress recorded: duress replay, start, next-switch, prev-switch, threads."""

    def __init__(self):
        super().__init__("duress", gdb.COMMAND_RUNNING, prefix=True)


class ReplayCommand(gdb.Command):
    """Loads an execution: duress replay ID|TOKEN [-- PROG ARGS]. 'run' or 'duress start' then starts it."""

    def __init__(self):
        super().__init__("duress replay", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        global CURRENT
        CURRENT = Replay(shlex.split(argument))
        what = CURRENT.about["failure"] or "it did not fail this time"
        stop = "its last racing access" if CURRENT.about["step"] else "its end"
        print(f"[duress] {what}; the execution stops before {stop}")


class StartCommand(gdb.Command):
    """Starts the execution from its beginning; it stops at the racing access or the deciding load, else at the failure."""

    def __init__(self):
        super().__init__("duress start", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        if gdb.selected_inferior().pid != 0:
            gdb.execute("kill", to_string=True)
        current().prepare("step" if CURRENT.about["step"] else "failure")
        gdb.execute("run")


class NextSwitchCommand(gdb.Command):
    """Goes on to where another thread goes on."""

    def __init__(self):
        super().__init__("duress next-switch", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        alive()
        target = number("__duress_debugger_switches") + 1
        gdb.execute(f"set var *(unsigned long *)&__duress_debugger_stop_switch = {target}")
        gdb.execute("continue")


class PrevSwitchCommand(gdb.Command):
    """Goes back to the switch before this one, by running the same execution again from its start."""

    def __init__(self):
        super().__init__("duress prev-switch", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        alive()
        switches = number("__duress_debugger_switches")
        # At a switch: the one before. Further on: the one that began this thread's turn.
        at_switch = number("__duress_debugger_reason") == AT_SWITCH and switches == number(
            "__duress_debugger_stop_switch"
        )
        target = switches - 1 if at_switch else switches
        if target < 1:
            raise gdb.GdbError("there is no switch before this point; 'duress start' goes to the start")
        gdb.execute("kill", to_string=True)
        current().prepare(f"switch {target}")
        gdb.execute("run")


class ThreadsCommand(gdb.Command):
    """All threads of the program: where each is, what it waits for, which locks it holds."""

    def __init__(self):
        super().__init__("duress threads", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        print_threads()


for command in (DuressCommand, ReplayCommand, StartCommand, NextSwitchCommand, PrevSwitchCommand, ThreadsCommand):
    command()
gdb.events.stop.connect(on_stop)
gdb.events.exited.connect(on_exit)
