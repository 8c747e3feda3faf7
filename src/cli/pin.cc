// SPDX-License-Identifier: Apache-2.0
//
// `duress pin`: a finding becomes a regression test: the execution that failed must not fail any more. The
// test replays it, and then looks for it anew: when the program has changed, the recorded schedule may no
// longer fit, and a replay that went another way proves nothing.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/child.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/layout.h"
#include "exec/files.h"
#include "exec/session.h"
#include "exec/store.h"
#include "exec/token_text.h"

namespace duress::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr const char* kPinsFile =
    R"(# Made by `duress pin`: a test for each finding in this folder. duress may be given as DURESS in the environment.
file(GLOB _duress_pins "${CMAKE_CURRENT_LIST_DIR}/[RF]-*.sh")
foreach(_duress_pin ${_duress_pins})
  get_filename_component(_duress_name "${_duress_pin}" NAME_WE)
  add_test(NAME "duress.${_duress_name}" COMMAND "${_duress_pin}")
endforeach()
)";
constexpr const char* kListsFile =
    R"(# Made by `duress pin`. As part of a project: add_subdirectory() of this folder.
if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)
  cmake_minimum_required(VERSION 3.16)
  project(pins NONE)
  enable_testing()
endif()
include("${CMAKE_CURRENT_LIST_DIR}/pins.cmake")
)";
// `ctest --test-dir DIR` needs no build folder. While ctest reads this file, CMake's variables are not set.
constexpr const char* kCtestHead = "# Made by `duress pin`, so that ctest can be started in this folder.\n";
constexpr const char* kScript = R"(#!/bin/sh
# Made by `duress pin`. {summary}
# {expectation} PROG ARGS after -- run another program than the recorded one.
duress=${{DURESS:-duress}}
command -v "$duress" > /dev/null || duress={duress}
exec "$duress" pin --run "$(dirname "$0")/{id}.json" "$@"
)";

struct PinOptions {
  std::string id, folder, run, dir = ".duress", expect = "passes";
  u64 runs = 20;
  std::vector<std::string> target;
};

/// A pinned finding: what was stored, with everything it needs in this file or beside it.
struct Pin {
  exec::StoredFinding finding;
  std::string expect;
  u64 runs = 20;
};

std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string one_line(std::string text) {
  for (char& c : text) c = static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  return text;
}

/// Relative to the pin's folder, so that a copy of the project works too.
std::string seen_from(const fs::path& folder, const std::string& path) {
  std::error_code error;
  fs::path relative = fs::relative(path, folder, error);
  return error || relative.empty() ? path : relative.string();
}

