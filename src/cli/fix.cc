// SPDX-License-Identifier: Apache-2.0
//
// `duress fix`: the change that `duress verify` proposes for a race, as a diff or applied. The program is
// built with the change and verified before either.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/command_app.h"
#include "cli/commands.h"
#include "cli/error_stream.h"
#include "cli/options.h"
#include "exec/child.h"
#include "exec/layout.h"
#include "repair/advice.h"
#include "repair/rebuild.h"
#include "report/words.h"

namespace duress::cli {
namespace {

constexpr const char* kMostTime = "60s";
constexpr double kMostSeconds = 90;

/// What became of building and verifying the changed program.
struct Checked {
  bool good = false;
  std::string text;
};

/// `duress WORDS` with the options that the fix was found with, on the changed program.
exec::ChildOutput run_duress(const repair::Advice& advice, const std::string& program, const std::string& dir,
                             std::vector<std::string> words) {
  exec::ChildStart start;
  start.argv = {exec::layout().duress};
  start.argv.insert(start.argv.end(), words.begin(), words.end());
  start.argv.insert(start.argv.end(), {"--json", "--dir", dir});
  start.argv.insert(start.argv.end(), advice.options.begin(), advice.options.end());
  start.argv.insert(start.argv.end(), {"--", program});
  start.argv.insert(start.argv.end(), advice.target.begin() + 1, advice.target.end());
  return exec::run_child(start, kMostSeconds);
}

Checked still_fails(const char* command, int code) {
  return {false, fmt::format("with the change the program still fails (duress {}: {})", command, code)};
}

Checked verify_changed(const repair::Advice& advice, const std::string& program, const std::string& folder) {
  exec::ChildOutput ended =
      run_duress(advice, program, folder + "/dir", {"verify", "--no-advice", "--time", kMostTime});
  auto document = nlohmann::json::parse(ended.output, nullptr, /*allow_exceptions=*/false);
  bool complete = document.is_object() && document.value("complete", false);
  if (ended.code != kExitOk && ended.code != kExitOutOfTime) return still_fails("verify", ended.code);
  if (!complete)
    return {true, "built with the change: nothing found, but not all interleavings were explored"};
  return {true, fmt::format("built with the change and verified: {}, no race, no failure",
                            report::count_text(document.value("interleavings", u64{0}), "interleaving"))};
}

/// Of a program that has too many interleavings: looks for races, and for failures.
Checked run_changed(const repair::Advice& advice, const std::string& program, const std::string& folder) {
  u64 runs = 0;
  const std::vector<std::string> looks[] = {{"classify", "--no-advice", "--runs", "10", "--fail-on", "race"},
                                            {"explore", "--runs", "1000"}};
  for (const std::vector<std::string>& words : looks) {
    exec::ChildOutput ended = run_duress(advice, program, folder + "/" + words[0], words);
    if (ended.code != kExitOk) return still_fails(words[0].c_str(), ended.code);
    auto document = nlohmann::json::parse(ended.output, nullptr, /*allow_exceptions=*/false);
    if (!document.is_object() || document.contains("fails")) return still_fails(words[0].c_str(), ended.code);
    runs += document.value("runs", u64{0});
  }
  return {true, fmt::format("built with the change: {} without a race or a failure; not proved",
                            report::count_text(runs, "run"))};
}

Checked check_changed(const repair::Advice& advice) {
  if (advice.target.empty())
    return {true, "not built again: the record does not say how the program is started"};
  std::string folder = (std::filesystem::temp_directory_path() / "duress-fix-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return {false, "cannot make a folder in " + folder};
  std::string error;
  std::string program = repair::rebuild(advice.target[0], advice.edits, folder + "/build", error);
  Checked checked{false, "the change does not build: " + error};
  if (!program.empty())
    checked = advice.schedules != 0 ? run_changed(advice, program, folder)
                                    : verify_changed(advice, program, folder);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return checked;
}

bool user_agrees() {
  write_errors("apply it? [y/N] ");
  std::string answer;
  return std::getline(std::cin, answer) && (answer == "y" || answer == "yes");
}

/// The first place, where the user has to look.
int no_edit(const repair::Advice& advice) {
  say(advice.problem.empty()
          ? "Duress cannot write this change; edit the source yourself"
          : "Duress cannot write this change; edit the source yourself: " + advice.problem);
  return 1;
}

}  // namespace

int fix_command(const Arguments& arguments) {
  DirOptions folder;
  std::string id;
  bool apply = false, interactive = false, no_check = false;
  CommandApp app("fix", "Prints the fix for a race as a unified diff, or applies it.");
  app.add_option("ID", id, "The race, or under --model rc11 the failure: R-12ab, F-34cd").required();
  folder.add_dir(app, "Folder with findings");
  app.add_flag("--apply", apply, "Apply the change to the source files");
  app.add_flag("--interactive", interactive, "Print the change, ask, and apply it after a 'y'");
  app.add_flag("--no-check", no_check, "Do not build and verify the program with the change first");
  app.footer(
      "0: printed, or applied; 1: a fix is known but cannot be applied automatically, or the changed "
      "program\n"
      "does not build or still fails (no file is changed then); 2: wrong use; 125: no fix is known.\n\n"
      "  duress verify -- ./queue_test; duress fix R-12ab | patch -p1\n"
      "  duress fix R-12ab --apply");
  if (std::optional<int> code = app.read(arguments)) return *code;
  if (id.find('/') != std::string::npos) return wrong_use("fix", fmt::format("'{}' is not an id", id));
  if (apply && interactive) return wrong_use("fix", "--apply and --interactive exclude each other");
  std::string error;
  std::optional<repair::Advice> advice = repair::load_advice(folder.absolute_dir(), id, error);
  if (!advice) {
    say(error);
    return kExitToolFailed;
  }
  say(fmt::format("{} — {}", advice->text, report::checked_text(advice->interleavings, advice->schedules)));
  if (advice->edits.empty()) return no_edit(*advice);
  if (!no_check) {
    Checked checked = check_changed(*advice);
    say(checked.text);
    if (!checked.good) return 1;
  }
  if (!apply) fmt::print("{}", advice->diff());
  if (interactive) {
    fflush(stdout);
    if (!user_agrees()) return kExitOk;
  }
  if (!apply && !interactive) return kExitOk;
  error = repair::apply_advice(*advice);
  if (error.empty()) return kExitOk;
  say(error);
  return kExitToolFailed;
}

}  // namespace duress::cli
