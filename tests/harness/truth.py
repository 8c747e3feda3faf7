# SPDX-License-Identifier: Apache-2.0
"""Labels of races that were judged by hand, in the heads of tests/truth, against what `duress classify` says."""
import collections
import fnmatch
import re

LABEL = re.compile(r"// truth: (\S+) (destructive|slower|same-value|harmless)(?: ([^:\s]\S*))?(?: (\S+))?: (.+)$")
MISSED = re.compile(r"// truth-missed: (\S+) (wrong|not judged|not found): (.+)$")
SAID = {"no-harm-found": "harmless"}  # the words of documents that differ from those of labels
RIGHT, WRONG, NOT_JUDGED, NOT_FOUND = RESULTS = ("right", "wrong", "not judged", "not found")
VERDICTS = ("destructive", "slower", "same-value", "harmless")
BEGIN, END = "<!-- truth matrix, written by tests/truth/run.py --matrix -->", "<!-- end of the truth matrix -->"


class Label:
    """What is true of one variable."""

    def __init__(self, names, verdict, failures, beside, reason):
        self.names, self.verdict, self.failures = names, verdict, failures
        self.beside, self.reason = beside, reason

    @property
    def name(self):
        return self.names[0]

    def means(self, variable):
        return any(fnmatch.fnmatchcase(variable, name.replace("[]", "[[]]")) for name in self.names)

    def result(self, races):
        """(one of RESULTS, what was said) of the races of this variable in a document."""
        if not races:
            return NOT_FOUND, "no race"
        race = races[0]
        if "verdict" not in race:
            others = race.get("not_judged", {}).get("other_causes")
            named = others == [] if self.beside == "other" else self.beside in (others or [])
            return RIGHT if self.beside and named else NOT_JUDGED, f"not judged, other causes: {others}"
        said = SAID.get(race["verdict"], race["verdict"])
        failure = race["evidence"]["failure"] if said == "destructive" else ""
        right = said == self.verdict and (not failure or not self.failures or failure in self.failures)
        return RIGHT if right else WRONG, f"{said} {failure}".rstrip()


class Head:
    """The labels of a program, and which of them Duress is known to miss. ValueError if one cannot be read."""

    def __init__(self, text):
        self.labels, self.missed = [], {}
        for line in text.splitlines():
            if line.startswith("// truth-missed:"):
                match = MISSED.match(line)
                if not match:
                    raise ValueError(f"not a statement: {line}")
                self.missed[match[1]] = match[2]
            elif line.startswith("// truth:"):
                self.labels.append(read_label(line))
        if not self.labels or not set(self.missed) <= {label.name for label in self.labels}:
            raise ValueError("no label, or one that is missed is not there")


def read_label(line):
    match = LABEL.match(line)
    if not match or (match[3] == "beside") != (match[4] is not None):
        raise ValueError(f"not a label: {line}")
    beside = match[4] if match[3] == "beside" else None
    failures = match[3].split("|") if match[3] and not beside else []
    return Label(match[1].split("|"), match[2], failures, beside, match[5])


def compare(labels, races):
    """Of each label (label, result, what was said); and the variables that have no label."""
    rows = []
    unknown = {race["variable"] for race in races}
    for label in labels:
        mine = [race for race in races if label.means(race["variable"])]
        unknown -= {race["variable"] for race in mine}
        rows.append((label, *label.result(mine)))
    return rows, sorted(unknown)


def matrix(heads):
    """The table as text, from heads by name of the program. The tests of the programs hold them to it."""
    counts = collections.Counter()
    missed = []
    for program, head in sorted(heads.items()):
        for label in head.labels:
            result = head.missed.get(label.name, RIGHT)
            counts[label.verdict, result] += 1
            if result != RIGHT:
                missed.append(f"`{label.name}` of `{program}` ({label.verdict}): {result}")
    lines = ["| label | races | right | wrong | not judged | not found |", "|---|---:|---:|---:|---:|---:|"]
    for verdict in VERDICTS:
        row = [counts[verdict, result] for result in RESULTS]
        lines.append(f"| {verdict} | {sum(row)} | " + " | ".join(map(str, row)) + " |")
    row = [sum(counts[verdict, result] for verdict in VERDICTS) for result in RESULTS]
    lines.append(f"| all, in {len(heads)} programs | {sum(row)} | " + " | ".join(map(str, row)) + " |")
    lines += ["", f"{100 * row[0] / sum(row):.1f} % right."]
    if missed:
        lines += ["Missed: " + "; ".join(missed) + "."]
    return "\n".join(lines)


def with_matrix(text, heads):
    """The text of docs/papers.md with the table in its place."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{matrix(heads)}\n{END}{after}"
