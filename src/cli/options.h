// SPDX-License-Identifier: Apache-2.0
//
// Options that several commands have in common, in groups: each is defined, parsed and checked here once. A
// command's own struct of options derives from the groups that it takes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"
#include "cli/commands.h"
#include "cli/gate.h"
#include "cli/json_lines.h"
#include "cli/report_files.h"
#include "exec/oracle.h"
#include "report/style.h"
#include "report/suppressions.h"
#include "report/text_writer.h"
#include "trail/execution.h"

namespace duress::cli {

class CommandApp;

/// --dir: where findings and records are kept.
struct DirOptions {
  std::string dir = ".duress";

  void add_dir(CommandApp& app, const std::string& what = "Folder for findings and records");
  std::string absolute_dir() const;
};

/// -q, -v, --color: how much is printed, and how.
struct ScreenOptions {
  std::string color = "auto";
  bool quiet = false, verbose = false;

  void add_screen(CommandApp& app, const char* quiet_help, const char* verbose_help);
  /// Of findings on `fd`; `dir` is where they are kept.
  report::FindingStyle finding_style(const std::string& dir = ".duress", int fd = 2) const;
};

/// The same, with --json and the files of every output format.
struct OutputOptions : ScreenOptions {
  std::string json;  // "-": stdout; "": none; "lines", "lines:FILE": findings as they come
  ReportFiles files;
  std::shared_ptr<JsonLines> lines = std::make_shared<JsonLines>();  // opened by check_output()

  void add_output(CommandApp& app, const char* quiet_help, const char* verbose_help);
  /// "" or what is wrong with one of the places; asked before the work.
  std::string check_output() const;
  /// Writes the document where --json wants it, or the last of its lines. False: it was said what went wrong.
  bool write_json(const report::Json& document) const;
  /// Whether text is printed: with the document on stdout it would only say the same twice.
  bool prints() const { return json != "-" && JsonLines::place_in(json) != "-"; }
  /// Keeps the document in `dir` for `duress report` and writes it wherever it was asked for. False: it could
  /// not be written, which has been said.
  bool write(const report::Document& document, const std::string& dir) const;
};

/// --timeouts: which timeouts may come although threads could go on.
struct TimeoutOptions {
  std::string timeouts = "short";

  void add_timeouts(CommandApp& app);
  trail::EarlyTimeouts early_timeouts() const;
};

/// --runs, --time, --run-timeout, -j, --seed: how much work, and where its random numbers come from.
struct BudgetOptions {
  struct Help {
    const char* runs;
    const char* time = "How long at most: 30s, 5m, 2h";
    const char* run_timeout = "How long one run may take; default 10s";
    const char* jobs = "Executions side by side; default: cores. Results do not depend on it";
  };

  std::string time, run_timeout;
  std::int64_t seed = 1;

  void add_budget(CommandApp& app, u64& runs, unsigned& jobs, const Help& help);
  /// The seconds of --time (0: no limit) and --run-timeout, and how many jobs are meant. "" or what is wrong.
  std::string check_budget(double& seconds, double& run_seconds, unsigned& jobs,
                           const std::string& default_timeout = "10s") const;
};
void add_seed(CommandApp& app, std::int64_t& seed);

/// --check, --expect-output, --expect-exit: what a right run looks like.
void add_oracle(CommandApp& app, exec::OracleOptions& oracle);
/// Makes the file's path absolute. "" or why it cannot be read.
std::string check_oracle(exec::OracleOptions& oracle);

/// --fail-on, --baseline: what makes the exit code 66.
struct GateOptions {
  std::string fail_on, baseline;
  Baseline known;

  void add_gate(CommandApp& app, const char* by_default, const char* fail_on_help);
  /// "" or what is wrong with the file.
  std::string load_baseline();
};

/// --suppressions, and for commands that offer it --print-suppressions.
struct SuppressionOptions {
  std::vector<std::string> suppressions;
  std::string print_suppressions;  // "-": stdout; "": none

  void add_suppressions(CommandApp& app);
  void add_print_suppressions(CommandApp& app);
  /// An exit code if a file cannot be used, after a message.
  std::optional<int> load_suppressions(report::Suppressions& all) const;
  /// Writes lines that would hide what was found, if they are wanted. False: a message was printed.
  bool write_suppressions(const report::Document& document) const;
};

/// --coverage, the same of every command that has it.
void add_coverage(CommandApp& app, bool& coverage);

/// Reads a time that is not 0. "" or what is wrong.
std::string read_time(const std::string& text, double& seconds);

}  // namespace duress::cli
