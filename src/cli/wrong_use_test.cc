// SPDX-License-Identifier: Apache-2.0
//
// Every option of every command, as `--help` lists them, with a value that it cannot have: one line that
// names the option, the value and what is allowed. An option that is new must say here what it accepts.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "cli/commands.h"

namespace duress::cli {
namespace {

struct HelpOption {
  std::string name;  // the long one
  std::string kind;  // "TEXT", "UINT", ...; "": a flag
  std::vector<std::string> choices;
};

/// Values that an option of any text refuses.
const std::map<std::string, std::string> kWrong = {
    {"--time", "5x"},         {"--run-timeout", "0s"}, {"--duration", "soon"},  {"--exit-wait", "x"},
    {"--delay", "2s"},        {"--rate", "fast"},      {"--overhead", "101%"},  {"--pid", "me"},
    {"--shard", "9/8"},       {"--tool", "FastTrak"},  {"--strategy", "randm"}, {"--hide", "countrs"},
    {"--heuristic", "Oldst"}, {"--model", "rc12"},     {"--env", "=x"},         {"--editor", "vscod"},
};

/// Options that take any text: names of files, folders and tests, commands, patterns of names.
const std::set<std::string> kAnyText = {
    "--dir",   "--json",   "--suppressions", "--print-suppressions", "--baseline",      "--check",
    "--html",  "--sarif",  "--junit",        "--perfetto",           "--expect-output", "--only",
    "--in",    "--output", "--tests-regex",  "--exclude-regex",      "--label-regex",   "--build-config",
    "--from",  "--run",    "--partition",    "--sbatch-args",        "--tsan",          "--suppressions-file",
    "--input", "--test",   "--compare",
};

int run(const Command& command, Arguments words, std::string& out, std::string& err) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  int code = command.run(words);
  std::fflush(stdout);
  out = testing::internal::GetCapturedStdout();
  err = testing::internal::GetCapturedStderr();
  return code;
}

std::vector<HelpOption> options_of(const std::string& help) {
  static const std::regex line(R"(^  (?:-\w,)?(--[\w-]+)(?:,--[\w-]+)*(?: ([A-Z]{2,})(?::\{([^}]*)\})?)?.*)");
  std::vector<HelpOption> options;
  std::istringstream text(help);
  for (std::string row; std::getline(text, row);) {
    std::smatch match;
    if (!std::regex_match(row, match, line) || match[1] == "--help") continue;
    HelpOption option{match[1], match[2], {}};
    std::istringstream choices(match[3]);
    for (std::string one; std::getline(choices, one, ',');) option.choices.push_back(one);
    options.push_back(std::move(option));
  }
  return options;
}

/// The commands, and those of trace.
std::vector<std::pair<Command, Arguments>> all_commands() {
  std::vector<std::pair<Command, Arguments>> all;
  for (const Command& command : commands()) {
    if (std::string(command.name) != "trace") {
      all.push_back({command, {}});
      continue;
    }
    for (const char* sub : {"record", "analyze", "predict", "print", "convert"})
      all.push_back({command, {sub}});
  }
  return all;
}

class WrongUse : public testing::Test {
 protected:
  void refuses(const Command& command, const Arguments& first, const std::string& word,
               const std::vector<std::string>& parts) {
    Arguments words = first;
    words.push_back(word);
    words.insert(words.end(), {"--", "/nonexistent/program"});
    std::string out, err;
    int code = run(command, words, out, err);
    SCOPED_TRACE(std::string("duress ") + command.name + " " + word + ": " + out + err);
    EXPECT_EQ(code, kExitWrongUse);
    EXPECT_EQ(out, "");
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1);
    for (const std::string& part : parts) EXPECT_NE(err.find(part), std::string::npos) << "lacks " << part;
  }
};

TEST_F(WrongUse, EveryOptionOfEveryCommand) {
  std::size_t tried = 0;
  for (const auto& [command, first] : all_commands()) {
    Arguments ask = first;
    ask.push_back("--help");
    std::string help, err;
    run(command, ask, help, err);
    for (const HelpOption& option : options_of(help)) {
      ++tried;
      if (option.kind.empty()) {
        for (const std::string value : {"perhaps", "-1", ""})
          refuses(command, first, option.name + "=" + value, {option.name, value});
        continue;
      }
      if (!option.choices.empty()) {
        std::vector<std::string> parts = option.choices;
        std::string wrong = option.choices[0] + "x";
        parts.insert(parts.end(), {option.name, "'" + wrong + "'", " or "});
        if (option.choices[0].size() > 3) parts.push_back("nearest: " + option.choices[0]);
        refuses(command, first, option.name + "=" + wrong, parts);
      } else if (option.kind != "TEXT") {
        refuses(command, first, option.name + "=many", {option.name, "'many'", "a whole number"});
      } else if (auto wrong = kWrong.find(option.name); wrong != kWrong.end()) {
        refuses(command, first, option.name + "=" + wrong->second, {option.name, wrong->second});
      } else {
        EXPECT_TRUE(kAnyText.count(option.name) != 0)
            << "what does " << command.name << " " << option.name << " refuse? Say it in this test.";
      }
    }
  }
  EXPECT_GT(tried, 150u);  // else the help was not understood
}

TEST_F(WrongUse, FilesThatCannotBeHaveTheirOption) {
  for (const auto& [command, first] : all_commands()) {
    Arguments ask = first;
    ask.push_back("--help");
    std::string help, err;
    run(command, ask, help, err);
    for (const HelpOption& option : options_of(help)) {
      static const std::set<std::string> kFiles = {"--html", "--sarif", "--junit", "--perfetto",
                                                   "--expect-output"};
      bool early = std::string(command.name) != "report" && std::string(command.name) != "replay";
      if (early && kFiles.count(option.name) != 0)
        refuses(command, first, option.name + "=/nonexistent/folder/file",
                {option.name + ": ", "No such file"});
      if (option.name == "--seed") refuses(command, first, "--seed=-1", {"--seed", "'-1'", "at least 0"});
    }
  }
}

TEST_F(WrongUse, NamesHaveANearestOne) {
  for (const auto& [command, first] : all_commands()) {
    Arguments ask = first;
    ask.push_back("--help");
    std::string help, err;
    run(command, ask, help, err);
    std::vector<HelpOption> options = options_of(help);
    if (options.empty()) continue;
    const std::string& name = options.back().name;
    refuses(command, first, name + "q", {"unknown option '" + name + "q'", "nearest: ", name});
  }
}

}  // namespace
}  // namespace duress::cli
