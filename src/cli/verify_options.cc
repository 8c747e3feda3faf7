// SPDX-License-Identifier: Apache-2.0
#include "cli/verify_options.h"

#include "catalog/lookup.h"
#include "catalog/models.h"
#include "catalog/orders.h"

namespace duress::cli {
namespace {

/// Translates the words of the command line into the setup; "" or what is wrong.
std::string check(VerifyOptions& options) {
  verify::VerifySetup& setup = options.setup;
  if (std::string error = options.check_campaign(setup); !error.empty()) return error;
  setup.seed = static_cast<u64>(options.seed);
  setup.order = *id_of<ExplorationOrder>(options.order.c_str());
  if (options.weaken && options.model != "rc11") return "--weaken needs --model rc11";
  setup.profile_atomics = options.weaken;
  if (options.model == "rc11") {
    setup.model = ModelId::kRc11;
    if (setup.preemptions >= 0) return "--preemptions is for --model sc";
    if (options.order != "run-on") return "--order is for --model sc";
    if (setup.spurious != 0) return "--spurious is for --model sc";
    if (setup.timeouts != 0) return "--timeouts is for --model sc";
  }
  return {};
}

void add_exploration(CommandApp& app, VerifyOptions& options) {
  verify::VerifySetup& setup = options.setup;
  app.add_option("--preemptions", setup.preemptions, "At most N preemptions per interleaving")
      ->type_name("N")
      ->check(at_least(0));
  app.add_option("--model", options.model,
                 "The memory model: sc (default), or rc11: also what relaxed, acquire and release allow")
      ->check(CLI::IsMember({"sc", "rc11"}));
  app.add_option(
         "--spurious", setup.spurious,
         "Waits on conditions may end with no signal: at most N times (default 1) in a row of a thread at a "
         "place, until it is signalled")
      ->type_name("N")
      ->check(at_least(1));
  app.add_option("--timeouts", setup.timeouts,
                 "Timeouts may come before anything else happens, with the same bound; otherwise they come "
                 "only when nothing else can happen")
      ->type_name("N")
      ->check(at_least(1));
  for (const char* option : {"--spurious", "--timeouts"}) app.allow_bare(option, "1", true);
  app.add_option(
         "--order", options.order,
         "Which interleavings come first: run-on (default), writes-first, watch-written, avoid-release, "
         "acquire-first")
      ->check(CLI::IsMember(catalog::names<ExplorationOrder>()));
  app.add_flag("--weaken", options.weaken,
               "With --model rc11: which memory orders are needed; each is weakened, one at a time");
  app.add_flag("--no-advice", options.no_advice, "Do not look for a change that fixes the races");
}

}  // namespace

std::optional<int> read_verify_options(const Arguments& arguments, VerifyOptions& options) {
  verify::VerifySetup& setup = options.setup;
  CommandApp app("verify",
                 "Looks at every interleaving of a program, up to equivalence, for races and failures.");
  add_exploration(app, options);
  options.add_campaign(app, setup, setup.most_executions,
                       {.budget = {.runs = "Stop after this many executions"},
                        .fail_on = "race",
                        .fail_on_help = "race (default), destructive or new-destructive (failures, not races "
                                        "alone), never: what makes the exit code 66",
                        .quiet = "Only the first line of each finding",
                        .verbose = "All frames of all stacks"});
  app.footer(
      "0: nothing found; 66: a race or a failure; 124: out of time with nothing found; 2: wrong use; 125: "
      "the\n"
      "program could not be started, or it is not instrumented.\n\n"
      "  duress verify -- ./lock_test\n"
      "  duress verify --preemptions 2 --time 5m -- ./queue_test\n"
      "  duress verify --spurious --timeouts -- ./queue_test\n"
      "  duress verify --model rc11 --weaken -- ./lock_test");
  if (std::optional<int> code = app.read_with_target(arguments, options.target)) return code;
  return app.reject(check(options));
}

}  // namespace duress::cli
