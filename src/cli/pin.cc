// SPDX-License-Identifier: Apache-2.0
//
// `duress pin`: a finding becomes a regression test: the execution that failed must not fail any more.
#include <fmt/format.h>

#include <filesystem>

#include "cli/command_app.h"
#include "cli/options.h"
#include "exec/files.h"
#include "exec/pin_file.h"
#include "exec/token_text.h"

namespace duress::cli {
namespace {

namespace fs = std::filesystem;

struct PinOptions : DirOptions {
  std::string id, folder, run, expect = "passes";
  u64 runs = 20;
  std::vector<std::string> target;
};

int make_pin(const PinOptions& options) {
  std::string error;
  std::optional<exec::StoredFinding> finding = exec::Store(options.absolute_dir()).load(options.id, error);
  if (!finding) {
    say(error);
    return kExitWrongUse;
  }
  if (finding->token.rfind('@', 0) == 0) {  // the trail file: a comment line, then the token
    std::string text = exec::read_file(finding->token.substr(1)).value_or("");
    while (!text.empty() && text.back() == '\n') text.pop_back();
    finding->token = text.substr(text.rfind('\n') + 1);
  }
  if (exec::TokenText token = exec::read_token_text(finding->token); !token.error.empty()) {
    say(token.error);
    return kExitWrongUse;
  }
  std::error_code code;
  fs::path folder = fs::absolute(options.folder).lexically_normal();
  fs::create_directories(folder, code);
  if (code) {
    say(fmt::format("cannot make the folder '{}': {}", options.folder, code.message()));
    return kExitToolFailed;
  }
  folder = fs::canonical(folder, code);
  exec::Pin pin{std::move(*finding), options.expect, options.runs};
  fs::path program = pin.finding.target[0];
  if (program.has_parent_path()) {  // as seen from the folder it starts in; without a slash PATH is searched
    if (program.is_relative()) program = fs::path(pin.finding.folder) / program;
    std::string seen = exec::seen_from(pin.finding.folder, program.string());
    pin.finding.target[0] = seen.find('/') == std::string::npos ? "./" + seen : seen;
  }
  error = exec::write_pin(pin, folder);
  if (!error.empty()) {
    say(error);
    return kExitToolFailed;
  }
  fmt::print("{}\n", report_path((folder / (pin.finding.id + ".sh")).string()));
  say(fmt::format("ctest --test-dir {} runs it; in a project: add_subdirectory({})", options.folder,
                  options.folder));
  return kExitOk;
}

}  // namespace

int pin_command(const Arguments& arguments) {
  PinOptions options;
  CommandApp app("pin", "Makes a regression test of a finding: it fails while the recorded execution does.");
  app.add_option("ID", options.id, "The finding: R-12ab of classify, F-12ab of explore or verify");
  app.add_option("DIR", options.folder, "Folder for the test; it may hold others");
  app.add_option(
         "--expect", options.expect,
         "passes (default): test succeeds when the bug is gone; fails: succeeds while it still reproduces")
      .one_of({"passes", "fails"});
  app.add_option("--runs", options.runs, "How hard the test looks for it when the replay passes; default 20")
      .at_least(1);
  options.add_dir(app, "Folder that holds the finding");
  app.add_option("--run", options.run, "Perform the test of this file; -- PROG ARGS: with another program");
  app.footer(
      "DIR gets ID.json (the program, the replay token, what is expected), ID.sh, and what CTest and CMake "
      "need:\n"
      "ctest --test-dir DIR runs all tests in it, add_subdirectory(DIR) makes them part of a project.\n\n"
      "0: the test was made, or passed; 66: it fails; 2: wrong use; 125: duress itself failed.\n\n"
      "  duress classify -- ./cache\n"
      "  duress pin R-7f3a tests/races && ctest --test-dir tests/races\n"
      "  duress pin --run tests/races/R-7f3a.json -- ./cache");
  if (std::optional<int> code = app.read_before_mark(arguments, options.target)) return *code;
  if (!options.run.empty()) {
    if (!options.id.empty()) return wrong_use("pin", "--run takes a file and no ID");
    return run_pin(options.run, options.target);
  }
  if (options.id.empty() || options.folder.empty())
    return wrong_use("pin", "no finding or folder given; use duress pin R-12ab DIR");
  if (!exec::is_failure_id(options.id)) return wrong_use("pin", fmt::format("'{}' is not an id", options.id));
  if (!options.target.empty()) return wrong_use("pin", "an id knows its program; -- PROG belongs to --run");
  return make_pin(options);
}

}  // namespace duress::cli
