// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>

#include "cli/command_app.h"
#include "cli/option_error.h"
#include "exec/session.h"
#include "report/json_writer.h"

namespace duress::cli {

namespace fs = std::filesystem;

void DirOptions::add_dir(CommandApp& app, const std::string& what) {
  app.add_option("--dir", dir, what + "; default .duress");
}

std::string DirOptions::absolute_dir() const {
  return fs::absolute(dir).lexically_normal().string();
}

void ScreenOptions::add_screen(CommandApp& app, const char* quiet_help, const char* verbose_help) {
  app.add_flag("-q,--quiet", quiet, quiet_help);
  app.add_flag("-v,--verbose", verbose, verbose_help);
  app.add_option("--color", color, "auto (default), always or never").one_of({"auto", "always", "never"});
  app.allow_bare("--color", "always");
}

report::FindingStyle ScreenOptions::finding_style(const std::string& dir, int fd) const {
  std::error_code ignored;
  return {exec::wants_color(color, fd), quiet, verbose, fs::current_path(ignored).string(),
          dir == ".duress" ? "" : " --dir " + dir};
}

void OutputOptions::add_output(CommandApp& app, const char* quiet_help, const char* verbose_help) {
  app.add_option(
      "--json", json,
      "Write one JSON document: --json to stdout, --json=FILE to a file; --json=lines or lines:FILE: "
      "findings as they come, an object per line");
  app.allow_bare("--json", "-", true);
  files.add_to(app);
  add_screen(app, quiet_help, verbose_help);
}

std::string OutputOptions::check_output() const {
  if (std::string error = files.check(); !error.empty()) return error;
  std::string place = JsonLines::place_in(json);
  return option_error("--json", place.empty() ? exec::check_document(json) : lines->open(place));
}

bool OutputOptions::write_json(const report::Json& document) const {
  if (!JsonLines::place_in(json).empty()) {
    lines->finish(document);
    return true;
  }
  if (json.empty()) return true;
  std::string text = document.dump(2, ' ', false, report::Json::error_handler_t::replace) + "\n";
  std::string error = exec::write_document(json, text);
  if (!error.empty()) say(error);
  return error.empty();
}

bool OutputOptions::write(const report::Document& document, const std::string& dir) const {
  report::Json all = report::json_of(document);
  bool written = write_json(all);
  return finish_with_reports(files, dir, std::move(all)) && written;
}

void BudgetOptions::add_budget(CommandApp& app, u64& runs, unsigned& jobs, const Help& help) {
  app.add_option("--runs", runs, help.runs).at_least(1);
  app.add_option("--time", time, help.time).time();
  add_seed(app, seed);
  app.add_option("-j,--jobs", jobs, help.jobs);
  app.add_option("--run-timeout", run_timeout, help.run_timeout).time();
}

std::string BudgetOptions::check_budget(double& seconds, double& run_seconds, unsigned& jobs,
                                        const std::string& default_timeout) const {
  if (!time.empty()) {
    if (std::string error = read_time(time, seconds); !error.empty()) return error;
  }
  if (jobs == 0) jobs = std::max(1u, std::thread::hardware_concurrency());
  if (run_timeout.empty() && default_timeout.empty()) return {};
  return read_time(run_timeout.empty() ? default_timeout : run_timeout, run_seconds);
}

void add_seed(CommandApp& app, std::int64_t& seed) {
  app.add_option("--seed", seed, "Random seed (default 1)").at_least(0);
}

void add_oracle(CommandApp& app, exec::OracleOptions& oracle) {
  app.add_option("--check", oracle.check, "Shell command that reads a run's output; non-zero exit = failure");
  app.add_option("--expect-output", oracle.expected_output, "File that every run's output must equal");
  app.add_option("--expect-exit", oracle.expect_exit, "The exit code that means success; default 0")
      .between(0, 255);
}

std::string check_oracle(exec::OracleOptions& oracle) {
  if (oracle.expected_output.empty()) return {};
  oracle.expected_output = fs::absolute(oracle.expected_output).lexically_normal().string();
  if (access(oracle.expected_output.c_str(), R_OK) == 0) return {};
  return fmt::format("--expect-output: cannot read '{}': {}", oracle.expected_output, std::strerror(errno));
}

void GateOptions::add_gate(CommandApp& app, const char* by_default, const char* fail_on_help) {
  fail_on = by_default;
  app.add_option("--fail-on", fail_on, fail_on_help).one_of(fail_on_names());
  app.add_option("--baseline", baseline,
                 "Document of an earlier --json; findings in it do not make the exit code 66");
}

std::string GateOptions::load_baseline() {
  return baseline.empty() ? "" : option_error("--baseline", known.load(baseline));
}

void add_coverage(CommandApp& app, bool& coverage) {
  app.add_flag("--coverage", coverage,
               "Say which accesses, critical sections and waits of two threads were seen in both orders");
}

void SuppressionOptions::add_suppressions(CommandApp& app) {
  app.add_option("--suppressions", suppressions, "File of races to hide, in ThreadSanitizer's syntax")
      .one_at_a_time();
}

void SuppressionOptions::add_print_suppressions(CommandApp& app) {
  app.add_option("--print-suppressions", print_suppressions,
                 "Write lines that would hide what was found, to stdout or =FILE");
  app.allow_bare("--print-suppressions", "-");
}

std::optional<int> SuppressionOptions::load_suppressions(report::Suppressions& all) const {
  for (const std::string& file : suppressions) {
    std::string error = all.load(file);
    if (error.empty()) continue;
    error.rfind(file + ":", 0) == 0 ? say_plain(error) : say(option_error("--suppressions", error));
    return kExitWrongUse;
  }
  return std::nullopt;
}

bool SuppressionOptions::write_suppressions(const report::Document& document) const {
  if (print_suppressions.empty()) return true;
  std::string error = exec::write_document(print_suppressions, report::to_suppressions(document));
  if (!error.empty()) say(error);
  return error.empty();
}

std::string read_time(const std::string& text, double& seconds) {
  std::optional<double> value = exec::parse_time(text);
  if (!value || *value == 0) return fmt::format("invalid time '{}'; use 30s, 5m or 2h", text);
  seconds = *value;
  return {};
}

void TimeoutOptions::add_timeouts(CommandApp& app) {
  app.add_option("--timeouts", timeouts,
                 "Which timeouts may come although threads could go on: short (default: those of up to ten "
                 "seconds), real (none) or any")
      .one_of({"short", "real", "any"});
}

trail::EarlyTimeouts TimeoutOptions::early_timeouts() const {
  if (timeouts == "real") return trail::EarlyTimeouts::kNone;
  return timeouts == "any" ? trail::EarlyTimeouts::kAll : trail::EarlyTimeouts::kShort;
}

}  // namespace duress::cli
