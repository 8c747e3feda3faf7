// SPDX-License-Identifier: Apache-2.0
//
// `duress demo`: the story of double-checked locking, with the programs of this installation: build, start,
// classify, verify, fix. What it does is what a user would type.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "cli/command_app.h"
#include "cli/commands.h"
#include "exec/child.h"
#include "exec/layout.h"

namespace duress::cli {
namespace {

namespace fs = std::filesystem;

struct DemoStep {
  std::vector<std::string> words;
  const char* comment;
  int code;  // that it ends with if all is well
};

/// The first word is one of our programs, or one in the folder.
int run_step(const std::string& folder, const DemoStep& step) {
  fmt::print("\n$ {}   # {}\n", fmt::join(step.words, " "), step.comment);
  fflush(stdout);
  exec::ChildStart start;
  start.argv = step.words;
  start.folder = folder;
  if (start.argv[0][0] != '.') start.argv[0] = exec::layout().bin + "/" + start.argv[0];
  pid_t pid = exec::start_child(start);
  return pid < 0 ? -1 : exec::child_code(pid, /*wait=*/true);
}

/// A finding for which a fix is known; "": none.
std::string fixed_finding(const std::string& folder) {
  std::vector<std::string> ids;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder + "/.duress/fixes", ignored))
    ids.push_back(entry.path().stem().string());
  std::sort(ids.begin(), ids.end());
  return ids.empty() ? "" : ids[0];
}

}  // namespace

int demo_command(const Arguments& arguments) {
  CommandApp app("demo",
                 "Shows what Duress does, with a small program that it builds: double-checked locking.");
  app.footer(
      "The folder that it makes is left for you to look at.\n0: all went as it should; 125: it did not.");
  if (std::optional<int> code = app.read(arguments)) return *code;
  std::string source = exec::layout().prefix + "/share/duress/demo/point.cc";
  std::string folder = (fs::temp_directory_path() / "duress-demo-XXXXXX").string();
  std::error_code error;
  if (mkdtemp(folder.data()) == nullptr || !fs::copy_file(source, folder + "/point.cc", error)) {
    say(fmt::format("cannot copy {} to {}", source, folder));
    return kExitToolFailed;
  }
  std::vector<DemoStep> steps = {
      {{"duress-c++", "-g", "-O1", "-std=c++20", "-pthread", "point.cc", "-o", "point"},
       "clang, with checks added",
       0},
      {{"./point"}, "started by itself: a normal program", 0},
      {{"duress", "classify", "--", "./point"}, "its races: which of them do harm?", 66},
      {{"duress", "verify", "--", "./point"}, "every interleaving, and a change that fixes it", 66},
  };
  for (const DemoStep& step : steps) {
    if (int code = run_step(folder, step); code != step.code) {
      say(fmt::format("'{}' ended with {}, not {}; see duress doctor", step.words[0], code, step.code));
      return kExitToolFailed;
    }
  }
  std::string id = fixed_finding(folder);
  if (!id.empty() &&
      run_step(folder, {{"duress", "fix", id}, "built and verified; --apply makes it", 0}) != 0) {
    say("the fix could not be shown");
    return kExitToolFailed;
  }
  fmt::print("\nAll of it is in {}\n", folder);
  return kExitOk;
}

}  // namespace duress::cli
