#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loops that wait are followed once: nothing is lost by that. Random programs, at -O0 to -O3, under sc and rc11.

Each program is explored twice by duress::check: as it is, and with loops that count their rounds in a local variable and
give up after two, of which every round is explored. Each outcome (what threads read last, and the final values) of the
second in which no thread gave up must be one of the first. If the loop stores in each round, no round may be cut under
rc11, so there must be as many executions too. Programs that livelock or are too large are left out, and counted.
"""
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

SEED = 21
PROGRAMS = 150
LEVELS = ("-O0", "-O1", "-O2", "-O3")

HEAD = """\
#include <duress/test.h>

#include <atomic>
#include <bitset>
#include <cstdio>
#include <thread>

using Value = std::atomic<int>;
struct State { Value x{0}, y{0}; int r[3] = {0, 0, 0}; bool gave_up[3] = {false, false, false}; };
using Outcomes = std::bitset<243>;
using Thread = void (*)(State&);
static Outcomes* seen;
static unsigned long executions, completed;

static bool too_many() { return ++executions > 30000; }

static bool explore(const char* model, const Thread* threads, int count, Outcomes& outcomes) {
  seen = &outcomes;
  executions = completed = 0;
  duress::CheckOptions options;
  options.exhaustive = options.quiet = true;
  options.model = model;
  options.failed = too_many;
  options.most_steps = 1000;
  auto result = duress::check([=] {
    State s;
    std::thread running[3];
    for (int i = 0; i < count; ++i) running[i] = std::thread(threads[i], std::ref(s));
    for (int i = 0; i < count; ++i) running[i].join();
    if (s.gave_up[0] || s.gave_up[1] || s.gave_up[2]) return;
    ++completed;
    seen->set(s.r[0] + 3 * s.r[1] + 9 * s.r[2] + 27 * s.x.load() + 81 * s.y.load());
  }, options);
  return result.passed && result.complete;
}
"""

MAIN = """\
int main() {
  int compared = 0, lost = 0, all = 0;
  for (const Program& p : kPrograms) {
    for (const char* model : {"sc", "rc11"}) {
      Outcomes once, counted;
      ++all;
      if (!explore(model, p.once, p.count, once)) continue;
      unsigned long all_rounds = completed;
      if (!explore(model, p.counted, p.count, counted)) continue;
      ++compared;
      bool fewer = p.stores && model[0] == 'r' && all_rounds < completed;
      if ((counted & ~once).none() && !fewer) continue;
      ++lost;
      printf("program %d, %s: %zu outcomes are lost of %zu; %lu executions, at least %lu wanted\\n", p.number, model,
             (counted & ~once).count(), counted.count(), all_rounds, completed);
    }
  }
  printf("%d of %d compared, %d with a loss\\n", compared, all, lost);
  return lost ? 1 : compared * 2 > all ? 0 : 2;
}
"""


def access(rng):
    """An operation without a loop."""
    variable, order = rng.choice("xy"), rng.choice(("relaxed", "seq_cst"))
    order = f"std::memory_order_{order}"
    kind = rng.randrange(5)
    if kind < 2:
        return f"s.{variable}.store({rng.randrange(1, 3)}, {order});"
    if kind == 2:
        return f"s.{variable}.exchange({rng.randrange(1, 3)}, {order});"
    return f"r = s.{variable}.load({order});"


def loop(rng):
    """A loop that waits; `{round}` counts its rounds in one of the two versions."""
    variable, value = rng.choice("xy"), rng.randrange(1, 3)
    order = f"std::memory_order_{rng.choice(('relaxed', 'acquire', 'seq_cst'))}"
    condition = rng.choice(
        (
            f"s.{variable}.load({order}) != {value}",
            f"s.{variable}.load({order}) == 0",
            f"s.{variable}.exchange({value}, {order}) != {value}",
            f"s.{variable}.exchange({value}) == 0",
            f"!cas(s.{variable}, {rng.randrange(3)}, {value})",
        )
    )
    store = f"s.{variable}.store({value}, std::memory_order_relaxed);"  # of what it waits for
    body = rng.choice(("", store, store, access(rng)))
    stores = "store" in body
    text = f"for (int round = 0; {condition};) {{ if (counted && ++round == 3) {{ s.gave_up[I] = true; return; }} {body} }}"
    return text, stores


def program(rng, number):
    """The functions of its threads, and its entry of the table."""
    text, names = "", ([], [])
    count = rng.choice((2, 3))
    waiting = rng.randrange(count)
    wait, stores = loop(rng)
    for i in range(count):
        lines = [access(rng) for _ in range(rng.randrange(1, 4))]
        if i == waiting:
            lines.insert(rng.randrange(len(lines) + 1), wait)
        body = " ".join(lines).replace("gave_up[I]", f"gave_up[{i}]")
        text += f"template <bool counted> void t{number}_{i}(State& s) {{ int r = 0; {body} s.r[{i}] = r; }}\n"
        for version, value in enumerate(("false", "true")):
            names[version].append(f"t{number}_{i}<{value}>")
    entry = ", ".join("{" + ", ".join(version) + "}" for version in names)
    return text, f"    {{{number}, {count}, {str(stores).lower()}, {entry}}},\n"


def source(seed, count):
    rng = random.Random(seed)
    made = [program(rng, number) for number in range(count)]
    cas = (
        "static bool cas(Value& v, int expected, int value) { return v.compare_exchange_strong(expected, value); }\n"
        "struct Program { int number, count; bool stores; Thread once[3], counted[3]; };\n"
    )
    table = "static const Program kPrograms[] = {\n" + "".join(entry for _, entry in made) + "};\n"
    return HEAD + cas + "".join(text for text, _ in made) + table + MAIN


def problems_of(build, level):
    folder = build / "tests/verify/await_loops"
    folder.mkdir(parents=True, exist_ok=True)
    file, target = folder / f"programs{level}.cc", folder / f"programs{level}"
    file.write_text(source(SEED, PROGRAMS))
    compiler = [build / "bin/duress-c++", "-std=c++20", "-w", "-g", level, file, "-o", target, "-pthread"]
    subprocess.run(compiler, check=True)
    ended = subprocess.run([target], stdout=subprocess.PIPE, text=True, timeout=1000, check=False)
    print(f"     {level}: {ended.stdout.splitlines()[-1:]}")
    if ended.returncode != 0:
        yield f"{level}: {ended.returncode}: {ended.stdout[-800:]}"


def main():
    options = harness.parser(__doc__).parse_args()
    build = pathlib.Path(options.build).resolve()
    harness.report((f"loops that wait {level}", lambda level=level: problems_of(build, level)) for level in LEVELS)


if __name__ == "__main__":
    main()
