#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the site table of a linked program, a line per site, for tests to look at.

usage: dump_sites.py FILE
file:line:column function access size variable-kind variable flags [<- inlined into]
"""
import os
import struct
import sys

ACCESS = ["read", "write", "atomic-read", "atomic-write", "atomic-rmw", "fence", "frame"]
KIND = ["unknown", "global", "field", "array", "local", "pointee"]


def sections(data):
    """name -> (address, offset, size) of a 64-bit little-endian ELF file."""
    (table,) = struct.unpack_from("<Q", data, 40)
    entry, count, names = struct.unpack_from("<HHH", data, 58)
    heads = [struct.unpack_from("<IIQQQQ", data, table + i * entry) for i in range(count)]
    start = heads[names][4]
    result = {}
    for name, _, _, address, offset, size in heads:
        end = data.index(b"\0", start + name)
        result[data[start + name : end].decode()] = (address, offset, size)
    return result


def main():
    data = open(sys.argv[1], "rb").read()
    found = sections(data)
    if "duress_sites" not in found:
        sys.exit("no duress_sites section")
    address, offset, size = found["duress_sites"]
    string_address, string_offset, _ = found["duress_strings"]
    flag_address, _, flag_size = found["duress_flags"]
    position, functions = 0, 0
    while position < size:
        head = struct.unpack_from("<4sHHIiiIII", data, offset + position)
        magic, version, _, sites, rel_strings, rel_flags, unit_functions, _, _ = head
        assert magic == b"DURS" and version == 5, "broken header"
        strings = address + position + 12 + rel_strings - string_address + string_offset
        assert flag_address <= address + position + 16 + rel_flags < flag_address + flag_size
        functions += unit_functions

        def text(at):
            end = data.index(b"\0", strings + at)
            return data[strings + at : end].decode()

        base = offset + position + 32
        unit = [struct.unpack_from("<IIIIHBBIIBBH", data, base + i * 32) for i in range(sites)]

        def where(site):
            return f"{os.path.basename(text(site[0]))}:{site[3]}:{site[4]} {text(site[1])}"

        for site in unit:
            if ACCESS[site[5]] == "frame":
                continue
            assert site[8] < unit_functions
            line = f"{where(site)} {ACCESS[site[5]]} {site[6]} {KIND[site[9]]} '{text(site[2])}'"
            line += " faithful" if site[10] & 1 else " checked"
            line += " volatile" if site[10] & 2 else ""
            caller = site[7]
            while caller != 0:
                frame = unit[caller - 1]
                line += f" <- {where(frame)}"
                caller = frame[7]
            print(line)
        position += 32 + sites * 32
    assert position == size, "gap between units"
    print(f"functions {functions} flags {flag_size}")


main()
