#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds an analysis, a strategy, a heuristic and an output format as the pages in docs say: a source file and a line in the table of src/catalog,
in a scratch copy of the tables. Each must then be found by its name, do its work, be listed by `duress list`, be accepted on the
command line and, where help names the choices, be in help."""
import argparse
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Table -> the line that is added to it.
LINES = {
    "analyses.h": 'DURESS_ANALYSIS(Writes, "Writes", "passes on what is written")',
    "strategies.h": 'DURESS_STRATEGY(Last, "last", "the last thread of the list")',
    "heuristics.h": 'DURESS_HEURISTIC(Second, "Second", "the second value")',
    "formats.h": 'DURESS_FORMAT(Size, "size", "how many findings there are")',
}

ANALYSIS = """
#include "analysis/analysis.h"
namespace duress {
namespace {
class Writes final : public Analysis {
 public:
  const char* name() const override { return "Writes"; }
  Pass access(AnalysisThread&, const Access& access) override {
    return is_write(access.kind) ? Pass::kForward : Pass::kKeep;
  }
};
}  // namespace
DURESS_DEFINE_ANALYSIS(Writes);
}  // namespace duress
"""

STRATEGY = """
#include "sched/strategy.h"
namespace duress::sched {
namespace {
class Last final : public Strategy {
 public:
  void start(const trail::Request&) override {}
  StrandView* choose_thread(const Situation& situation) override { return situation.runnable[situation.count - 1]; }
  u32 choose_value(ValueKind, u32) override { return 0; }
};
constinit Last g_last;
}  // namespace
DURESS_DEFINE_STRATEGY(Last, g_last);
}  // namespace duress::sched
"""

HEURISTIC = """
#include "memory/heuristics.h"
namespace duress::memory {
DURESS_DEFINE_HEURISTIC(Second) {
  return legal.count > 1 ? 1 : 0;
}
}  // namespace duress::memory
"""

FORMAT = """
#include "report/formats.h"
namespace duress::report {
namespace {
std::string to_size(const StoredDocument&) { return "size"; }
}  // namespace
DURESS_DEFINE_FORMAT(Size, to_size, false);
}  // namespace duress::report
"""

DRIVER = """
#include <cstdio>
#include <memory>
#include <string>
#include "analysis/player.h"
#include "catalog/lookup.h"
#include "cli/classify_options.h"
#include "cli/explore_options.h"
#include "memory/heuristics.h"
#include "report/formats.h"
#include "sched/strategy.h"
using namespace duress;
struct Sink final : RaceSink, LineSink {
  virtual ~Sink() = default;
  void race(const Race&) override {}
  void line(const char* text, size_t size) override { std::printf("%s\\n", std::string(text, size).c_str()); }
};
struct NoChooser final : memory::Chooser {
  virtual ~NoChooser() = default;
  u32 choose(u32) override { return 0; }
};
void analysis() {
  Arena arena;
  ShadowMap shadow;
  Sink sink;
  if (!shadow.open(0)) return;
  auto player = std::make_unique<Player>(arena, shadow, sink, sink);
  const char* bad;
  if (!player->build("Writes:Count", &bad)) return;
  for (AccessKind kind : {AccessKind::kRead, AccessKind::kWrite, AccessKind::kWrite})
    player->play(Event::of(Tid{0}, Access{0x1000, 4, kind, {}}));
  player->finish();
  std::printf("chain %s\\n", catalog::check_chain("Writes:FastTrack").c_str());
}
void strategy() {
  sched::StrandView strands[2];
  sched::StrandView* both[2] = {&strands[0], &strands[1]};
  sched::Strategy* last = sched::strategy_of(id_of<StrategyId>("last").value());
  sched::Situation situation{0, 0, both, 2, both[0]};
  std::printf("strategy %d\\n", last->choose_thread(situation) == both[1]);
  cli::ExploreOptions options;
  std::printf("explore %d\\n", cli::read_explore_options({"--strategy", "last", "--", "/bin/true"}, options).has_value());
}
void heuristic() {
  memory::Legal legal{};
  legal.count = 2;
  NoChooser chooser;
  std::printf("heuristic %u\\n", memory::pick_value(id_of<HeuristicId>("Second").value(), legal, chooser));
  cli::ClassifyOptions options;
  std::printf("classify %d\\n", cli::read_classify_options({"--heuristic", "Second", "--", "/bin/true"}, options).has_value());
}
void format() {
  FormatId size = id_of<FormatId>("size").value();
  std::printf("format %s\\n", report::format_of(size).render({}).c_str());
  cli::ExploreOptions options;
  bool rejected = cli::read_explore_options({"--size", "here", "--", "/bin/true"}, options).has_value();
  std::printf("option %d %s\\n", rejected, options.files[size].c_str());
}
int main(int count, char**) {
  if (count > 1) {  // what is printed for users
    cli::list_command({});
    cli::ClassifyOptions options;
    cli::read_classify_options({"--help"}, options);
    return 0;
  }
  analysis();
  strategy();
  heuristic();
  format();
}
"""

# Compiled with the changed tables: what turns names into things, and the options that are tried.
IN_TARGET = ["analysis/factory.cc", "memory/heuristics.cc", "sched/strategy_table.cc"]
ON_HOST = [
    "catalog/lookup.cc",
    "classify/attacks.cc",
    "cli/campaign_options.cc",
    "cli/classify_options.cc",
    "cli/explore_options.cc",
    "cli/list.cc",
    "cli/options.cc",
    "cli/report_files.cc",
    "report/formats.cc",
]
HOST_HEADERS = ["nlohmann/json.hpp", "fmt/format.h", "filesystem", "map", "optional", "string", "vector"]
LIBRARIES = [
    "cli",
    "suite",
    "cluster",
    "repair",
    "verify",
    "classify",
    "search",
    "collide",
    "trace",
    "report",
    "exec",
    "finding",
    "analysis",
    "shadow",
    "clock",
    "memory",
    "sched",
    "reads_from",
    "exhaustive",
    "trail",
    "base",
]


def add_lines(scratch):
    (scratch / "catalog").mkdir()
    for name, line in LINES.items():
        head, tail = (ROOT / "src/catalog" / name).read_text().split("\n\nnamespace duress", 1)
        (scratch / "catalog" / name).write_text(f"{head.rstrip()} \\\n  {line}\n\nnamespace duress{tail}")


def compile_sources(scratch, sources, *flags, headers=()):
    """headers: parsed once for all of the sources."""
    command = [
        "clang++-19",
        "-std=c++20",
        "-DFMT_SHARED",
        '-DDURESS_VERSION="0"',
        *flags,
        "-I",
        scratch,
        "-I",
        ROOT / "src",
        "-I",
        ROOT / "include",
    ]
    parsed = []
    if headers:
        text = "".join(f"#include <{name}>\n" for name in headers)
        parse = [*command, "-fpch-instantiate-templates", "-x", "c++-header", "-", "-o", scratch / "headers.pch"]
        subprocess.run(parse, input=text, text=True, check=True)
        parsed = ["-include-pch", scratch / "headers.pch"]
    for source in sources:
        subprocess.run([*command, *parsed, "-c", source, "-o", scratch / f"{source.stem}.o"], check=True)


def build(scratch, build_dir):
    for name, text in (
        ("writes.cc", ANALYSIS),
        ("last.cc", STRATEGY),
        ("second.cc", HEURISTIC),
        ("size.cc", FORMAT),
        ("driver.cc", DRIVER),
    ):
        (scratch / name).write_text(text)
    added = [scratch / name for name in ("writes.cc", "last.cc", "second.cc")]
    compile_sources(scratch, [*added, *(ROOT / "src" / name for name in IN_TARGET)], "-fno-rtti", "-fno-exceptions")
    on_host = [scratch / "driver.cc", scratch / "size.cc", *(ROOT / "src" / name for name in ON_HOST)]
    compile_sources(scratch, on_host, headers=HOST_HEADERS)
    libraries = [build_dir / "lib" / f"libduress_{part}.a" for part in LIBRARIES]
    subprocess.run(
        [
            "clang++-19",
            "-fuse-ld=lld",
            *scratch.glob("*.o"),
            "-Wl,--start-group",
            *libraries,
            "-Wl,--end-group",
            "-lfmt",
            "-lsqlite3",
            "-lz",
            "-lzstd",
            "-lZydis",
            "-ldw",
            "-lelf",
            "-L/usr/lib/llvm-19/lib",
            "-lLLVM-19",
            "-lpthread",
            "-o",
            scratch / "driver",
        ],
        check=True,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        add_lines(scratch)
        build(scratch, options.build)
        run = lambda *words: subprocess.run(
            [scratch / "driver", *words], capture_output=True, text=True, check=True
        ).stdout
        printed, shown = run().splitlines(), run("shown")
    wanted = [
        "Count: 2 writes",
        "chain ",
        "strategy 1",
        "explore 0",
        "heuristic 1",
        "classify 0",
        "format size",
        "option 0 here",
    ]
    if printed != wanted:
        print(f"printed {printed}, expected {wanted}")
        return 1
    listing, _, help_text = shown.partition("duress classify")
    for name in ("Writes", "last", "Second", "size"):
        if not any(line.split()[:1] == [name] for line in listing.splitlines()):
            print(f"{name} is not listed:\n{listing}")
            return 1
    for name in ("Second", "--size"):
        if name not in help_text:
            print(f"{name} is not in help:\n{help_text}")
            return 1
    print(
        "one file and one line each: an analysis, a strategy, a heuristic and a format work, are listed, and are accepted by name"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
