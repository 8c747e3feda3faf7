# SPDX-License-Identifier: Apache-2.0
"""Controlled executions without the command: asks a program's fork server for them (protocol.py).

For what `duress explore` does not say: how often a race was created, how often a run failed; and for pairs of sites
that no detector of today reports. Keys of sites are computed from the program's site table, as
src/runtime/site_points.cc does; that a run then stops at them also shows that keys mean what they say.
"""
import collections
import mmap
import os
import re
import struct
import subprocess
import tempfile

from harness import Failure
from protocol import FILE_BYTES, MAGIC, RECORD, REQUEST, site_list

STRATEGIES = {"replay": 0, "random": 1, "pct": 2, "pos": 3, "racefuzzer": 4, "round-robin": 5}
OUTCOMES = ["running", "ended", "deadlock", "livelock", "step-limit", "stuck", "failed"]
ACCESS = ["read", "write", "atomic-read", "atomic-write", "atomic-rmw", "fence", "frame"]

Site = collections.namedtuple("Site", "key line function variable access")


def fnv(text, value=2166136261):
    for byte in text:
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return value


def site_key(function, variable, access, ordinal):
    value = fnv(variable, fnv(function) * 16777619 & 0xFFFFFFFF)
    for number in (access, ordinal):
        value = (value ^ number) * 16777619 & 0xFFFFFFFF
    return value or 1


def sections(data):
    """name -> (address, offset, size) of a 64-bit little-endian ELF file."""
    (table,) = struct.unpack_from("<Q", data, 40)
    entry, count, names = struct.unpack_from("<HHH", data, 58)
    heads = [struct.unpack_from("<IIQQQQ", data, table + i * entry) for i in range(count)]
    start = heads[names][4]
    result = {}
    for name, _, _, address, offset, size in heads:
        result[data[start + name : data.index(b"\0", start + name)].decode()] = (address, offset, size)
    return result


def sites_of(binary):
    """The sites of a program that can be schedule points, with their keys."""
    data = binary.read_bytes()
    found = sections(data)
    address, offset, size = found["duress_sites"]
    string_address, string_offset, _ = found["duress_strings"]
    ordinals, result, position = collections.Counter(), [], 0
    while position < size:
        magic, _, count, rel_strings = struct.unpack_from("<4sIIi", data, offset + position)
        if magic != b"DURS":
            position += 32
            continue
        strings = address + position + 12 + rel_strings - string_address + string_offset

        def text(at, strings=strings):
            return data[strings + at : data.index(b"\0", strings + at)]

        for i in range(count):
            site = struct.unpack_from("<IIIIHBBIIBBH", data, offset + position + 32 + i * 32)
            access, flags = site[5], site[10]
            if ACCESS[access] == "frame" or not (access >= 2 or flags & 1):
                continue
            name = (text(site[1]), text(site[2]), access)
            key = site_key(*name, ordinals[name])
            ordinals[name] += 1
            result.append(Site(key, site[3], name[0].decode(), name[1].decode(), ACCESS[access]))
        position += 32 + count * 32
    return result


def marked_site(source, sites, mark, variable):
    """The site of that variable in the line that ends in `// @mark`."""
    lines = [n for n, line in enumerate(source.read_text().splitlines(), 1) if re.search(rf"// @{mark}$", line)]
    found = [s for s in sites if s.line in lines and s.variable == variable]
    if len(found) != 1:
        raise Failure(f"{source.name}: {len(found)} sites of {variable} in the line marked @{mark}: {found}")
    return found[0]


class Run:
    """What came of one execution."""

    def __init__(self, record, status):
        for field in ("magic", "strands", "steps", "choices", "switches", "diverged", "races_created"):
            setattr(self, field, RECORD.get(record, field))
        self.outcome = OUTCOMES[RECORD.get(record, "outcome")]
        created = RECORD.get(record, "created")
        self.created = {frozenset(pair) for pair in zip(created[::2], created[1::2]) if pair != (0, 0)}
        self.signal = status & 0x7F
        self.code = status >> 8 & 0xFF
        self.failed = status != 0 or self.outcome not in ("running", "ended")


class Server:
    """A program that was started once and is forked for each execution. A context."""

    def __init__(self, tool, binary, args=()):
        self.folder = tempfile.TemporaryDirectory(prefix="duress-server-", dir="/dev/shm")
        self.request = self.shared("request")
        self.record = self.shared("record")
        to_read, self.to = os.pipe()
        self.reply, reply_write = os.pipe()
        logs = f"{self.folder.name}/logs"
        os.mkdir(logs)
        options = (
            f"log_dir={logs}:chain=FastTrack:mode=controlled:request={self.folder.name}/request"
            f":record={self.folder.name}/record:server={to_read},{reply_write}"
        )
        self.logs = logs
        self.process = subprocess.Popen(
            [str(binary), *args],
            env={**tool.env, "DURESS_OPTIONS": options},
            pass_fds=(to_read, reply_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(to_read)
        os.close(reply_write)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.to)
        os.close(self.reply)
        self.process.kill()
        self.process.wait()
        self.request.close()
        self.record.close()
        self.folder.cleanup()

    def shared(self, name):
        with open(f"{self.folder.name}/{name}", "wb+") as file:
            file.truncate(FILE_BYTES)
            return mmap.mmap(file.fileno(), FILE_BYTES)

    def run(self, strategy, seed, depth=1, length=0, sites=(), pairs=(), points_all=False):
        head = REQUEST.pack(
            seed=seed,
            strategy=STRATEGIES[strategy],
            depth=depth,
            expected_choices=length,
            points=int(points_all),
            site_count=len(sites),
            pair_count=len(pairs),
        )
        body = head + site_list([site.key for site in sites]) + site_list([site.key for pair in pairs for site in pair])
        self.request[: len(body)] = body
        self.record[: RECORD.size] = bytes(RECORD.size)
        os.write(self.to, b"r")
        status = -1
        while status == -1:
            answer = os.read(self.reply, 8)
            if len(answer) != 8:
                raise Failure(f"the program ended with {self.process.wait()} instead of serving")
            pid, status = struct.unpack("<ii", answer)
        log = f"{self.logs}/{pid}.jsonl"
        if os.path.exists(log):
            os.unlink(log)
        run = Run(self.record, status)
        if run.magic != MAGIC:
            raise Failure("the execution did not begin")
        return run
