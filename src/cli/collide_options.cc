// SPDX-License-Identifier: Apache-2.0
#include "cli/collide_options.h"

#include <fmt/format.h>

#include <cstdlib>

#include "catalog/lookup.h"
#include "cli/command_app.h"
#include "cli/option_error.h"
#include "exec/session.h"

namespace duress::cli {
namespace {

using finding::Category;

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

collide::Duration duration_of(double seconds) {
  return std::chrono::duration_cast<collide::Duration>(std::chrono::duration<double>(seconds));
}

std::string check_sampling(CollideOptions& options) {
  collide::SampleOptions& sampling = options.trace.sampling;
  auto percent = number_with_unit(options.overhead, "%");
  if (!percent || *percent > 100)
    return fmt::format("--overhead: invalid overhead '{}'; use 5% (0 to 100)", options.overhead);
  sampling.limits.overhead = *percent / 100;
  if (!options.rate.empty()) {
    auto rate = number_with_unit(options.rate, "/s");
    if (!rate) return fmt::format("--rate: invalid rate '{}'; use 100/s", options.rate);
    sampling.limits.per_second = *rate;
    if (*rate == 0) sampling.limits.overhead = 0;
  }
  double seconds = 0;
  if (!options.duration.empty()) {
    if (std::string error = read_time(options.duration, seconds); !error.empty()) return error;
    options.trace.duration = duration_of(seconds);
  }
  if (!read_time(options.delay, seconds).empty() || seconds > 1)
    return fmt::format("--delay: invalid delay '{}'; use 1ms (at most 1s)", options.delay);
  sampling.delay = duration_of(seconds);
  sampling.seed = static_cast<std::uint64_t>(options.seed);
  return {};
}

std::string check_hidden(CollideOptions& options) {
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
      return fmt::format("--hide: unknown filter '{}'{}; known are {}", name,
                         catalog::nearest_hint(name, known), fmt::join(known, ", "));
  }
  return {};
}

std::string check_target(CollideOptions& options) {
  if (options.pid.empty() == options.trace.program.empty())
    return options.pid.empty()
               ? "no program given; put it and its arguments after --, or name a process with -p"
               : "-p PID and a program exclude each other";
  if (options.pid.empty()) return {};
  options.trace.pid = static_cast<pid_t>(std::strtol(options.pid.c_str(), nullptr, 10));
  return {};
}

std::string check_pid(const std::string& text) {
  char* end = nullptr;
  long pid = std::strtol(text.c_str(), &end, 10);
  bool valid = end != text.c_str() && *end == '\0' && pid > 0 && pid <= (1 << 22);
  return valid ? "" : fmt::format("invalid process id '{}'; use a number, as ps shows it", text);
}

std::string check(CollideOptions& options) {
  for (auto* part : {check_sampling, check_hidden, check_target}) {
    if (std::string error = part(options); !error.empty()) return error;
  }
  options.trace.halt = options.halt;
  options.trace.watchpoints = !options.no_watchpoints;
  std::string error = options.check_output();
  return error.empty()
             ? option_error("--print-suppressions", exec::check_document(options.print_suppressions))
             : error;
}

}  // namespace

std::optional<int> read_collide_options(const Arguments& arguments, CollideOptions& options) {
  CommandApp app("collide",
                 "Samples an unmodified program with breakpoints and hardware watchpoints; reports races "
                 "caught in the act.");
  app.add_option("-p,--pid", options.pid, "A running process, instead of a program").checked(check_pid);
  app.add_option("--overhead", options.overhead, "How much slower the program may become; default 5%");
  app.add_option("--rate", options.rate, "Samples a second instead, 100/s, whatever they cost");
  app.add_option("--duration", options.duration,
                 "How long: 30s, 5m, 2h. Then a process is let go, a program is ended")
      .time();
  app.add_option("--delay", options.delay, "How long a thread is held before its access; default 1ms");
  app.add_flag("--halt", options.halt, "Stop at the first race");
  app.add_option("--hide", options.hide,
                 "Kinds not to report, A,B: counters, flags, same-value, names, or all of these");
  app.add_flag("--volatile", options.include_volatile, "Report races on volatile variables too");
  app.add_flag("--untyped", options.untyped, "Also report accesses that may be atomic (no debug info)");
  app.add_flag("--no-watchpoints", options.no_watchpoints, "Compare values only");
  options.add_suppressions(app);
  options.add_print_suppressions(app);
  app.add_option("--fail-on", options.fail_on,
                 "destructive, race (default) or never: what makes the exit code 66")
      .one_of({"destructive", "race", "never"});
  add_seed(app, options.seed);
  options.add_output(app, "Only the first line of each finding", "All frames of all stacks");
  options.add_dir(app);
  app.footer(
      "The program's own exit code is passed on; 66: races were found; 124: --duration ended a program and "
      "nothing was\n"
      "found; 2: wrong use; 125: the program cannot be started or the process cannot be attached to.\n\n"
      "  duress collide -- ./server --port 8080\n"
      "  duress collide -p $(pidof server) --duration 60s --overhead 1%");
  if (auto code = app.read_with_target(arguments, options.trace.program, "(-- PROG ARGS | -p PID)", false))
    return code;
  return app.reject(check(options));
}

}  // namespace duress::cli
