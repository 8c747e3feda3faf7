// SPDX-License-Identifier: Apache-2.0
//
// `duress trace`: record events of a program; analyse, print and convert what was recorded. Here are print
// and convert.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "cli/command_app.h"
#include "trace/analyze.h"
#include "trace/convert.h"

namespace duress::cli {
namespace {

/// Opens it, or says why it cannot be read.
bool open_input(trace::TraceInput& input, const std::string& path) {
  std::string error = input.open(path);
  if (!error.empty()) say(error);
  return error.empty();
}

/// Says what was wrong with the file; the exit code.
int end_of(const trace::TraceInput& input) {
  if (input.cut()) say(fmt::format("{}: cut off; read up to the cut", input.path()));
  if (input.problem().empty()) return kExitOk;
  say(input.problem());
  return kExitWrongUse;
}

int print_command(const Arguments& arguments) {
  if (arguments.size() != 1) return wrong_use("trace", "print takes one file");
  if (arguments[0] == "--help" || arguments[0] == "-h") {
    fmt::print("duress trace print FILE: the events of a trace, one a line\n");
    return kExitOk;
  }
  trace::TraceInput input;
  if (!open_input(input, arguments[0])) return kExitWrongUse;
  trace::analyze(input, {.chain = "Print"}, [](const std::string& text) { fmt::print("{}\n", text); });
  return end_of(input);
}

int convert_command(const Arguments& arguments) {
  std::string from, to;
  CommandApp app("trace convert", "Turns a trace into RAPID's text, and RAPID's text into a trace.");
  app.add_option("INPUT", from, "A trace, or text").required();
  app.add_option("OUTPUT", to, "The other; - is standard output (text only)").required();
  if (std::optional<int> code = app.read(arguments)) return *code;
  trace::TraceInput input;
  if (!open_input(input, from)) return kExitWrongUse;
  bool standard = to == "-";
  if (standard && input.is_text()) return wrong_use("trace", "a trace is not written to standard output");
  std::FILE* file = standard ? stdout : std::fopen(to.c_str(), "wb");
  bool good = file != nullptr && trace::convert(input, file);
  int error = errno;
  if (file != nullptr && !standard) std::fclose(file);
  if (good) return end_of(input);
  say(fmt::format("cannot write '{}': {}", to, std::strerror(error)));
  return kExitToolFailed;
}

}  // namespace

int trace_command(const Arguments& arguments) {
  static constexpr const char* kUsage =
      "duress trace record [-o FILE] [--accesses first|all] [--controlled] -- PROG ARGS\n"
      "duress trace analyze [-t CHAIN] [--steps] FILE\n"
      "duress trace predict FILE [--confirm -- PROG ARGS]\n"
      "duress trace print FILE\n"
      "duress trace convert INPUT OUTPUT\n";
  if (arguments.empty()) return wrong_use("trace", "record, analyze, predict, print or convert?");
  const std::string& what = arguments[0];
  Arguments rest(arguments.begin() + 1, arguments.end());
  if (what == "--help" || what == "-h") {
    fmt::print("{}", kUsage);
    return kExitOk;
  }
  if (what == "record") return record_command(rest);
  if (what == "analyze") return analyze_command(rest, false);
  if (what == "predict") return analyze_command(rest, true);
  if (what == "print") return print_command(rest);
  if (what == "convert") return convert_command(rest);
  return wrong_use("trace", fmt::format("'{}' is not record, analyze, predict, print or convert", what));
}

}  // namespace duress::cli
