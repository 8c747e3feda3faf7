// SPDX-License-Identifier: Apache-2.0
#include "cli/replay_options.h"

#include <cstdlib>
#include <filesystem>

#include "cli/command_app.h"
#include "exec/store.h"
#include "exec/token_text.h"

namespace duress::cli {
namespace {

namespace fs = std::filesystem;

/// Fills in what the id or the token stands for. "" or what is wrong, as a user's mistake.
std::string resolve(ReplayOptions& options) {
  std::string text = options.what;
  if (exec::is_failure_id(text)) {
    std::string error;
    std::optional<exec::StoredFinding> finding = exec::Store(options.absolute_dir()).load(text, error);
    if (!finding) return error;
    text = finding->token;
    // A race is known by its own id, what it does by that of the failure.
    options.expected = finding->id.rfind("R-", 0) == 0 ? finding->failure_id : finding->id;
    options.oracle = finding->oracle;
    options.input = finding->input;
    for (const std::string& variable : finding->environment) {
      std::size_t sign = variable.find('=');
      setenv(variable.substr(0, sign).c_str(), variable.c_str() + (sign == std::string::npos ? 0 : sign + 1),
             1);
    }
    if (options.target.empty()) {
      options.target = finding->target;
      std::error_code ignored;
      if (finding->folder != fs::current_path(ignored).string()) options.folder = finding->folder;
    }
  }
  exec::TokenText token = exec::read_token_text(text);
  if (!token.error.empty()) return token.error;
  if (options.target.empty()) return "a token needs its program: duress replay TOKEN -- PROG ARGS";
  if (std::string error = exec::check_token_program(token, options.target[0]); !error.empty()) return error;
  options.plan = std::move(token.plan);
  options.plan.head.backend = options.backend == "thread" || options.gdb || options.for_gdb
                                  ? trail::Backend::kThread
                                  : trail::Backend::kFiber;
  options.plan.head.trace = options.trace;
  return {};
}

}  // namespace

std::optional<int> read_replay_options(const Arguments& arguments, ReplayOptions& options) {
  CommandApp app("replay", "Replays the recorded execution of a finding.");
  app.add_option("what", options.what, "Id of a finding (F-12ab), token (D1.prog.xyz) or @FILE with one");
  app.add_flag("--trace", options.trace, "Print every step, a column per thread");
  app.add_flag("--gdb", options.gdb,
               "Run it in gdb, with a thread of the system for each of its own; stops at the racing access");
  app.add_flag("--for-gdb", options.for_gdb, "What gdb's command 'duress replay' starts").hidden();
  app.add_option("--input", options.input, "Standard input of the program, for a token").hidden();
  app.add_option("--backend", options.backend, "fiber (default) or thread: what runs the program's threads")
      .one_of({"fiber", "thread"});
  app.add_option("--times", options.times, "Repeat it, and say how often it was the same; default 1")
      .between(u64{1}, u64{1} << 32);
  add_oracle(app, options.oracle);
  for (const char* option : {"--check", "--expect-output", "--expect-exit"})
    app.option(option).description("Same as in duress explore; taken from the record for an id");
  app.add_option("--run-timeout", options.run_timeout,
                 "How long it may take; default 10s, with --backend thread 60s")
      .time();
  options.add_dir(app, "Folder that holds the finding");
  options.add_screen(app, "Only the first line of the failure",
                     "All frames of all stacks, all steps of a trace");
  app.footer(
      "Exit code 66: it failed again; 0: it ended well; 2: wrong use, or a token of another program or "
      "version;\n"
      "125: duress itself failed or the program could not be started.\n\n"
      "  duress replay F-12ab --trace\n"
      "  duress replay D1.queue_test.AQAB... -- ./queue_test");
  if (std::optional<int> code = app.read_before_mark(arguments, options.target)) return code;
  if (options.what.empty()) return app.reject("no execution given; give an id (F-12ab) or a token");
  const char* default_timeout = options.backend == "thread" || options.for_gdb ? "60s" : "10s";
  const std::string timeout = options.run_timeout.empty() ? default_timeout : options.run_timeout;
  if (std::optional<int> code = app.reject(read_time(timeout, options.run_seconds))) return code;
  std::string error = resolve(options);
  if (error.empty()) return std::nullopt;
  say(error);
  return kExitWrongUse;
}

}  // namespace duress::cli
