// SPDX-License-Identifier: Apache-2.0
//
// The table of the commands. Each command parses its own arguments, so that adding one is a file and a line
// here.
#include "cli/commands.h"

namespace duress::cli {

const std::vector<Command>& commands() {
  static const std::vector<Command> table = {
      {"run", "run [OPTIONS] -- PROG ARGS", "run an instrumented program once and report every data race",
       run_command},
      {"explore", "explore [OPTIONS] -- PROG ARGS", "look for a schedule that makes the program fail",
       explore_command},
      {"replay", "replay ID|TOKEN [-- PROG ARGS]", "the same execution again, with a trace or in gdb",
       replay_command},
      {"classify", "classify [OPTIONS] -- PROG ARGS",
       "say of each race whether it is destructive, with a replay", classify_command},
      {"test", "test BUILD_DIR [OPTIONS]", "classify for every CTest test of a build folder, case by case",
       test_command},
      {"trace", "trace record|analyze|...", "record events of a program; run any analysis on them",
       trace_command},
      {"collide", "collide [OPTIONS] -- PROG ARGS | -p PID",
       "sample an unmodified program, started or running, for races", collide_command},
      {"verify", "verify [OPTIONS] -- PROG ARGS", "look at every interleaving: a proof, or one that fails",
       verify_command},
      {"fix", "fix ID", "show or apply the fix for a race", fix_command},
      {"report", "report [--html FILE] ...",
       "what the last campaign found, as HTML, SARIF, JUnit, Perfetto, JSON", report_command},
      {"pin", "pin ID DIR", "make a regression test of a finding, for ctest", pin_command},
      {"work", "work --dir D --shard I/N", "one worker of a campaign on several machines", work_command},
      {"status", "status [--watch]", "how far a campaign on several machines is", status_command},
      {"merge", "merge DIR...", "what the results of several machines say so far", merge_command},
      {"list", "list [KIND]", "the names that options take: analyses, strategies, models, formats, ...",
       list_command},
      {"doctor", "doctor [PROG ARGS]",
       "what works on this machine, or how executions of a program are performed", doctor_command},
      {"demo", "demo", "build a small program with races, and see what the commands say of it", demo_command},
      {"config", "config [COMMAND OPTIONS]",
       "the project's defaults (.duress.toml), and where values come from", config_command},
      {"cmake", "cmake", "the path of a CMake toolchain file", cmake_command},
  };
  return table;
}

}  // namespace duress::cli
