# SPDX-License-Identifier: Apache-2.0
"""The layout of Request and Record, read from src/trail/execution.h: fields are packed and unpacked by their names, so that a
changed protocol needs no change here."""
import pathlib
import re
import struct

HEADER = (pathlib.Path(__file__).resolve().parents[2] / "src/trail/execution.h").read_text()
CODES = {
    "u8": "B",
    "u16": "H",
    "u32": "I",
    "u64": "Q",
    "bool": "?",
    "EarlyTimeouts": "B",
    "SitePair": "2I",
    "Replaced": "6Q",
}
ENUM = "I"  # all others


def constant(name):
    """The value of a constant in the header."""
    text = re.search(rf"\b{name} = ([^;]*);", HEADER)[1]
    if shift := re.fullmatch(r"u64\{(\d+)\} << (\d+)", text):
        return int(shift[1]) << int(shift[2])
    return int(text, 0)


class Struct:
    """A struct of the header without padding."""

    def __init__(self, name):
        body = re.search(rf"^struct {name} {{\n(.*?)^}};", HEADER, re.S | re.M)[1]
        self.codes, self.defaults, self.offsets, self.size = {}, {}, {}, 0
        for kind, field, count, default in re.findall(r"^  (\w+) (\w+)(?:\[(\w+)\])?(?: = ([^;]*))?;", body, re.M):
            code = CODES.get(kind, ENUM)
            self.codes[field] = "<" + code * (1 if not count else int(count) if count.isdigit() else constant(count))
            self.defaults[field], self.offsets[field] = default, self.size
            if self.size % struct.calcsize(f"<{code[-1]}"):
                raise SystemExit(f"{name}::{field} has padding before it in src/trail/execution.h")
            self.size += struct.calcsize(self.codes[field])
        known = re.search(rf"sizeof\({name}\) == (\d+)\)", HEADER)
        if known and int(known[1]) != self.size:
            raise SystemExit(f"{name} has {self.size} bytes by its fields and {known[1]} by src/trail/execution.h")

    def _default(self, field):
        text = self.defaults[field]
        return int(text) if text.isdigit() else constant(text) if re.fullmatch(r"k\w+", text) else 0

    def pack(self, **values):
        """All bytes; a field that is not given has its default."""
        result = bytearray(self.size)
        for field in self.codes.keys() | values.keys():
            if len(self.codes[field]) == 2:  # not an array
                struct.pack_into(
                    self.codes[field], result, self.offsets[field], values.get(field, self._default(field))
                )
        return bytes(result)

    def get(self, data, field):
        """A field's value; of an array, all of them."""
        values = struct.unpack_from(self.codes[field], data, self.offsets[field])
        return values[0] if len(values) == 1 else values


MAGIC = constant("kMagic")
REQUEST, RECORD = Struct("Request"), Struct("Record")
FILE_BYTES = constant("kRecordBytes")  # of each of the two files; sparse
PREDICTION = struct.Struct("<IIIIQQ")
FUTURE_VALUES_AT = FILE_BYTES - constant("kMostFutureValues") * PREDICTION.size


def site_list(keys):
    """A list of sites behind a request: each list begins at a multiple of 8."""
    keys = [*keys, *([0] * (len(keys) % 2))]
    return struct.pack(f"<{len(keys)}I", *keys)
