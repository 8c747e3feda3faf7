# SPDX-License-Identifier: Apache-2.0
"""What was measured, as tables."""
import math
import sys
import time

WHAT = (("wall", "time"), ("cpu", "CPU"), ("memory", "memory"))
REQUIRED = {"wall": 0.7, "cpu": 0.7, "memory": 0.8, "inert": 1.05}
ABOVE = 1.2


def geometric_mean(values):
    values = [value for value in values if value]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def number(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


def print_progress(row):
    tool, other = ("duress", "archer" if "archer" in row.samples else "tsan")
    if tool not in row.samples:
        tool, other = "duress gcc", "gcc"
    ratios = [number(row.ratio(tool, other, what)) for what, _ in WHAT]
    over = f"; over the limit: {', '.join(sorted(row.over_limit))}" if row.over_limit else ""
    clock = time.strftime("%H:%M:%S")
    print(f"{clock} {row}: {tool} ÷ {other} {' '.join(ratios)}{over}", file=sys.stderr, flush=True)


def print_table(head, rows, markdown):
    if markdown:
        print("| " + " | ".join(head) + " |")
        print("|---|" + "---:|" * (len(head) - 1))
        for row in rows:
            print("| " + " | ".join(row) + " |")
    else:
        widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
        for row in [head, *rows]:
            print("  ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths))))
    print(flush=True)


def print_rows(rows, limit, markdown):
    """A line for each row: multiples of native, and Duress ÷ ThreadSanitizer."""
    tools = [
        tool
        for tool in ("tsan", "helgrind", "duress", "inert")
        if any(tool in {*row.samples, *row.over_limit} for row in rows)
    ]
    head = ["program", "threads", "size", "native s", "native MB"]
    head += [f"{tool} ×" for tool in tools] + [f"{name} ÷ tsan" for _, name in WHAT]
    lines = []
    for row in rows:
        memory = row.value("native", "memory")
        line = [row.name, str(row.threads or ""), row.size, number(row.value("native", "wall"), 3)]
        line.append(number(memory and memory / 1024, 0))
        for tool in tools:
            over = tool in row.over_limit
            line.append(f"> {limit:.0f} s" if over else number(row.ratio(tool, "native", "wall")))
        lines.append(line + [number(row.ratio("duress", "tsan", what)) for what, _ in WHAT])
    print_table(head, lines, markdown)


def print_means(rows, markdown):
    """Geometric means of all rows, of each number of threads and of each size; then the rows that are too slow."""
    groups = {"all": rows}
    for threads in sorted({row.threads for row in rows}):
        groups[f"{threads} threads"] = [row for row in rows if row.threads == threads]
    for size in sorted({row.size for row in rows}, reverse=True):
        groups[size] = [row for row in rows if row.size == size]
    head = ["geometric mean"] + [f"{name} ÷ tsan" for _, name in WHAT] + ["inert ÷ native, CPU", "rows"]
    lines = []
    for name, group in groups.items():
        means = [geometric_mean(row.ratio("duress", "tsan", what) for row in group) for what, _ in WHAT]
        inert = geometric_mean(row.ratio("inert", "native", "cpu") for row in group)
        lines.append([name, *map(number, [*means, inert]), str(len(group))])
    lines.append(["required"] + [number(REQUIRED[what]) for what, _ in WHAT] + [number(REQUIRED["inert"]), ""])
    print_table(head, lines, markdown)


def print_above(rows):
    """The rows that take more than 1.2 times ThreadSanitizer's time."""
    slow = []
    for row in rows:
        wall, cpu = row.ratio("duress", "tsan", "wall"), row.ratio("duress", "tsan", "cpu")
        if "duress" in row.over_limit:
            slow.append((math.inf, f"{row} (over the limit)"))
        elif wall and cpu and max(wall, cpu) > ABOVE:
            slow.append((max(wall, cpu), f"{row} (time {wall:.2f}, CPU {cpu:.2f})"))
    print(f"Above {ABOVE} times ThreadSanitizer's time: {len(slow)} of {len(rows)} rows" + (":" if slow else ""))
    for _, text in sorted(slow, reverse=True):
        print(f"- {text}")
    print(flush=True)