std::string write_pin(const Pin& pin, const fs::path& folder) {
  const exec::StoredFinding& finding = pin.finding;
  Json json;
  json["pin"] = kVersion;
  json["id"] = finding.id;
  json["expect"] = pin.expect;
  json["failure"] = finding.failure;
  json["text"] = finding.text;
  json["place"] = fmt::format("{}:{}:{}", finding.file, finding.line, finding.column);
  json["failure_id"] = finding.failure_id;
  json["target"] = finding.target;
  json["folder"] = seen_from(folder, finding.folder);
  if (!finding.environment.empty()) json["environment"] = finding.environment;
  json["input"] = finding.input.empty() ? "" : finding.id + ".stdin";
  json["check"] = finding.oracle.check;
  json["expect_exit"] = finding.oracle.expect_exit;
  json["expected_output"] = finding.oracle.expected_output.empty() ? "" : finding.id + ".expected";
  json["wrong_output"] = finding.oracle.wrong_output;
  json["strategy"] = finding.strategy;
  json["seed"] = finding.seed;
  json["runs"] = pin.runs;
  json["replay"] = finding.token;
  std::string base = (folder / finding.id).string();
  for (auto [from, suffix] :
       {std::pair{finding.input, ".stdin"}, std::pair{finding.oracle.expected_output, ".expected"}}) {
    if (from.empty()) continue;
    std::optional<std::string> text = exec::read_file(from);
    if (!text) return fmt::format("cannot read '{}': {}", from, std::strerror(errno));
    if (std::string error = exec::write_file(base + suffix, *text); !error.empty()) return error;
  }
  return exec::write_file(base + ".json", json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

/// Nothing: `error` says why.
std::optional<Pin> read_pin(const std::string& path, std::string& error) {
  std::optional<std::string> text = exec::read_file(path);
  if (!text) {
    error = fmt::format("cannot read '{}': {}", path, std::strerror(errno));
    return std::nullopt;
  }
  fs::path folder = fs::absolute(path).lexically_normal().parent_path();
  try {
    Json json = Json::parse(*text);
    Pin pin;
    exec::StoredFinding& finding = pin.finding;
    if (json.at("pin") != kVersion) {
      error = fmt::format("'{}' was written by another version of duress; pin it again", path);
      return std::nullopt;
    }
    finding.id = json.at("id");
    pin.expect = json.at("expect");
    finding.failure = json.at("failure");
    finding.text = json.at("text");
    finding.failure_id = json.at("failure_id");
    finding.target = json.at("target").get<std::vector<std::string>>();
    finding.folder = (folder / json.at("folder").get<std::string>()).lexically_normal().string();
    finding.environment = json.value("environment", std::vector<std::string>());
    auto beside = [&](const char* key) {
      std::string name = json.at(key);
      return name.empty() ? name : (folder / name).string();
    };
    finding.input = beside("input");
    finding.oracle.expected_output = beside("expected_output");
    finding.oracle.check = json.at("check");
    finding.oracle.expect_exit = json.at("expect_exit");
    finding.oracle.wrong_output = json.at("wrong_output");
    finding.strategy = json.at("strategy");
    finding.seed = json.at("seed");
    finding.token = json.at("replay");
    pin.runs = json.at("runs");
    if (exec::is_failure_id(finding.id) && !finding.target.empty()) return pin;
  } catch (const Json::exception&) {
  }
  error = fmt::format("'{}' is no file of duress pin", path);
  return std::nullopt;
}

std::string make_script(const Pin& pin, const fs::path& folder) {
  const exec::StoredFinding& finding = pin.finding;
  std::string expectation = pin.expect == "fails"
                                ? "Passes as long as that execution fails so."
                                : "Passes if that execution no longer fails, nor one like it is found.";
  std::string script = fmt::format(
      fmt::runtime(kScript), fmt::arg("summary", one_line(fmt::format("{}: {}", finding.id, finding.text))),
      fmt::arg("expectation", expectation), fmt::arg("duress", shell_quoted(layout().bin + "/duress")),
      fmt::arg("id", finding.id));
  std::string path = (folder / (finding.id + ".sh")).string();
  if (std::string error = exec::write_file(path, script); !error.empty()) return error;
  if (chmod(path.c_str(), 0755) != 0)
    return fmt::format("cannot make '{}' executable: {}", path, std::strerror(errno));
  return {};
}

/// Every pin of the folder, unless the file there is somebody else's.
std::string list_for_ctest(const fs::path& folder) {
  std::string path = (folder / "CTestTestfile.cmake").string();
  if (std::optional<std::string> there = exec::read_file(path); there && there->rfind(kCtestHead, 0) != 0)
    return {};
  std::set<std::string> ids;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    std::string id = it->path().stem().string();
    if (it->path().extension() == ".sh" && exec::is_failure_id(id)) ids.insert(id);
  }
  std::string text = kCtestHead;
  for (const std::string& id : ids) text += fmt::format("add_test(\"duress.{}\" \"./{}.sh\")\n", id, id);
  return exec::write_file(path, text);
}

int make_pin(const PinOptions& options) {
  std::string error, dir = fs::absolute(options.dir).lexically_normal().string();
  std::optional<exec::StoredFinding> finding = exec::Store(dir).load(options.id, error);
  if (!finding) {
    say(error);
    return kExitWrongUse;
  }
  if (finding->token.rfind('@', 0) == 0) {  // the trail file: a line for people, then the token
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
  Pin pin{std::move(*finding), options.expect, options.runs};
  fs::path program = pin.finding.target[0];
  if (program
          .has_parent_path()) {  // seen from the folder that it is started in; with a slash, or PATH is meant
    if (program.is_relative()) program = fs::path(pin.finding.folder) / program;
    std::string seen = seen_from(pin.finding.folder, program.string());
    pin.finding.target[0] = seen.find('/') == std::string::npos ? "./" + seen : seen;
  }
  error = write_pin(pin, folder);
  if (error.empty()) error = make_script(pin, folder);
  if (error.empty()) error = exec::write_file((folder / "pins.cmake").string(), kPinsFile);
  if (error.empty() && !fs::exists(folder / "CMakeLists.txt"))
    error = exec::write_file((folder / "CMakeLists.txt").string(), kListsFile);
  if (error.empty()) error = list_for_ctest(folder);
  if (!error.empty()) {
    say(error);
    return kExitToolFailed;
  }
  fmt::print("{}\n", report_path((folder / (pin.finding.id + ".sh")).string()));
  say(fmt::format("ctest --test-dir {} runs it; in a project: add_subdirectory({})", options.folder,
                  options.folder));
  return kExitOk;
}

/// Our own command in a process of its own, where the finding's program is at home, with its output on our
/// streams.
int run_ourselves(const std::vector<std::string>& words, const exec::StoredFinding& finding,
                  const std::string& input) {
  ChildStart start;
  start.argv = {"/proc/self/exe"};
  start.argv.insert(start.argv.end(), words.begin(), words.end());
  start.input = input;
  start.folder = finding.folder;
  start.environment = finding.environment;
  pid_t pid = start_child(start);
  return pid < 0 ? kExitToolFailed : child_code(pid, true);
}

int run_pin(const PinOptions& options) {
  std::string error;
  std::optional<Pin> pin = read_pin(options.run, error);
  if (!pin) {
    say(error);
    return kExitWrongUse;
  }
  exec::StoredFinding& finding = pin->finding;
  if (!options.target.empty()) {
    finding.target = options.target;
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
                                 std::to_string(race ? pin->runs : pin->runs * 10)};
  if (race) words.insert(words.end(), {"--only", finding.id, "--allow-none"});
  if (!finding.oracle.check.empty()) words.insert(words.end(), {"--check", finding.oracle.check});
  if (!finding.oracle.expected_output.empty())
    words.insert(words.end(), {"--expect-output", finding.oracle.expected_output});
  words.emplace_back("--");
  words.insert(words.end(), finding.target.begin(), finding.target.end());
  code = run_ourselves(words, finding, finding.input);
  if (code == kExitOk) say(fmt::format("{} does not fail any more", finding.id));
  return code;
}

}  // namespace

int pin_command(const Arguments& arguments) {
  PinOptions options;
  CLI::App app("Makes a regression test of a finding: it fails while the recorded execution does.",
               "duress pin");
  app.set_help_flag("-h,--help", "This text");
  app.add_option("ID", options.id, "The finding: R-12ab of classify, F-12ab of explore or verify");
  app.add_option("DIR", options.folder, "Folder for the test; it may hold others");
  app.add_option("--expect", options.expect,
                 "passes (default): the test passes once it is fixed; fails: as long as it fails so")
      ->check(CLI::IsMember({"passes", "fails"}));
  app.add_option("--runs", options.runs, "How hard the test looks for it when the replay passes; default 20")
      ->check(CLI::PositiveNumber);
  app.add_option("--dir", options.dir, "Folder that holds the finding; default .duress");
  app.add_option("--run", options.run, "Perform the test of this file; -- PROG ARGS: with another program");
  app.footer(
      "DIR gets ID.json (the program, the replay token, what is expected), ID.sh, and what CTest and CMake "
      "need:\n"
      "ctest --test-dir DIR runs all tests in it, add_subdirectory(DIR) makes them part of a project.\n\n"
      "0: the test was made, or passed; 66: it fails; 2: wrong use; 125: duress itself failed.\n\n"
      "  duress classify -- ./cache\n"
      "  duress pin R-7f3a tests/races && ctest --test-dir tests/races\n"
      "  duress pin --run tests/races/R-7f3a.json -- ./cache");
  auto mark = std::find(arguments.begin(), arguments.end(), "--");
  Arguments ours(std::make_reverse_iterator(mark), arguments.rend());  // CLI11 takes words from the back
  if (mark != arguments.end()) options.target.assign(mark + 1, arguments.end());
  try {
    app.parse(ours);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return kExitOk;
  } catch (const CLI::ParseError& error) {
    return wrong_use("pin", error.what());
  }
  if (!options.run.empty()) {
    if (!options.id.empty()) return wrong_use("pin", "--run takes a file and no ID");
    return run_pin(options);
  }
  if (options.id.empty() || options.folder.empty())
    return wrong_use("pin", "which finding, and where to? duress pin R-12ab DIR");
  if (!exec::is_failure_id(options.id)) return wrong_use("pin", fmt::format("'{}' is no id", options.id));
  if (!options.target.empty()) return wrong_use("pin", "an id knows its program; -- PROG belongs to --run");
  return make_pin(options);
}

}  // namespace duress::cli
