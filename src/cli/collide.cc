// SPDX-License-Identifier: Apache-2.0
//
// `duress collide`: samples an unmodified program, started here or running already. The sampling is
// src/collide's and the names are src/report's; here are the options, and what is shown in which order.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "catalog/lookup.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/layout.h"
#include "cli/report_files.h"
#include "collide/elf_file.h"
#include "collide/tracer.h"
#include "exec/session.h"
#include "report/document.h"
#include "report/json_writer.h"
#include "report/text_writer.h"

namespace duress::cli {
namespace {

namespace fs = std::filesystem;
using finding::Category;

struct CollideOptions {
  std::string overhead = "5%", rate, duration, delay = "1ms", hide, color = "auto", fail_on = "race";
  std::string json;                // "-": stdout; "": none
  std::string print_suppressions;  // likewise
  std::vector<std::string> suppressions;
  std::int64_t seed = 1;
  std::string pid;
  bool halt = false, include_volatile = false, untyped = false, no_watchpoints = false, quiet = false,
       verbose = false;
  collide::TraceOptions trace;
  std::set<Category> hidden;
};

/// What --hide may name.
const std::vector<std::pair<std::string, Category>>& filters() {
  static const std::vector<std::pair<std::string, Category>> table = {
      {"counters", Category::kCounter},
      {"flags", Category::kFlag},
      {"same-value", Category::kSameValue},
      {"names", Category::kSpecialName},
  };
  return table;
}

/// The number in front of `unit`, which may be missing.
std::optional<double> number_with_unit(const std::string& text, const std::string& unit) {
  char* end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !(value >= 0) || value > 1e9 || (*end != '\0' && unit != end))
    return std::nullopt;
  return value;
}

/// Makes settings of the words; "" or what is wrong with them.
std::string settle(CollideOptions& options) {
  collide::SampleOptions& sampling = options.trace.sampling;
  auto percent = number_with_unit(options.overhead, "%");
  if (!percent || *percent > 100)
    return fmt::format("'{}' is no overhead; write 5% (0 to 100)", options.overhead);
  sampling.limits.overhead = *percent / 100;
  if (!options.rate.empty()) {
    auto rate = number_with_unit(options.rate, "/s");
    if (!rate) return fmt::format("'{}' is no rate; write 100/s", options.rate);
    sampling.limits.per_second = *rate;
    if (*rate == 0) sampling.limits.overhead = 0;
  }
  auto time = [](const std::string& text) -> std::optional<collide::Duration> {
    auto seconds = exec::parse_time(text);
    if (!seconds || *seconds == 0) return std::nullopt;
    return std::chrono::duration_cast<collide::Duration>(std::chrono::duration<double>(*seconds));
  };
  if (!options.duration.empty()) {
    options.trace.duration = time(options.duration);
    if (!options.trace.duration) return fmt::format("'{}' is no time; write 30s, 5m or 2h", options.duration);
  }
  auto delay = time(options.delay);
  if (!delay || *delay > std::chrono::seconds(1))
    return fmt::format("'{}' is no delay; write 1ms (at most 1s)", options.delay);
  sampling.delay = *delay;
  sampling.seed = static_cast<std::uint64_t>(options.seed);

  options.hidden = {Category::kAtomic};
  if (!options.include_volatile) options.hidden.insert(Category::kVolatile);
  if (!options.untyped) options.hidden.insert(Category::kUntyped);
  std::string rest = options.hide;
  while (!rest.empty()) {
    std::string name = rest.substr(0, rest.find(','));
    rest.erase(0, std::min(rest.size(), name.size() + 1));
    std::vector<std::string> known = {"all"};
    bool found = name == "all";
    for (const auto& [word, category] : filters()) {
      known.push_back(word);
      if (name != word && name != "all") continue;
      options.hidden.insert(category);
      found = true;
    }
    if (!found)
      return fmt::format("unknown filter '{}'{}; known are {}", name, catalog::nearest_hint(name, known),
                         fmt::join(known, ", "));
  }

  if (options.pid.empty() == options.trace.program.empty())
    return options.pid.empty()
               ? "no program given; put it and its arguments after --, or name a process with -p"
               : "-p PID and a program exclude each other";
  if (options.pid.empty()) return {};
  char* end = nullptr;
  long pid = std::strtol(options.pid.c_str(), &end, 10);
  if (end == options.pid.c_str() || *end != '\0' || pid <= 0 || pid > (1 << 22))
    return fmt::format("'{}' is no process id", options.pid);
  options.trace.pid = static_cast<pid_t>(pid);
  return {};
}

report::Document make_document(const CollideOptions& options, const finding::RunLog& log,
                               report::Suppressions& suppressions) {
  report::Document document = new_document("collide", options.seed, options.trace.program);
  document.collide.emplace();
  document.collide->hidden = options.hidden;
  report::fill_document(log, suppressions, document);
  return document;
}

int execute(CollideOptions& options) {
  report::Suppressions suppressions;
  for (const std::string& file : options.suppressions) {
    if (std::string error = suppressions.load(file); !error.empty()) {
      if (error.rfind(file + ":", 0) == 0)
        say_plain(error);
      else
        say(error);
      return kExitWrongUse;
    }
  }
  collide::TraceOptions& trace = options.trace;
  if (!trace.program.empty()) {
    const std::string& program = trace.program[0];
    std::string path = program.find('/') == std::string::npos ? find_program(program) : program;
    if (collide::elf_class(path) == 32) {
      say(fmt::format("{} is a 32-bit program; only 64-bit ones can be sampled", program));
      return kExitToolFailed;
    }
  }
  trace.halt = options.halt;
  trace.watchpoints = !options.no_watchpoints;
  bool watchpoints = true;
  trace.say = [&](const std::string& text) {
    watchpoints = false;
    say(text);
  };
  trace.keeps = [&](const finding::ProcessLog& log) {
    finding::RunLog whole;
    whole.processes.push_back(log);
    report::Suppressions copy = suppressions;
    return !make_document(options, whole, copy).races.empty();
  };
  collide::TraceResult result = collide::trace(trace);
  if (result.start_error != 0) {
    say(fmt::format("cannot start '{}': {}", trace.program[0], std::strerror(result.start_error)));
    return kExitToolFailed;
  }
  if (!result.problem.empty()) {
    say(result.problem);
    return kExitToolFailed;
  }

  report::Document document = make_document(options, result.log, suppressions);
  document.seconds = result.seconds;
  document.root_pid = result.pid;
  report::CollideReport& collide = *document.collide;
  collide.samples = result.counts.samples;
  collide.fired = result.counts.fired;
  collide.armed = result.counts.armed;
  collide.hits = result.counts.hits;
  collide.asked = trace.sampling.limits.per_second > 0 ? 0 : trace.sampling.limits.overhead;
  collide.overhead = result.overhead;
  collide.watchpoints = watchpoints;
  collide.pid = trace.pid;

  report::TextStyle style;
  style.detail = options.quiet     ? report::Detail::kQuiet
                 : options.verbose ? report::Detail::kVerbose
                                   : report::Detail::kNormal;
  style.color = exec::wants_color(options.color);
  if (options.json != "-") {
    std::string text = report::to_text(document, style);
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
  std::vector<std::pair<std::string, std::string>> documents;
  if (!options.json.empty()) documents.emplace_back(options.json, report::to_json(document));
  if (!options.print_suppressions.empty())
    documents.emplace_back(options.print_suppressions, report::to_suppressions(document));
  bool delivered = true;
  for (const auto& [where, text] : documents) {
    if (std::string error = exec::write_document(where, text); !error.empty()) {
      say(error);
      delivered = false;
    }
  }
  if (result.signalled && !result.cut && !options.quiet) {
    const char* name = sigabbrev_np(result.code);
    say(fmt::format("the program was ended by {}",
                    name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", result.code)));
  }
  if (!delivered) return kExitToolFailed;
  if (options.fail_on == "race" && !document.races.empty()) return kExitFindings;
  if (!trace.program.empty() && result.cut) return document.races.empty() ? kExitOutOfTime : kExitOk;
  if (!result.ended || trace.program.empty()) return kExitOk;
  return result.signalled ? 128 + result.code : result.code;
}

}  // namespace

int collide_command(const Arguments& arguments) {
  CollideOptions options;
  CLI::App app(
      "Samples an unmodified program with breakpoints and hardware watchpoints; reports races caught in the "
      "act.",
      "duress collide");
  app.prefix_command();
  app.set_help_flag("-h,--help", "This text");
  app.add_option("-p,--pid", options.pid, "A running process, instead of a program");
  app.add_option("--overhead", options.overhead, "How much slower the program may become; default 5%");
  app.add_option("--rate", options.rate, "Samples a second instead, 100/s, whatever they cost");
  app.add_option("--duration", options.duration,
                 "How long: 30s, 5m, 2h. Then a process is let go, a program is ended");
  app.add_option("--delay", options.delay, "How long a thread is held before its access; default 1ms");
  app.add_flag("--halt", options.halt, "Stop at the first race");
  app.add_option("--hide", options.hide,
                 "Kinds not to report, A,B: counters, flags, same-value, names, or all of these");
  app.add_flag("--volatile", options.include_volatile, "Report races on volatile variables too");
  app.add_flag("--untyped", options.untyped, "Report also what may be atomic, as no debug information tells");
  app.add_flag("--no-watchpoints", options.no_watchpoints, "Compare values only");
  app.add_option("--json", options.json, "Write one JSON document: --json to stdout, --json=FILE to a file");
  app.add_option("--suppressions", options.suppressions, "File of races to hide, in ThreadSanitizer's syntax")
      ->allow_extra_args(false);
  app.add_option("--print-suppressions", options.print_suppressions,
                 "Write lines that would hide what was found, to stdout or =FILE");
  app.add_option("--fail-on", options.fail_on,
                 "destructive, race (default) or never: what makes the exit code 66")
      ->check(CLI::IsMember({"destructive", "race", "never"}));
  app.add_option("--seed", options.seed, "Where everything random comes from; default 1");
  app.add_flag("-q,--quiet", options.quiet, "Only the first line of each finding");
  app.add_flag("-v,--verbose", options.verbose, "All frames of all stacks");
  app.add_option("--color", options.color, "auto (default), always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app.footer(
      "The program's own exit code is passed on; 66: races were found; 124: --duration ended a program and "
      "nothing was\n"
      "found; 2: wrong use; 125: the program cannot be started or the process cannot be attached to.\n\n"
      "  duress collide -- ./server --port 8080\n"
      "  duress collide -p $(pidof server) --duration 60s --overhead 1%");
  try {
    options.trace.program = parse_with_target(
        app, arguments, {{"--json", "-"}, {"--print-suppressions", "-"}, {"--color", "always"}}, {"--json"});
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", help_text(app, "(-- PROG ARGS | -p PID)"));
    return kExitOk;
  } catch (const CLI::ParseError& parse_error) {
    return wrong_use("collide", parse_error.what());
  }
  if (std::string error = settle(options); !error.empty()) return wrong_use("collide", error);
  for (const std::string& where : {options.json, options.print_suppressions}) {
    if (std::string error = exec::check_document(where); !error.empty()) return wrong_use("collide", error);
  }
  return execute(options);
}

}  // namespace duress::cli
