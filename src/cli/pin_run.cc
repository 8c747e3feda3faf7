// SPDX-License-Identifier: Apache-2.0
//
// `duress pin --run`: replays a pinned finding. If the replay passes, the finding is searched for anew: when
// the program has changed, the recorded schedule may no longer fit, and a replay that diverged proves
// nothing.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cli/commands.h"
#include "exec/child.h"
#include "exec/pin_file.h"

namespace duress::cli {
namespace {

namespace fs = std::filesystem;

/// Runs duress itself in another process, in the folder of the finding's program, on our output streams.
int run_ourselves(const std::vector<std::string>& words, const exec::StoredFinding& finding,
                  const std::string& input) {
  exec::ChildStart start;
  start.argv = {"/proc/self/exe"};
  start.argv.insert(start.argv.end(), words.begin(), words.end());
  start.input = input;
  start.folder = finding.folder;
  start.environment = finding.environment;
  pid_t pid = exec::start_child(start);
  return pid < 0 ? kExitToolFailed : exec::child_code(pid, true);
}

/// Looks for the finding anew, as it was found: the command and its options.
std::vector<std::string> search_words(const exec::Pin& pin, const std::string& dir) {
  const exec::StoredFinding& finding = pin.finding;
  bool race = finding.id[0] == 'R';
  std::vector<std::string> words{race ? "classify" : "explore",
                                 "--dir",
                                 dir,
                                 "-q",
                                 "--seed",
                                 std::to_string(finding.seed),
                                 "--expect-exit",
                                 std::to_string(finding.oracle.expect_exit),
                                 "--runs",
                                 std::to_string(race ? pin.runs : pin.runs * 10)};
  if (race) words.insert(words.end(), {"--only", finding.id, "--allow-none"});
  if (!finding.oracle.check.empty()) words.insert(words.end(), {"--check", finding.oracle.check});
  if (!finding.oracle.expected_output.empty())
    words.insert(words.end(), {"--expect-output", finding.oracle.expected_output});
  words.emplace_back("--");
  words.insert(words.end(), finding.target.begin(), finding.target.end());
  return words;
}

}  // namespace

int run_pin(const std::string& path, const std::vector<std::string>& target) {
  std::string error;
  std::optional<exec::Pin> pin = exec::read_pin(path, error);
  if (!pin) {
    say(error);
    return kExitWrongUse;
  }
  exec::StoredFinding& finding = pin->finding;
  if (!target.empty()) {
    finding.target = target;
    std::error_code ignored;
    finding.folder = fs::current_path(ignored).string();
  } else if (fs::path program = finding.target[0]; program.has_parent_path()) {
    finding.target[0] = (fs::path(finding.folder) / program).lexically_normal().string();
  }
  if (fs::path(finding.target[0]).has_parent_path() && access(finding.target[0].c_str(), X_OK) != 0) {
    say(fmt::format("cannot start '{}': {}; build it, or give another program after --", finding.target[0],
                    std::strerror(errno)));
    return kExitToolFailed;
  }
  char made[] = "/tmp/duress-pin-XXXXXX";
  if (mkdtemp(made) == nullptr) {
    say(fmt::format("cannot make a folder below /tmp: {}", std::strerror(errno)));
    return kExitToolFailed;
  }
  struct Cleaner {
    std::string path;
    ~Cleaner() {
      std::error_code ignored;
      fs::remove_all(path, ignored);
    }
  } cleaner{made};
  std::string dir = made;
  error = exec::Store(dir).save(finding);
  if (!error.empty()) {
    say(error);
    return kExitToolFailed;
  }
  int code = run_ourselves({"replay", finding.id, "--dir", dir, "-q"}, finding, "");
  if (code != kExitFindings && code != kExitOk) return code;
  if (pin->expect == "fails") {
    say(code == kExitFindings
            ? fmt::format("{} fails as recorded: {}", finding.id, finding.text)
            : fmt::format("{} no longer fails; if it is fixed, pin it again without --expect fails",
                          finding.id));
    return code == kExitFindings ? kExitOk : kExitFindings;
  }
  if (code == kExitFindings) {
    say(fmt::format("{} fails again: {}", finding.id, finding.text));
    return kExitFindings;
  }
  code = run_ourselves(search_words(*pin, dir), finding, finding.input);
  if (code == kExitOk) say(fmt::format("{} does not fail any more", finding.id));
  return code;
}

}  // namespace duress::cli
