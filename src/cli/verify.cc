// SPDX-License-Identifier: Apache-2.0
//
// `duress verify`: every interleaving of a program up to equivalence. Either no race and no failure in any of
// them, which is a proof for this program and this input, or an interleaving that shows one.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>

#include "cli/cluster_session.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/found_entry.h"
#include "cli/gate.h"
#include "cli/report_files.h"
#include "cli/verify_options.h"
#include "exec/session.h"
#include "exec/token_text.h"
#include "repair/advice.h"
#include "repair/weaken.h"
#include "report/document.h"
#include "report/json_writer.h"
#include "report/verification_text.h"
#include "report/words.h"
#include "verify/verifier.h"

namespace duress::cli {
namespace {

namespace fs = std::filesystem;
using verify::VerifyResult;

std::atomic<bool> stop_asked{false};

bool same_place(const finding::AccessReport& a, const finding::AccessReport& b) {
  finding::Frame x = a.site(), y = b.site();
  return x.file == y.file && x.line == y.line && x.column == y.column && a.access == b.access;
}

/// Not by the id: of several races that are alike but for their lines, only the first has the id that it
/// would have alone.
bool same_race(const finding::Race& a, const finding::Race& b) {
  return a.variable == b.variable &&
         ((same_place(a.sites[0], b.sites[0]) && same_place(a.sites[1], b.sites[1])) ||
          (same_place(a.sites[0], b.sites[1]) && same_place(a.sites[1], b.sites[0])));
}

/// The execution that shows the race.
const verify::RacyExecution* shown_by(const finding::Race& race, const VerifyResult& result,
                                      finding::Names& names) {
  for (const verify::RacyExecution& racy : result.racy) {
    for (const finding::RaceRecord& record : racy.log.races) {
      if (same_race(names.race(racy.log, record), race)) return &racy;
    }
  }
  return nullptr;
}

report::FindingStyle style_of(const VerifyOptions& options) {
  std::error_code ignored;
  return {exec::wants_color(options.color), options.quiet, options.verbose,
          fs::current_path(ignored).string(), options.dir == ".duress" ? "" : " --dir " + options.dir};
}

/// Which memory orders are needed; each is printed as soon as it is known.
std::vector<report::OrderEntry> find_orders(const VerifyOptions& options, const VerifyResult& result,
                                            finding::Names& names) {
  std::vector<report::OrderEntry> orders;
  if (!result.complete || !result.racy.empty() || !result.found.empty()) {
    say("no order is weakened: the program as it is must be proved first");
    return orders;
  }
  repair::weaken(options.setup, result, names, stop_asked, [&](const repair::Weakened& one) {
    orders.push_back(repair::order_entry(one));
    if (options.json == "-") return;
    fmt::print("{}", report::order_text(orders.back(), style_of(options)));
    fflush(stdout);
  });
  return orders;
}

/// All but the findings' executions and fixes.
report::Document document_of(const VerifyOptions& options, const VerifyResult& result) {
  report::Document document = new_document("verify", options.seed, options.target);
  report::Suppressions none;
  document.runs = static_cast<int>(std::min<u64>(result.interleavings, 0x7fffffff));
  document.seconds = result.seconds;
  report::fill_document(result.races, none, document);
  document.incomplete.assign(result.incomplete.begin(), result.incomplete.end());
  document.complete = result.complete;
  for (report::RaceEntry& race : document.races) race.pid = 0;  // which process it was is chance
  report::Verification& verification = document.verification.emplace();
  verification.interleavings = result.interleavings;
  verification.first_finding = result.first_finding;
  verification.spurious = result.spurious;
  verification.timeouts = result.timeouts;
  verification.rc11 = options.setup.model != ModelId::kSc;
  verification.explore_seconds = result.explore_seconds;
  verification.assumes_signals = result.waited && result.spurious == 0;
  verification.bounds = result.bounds;
  return document;
}

/// The failures, and for each race an execution that shows it.
void add_executions(const VerifyResult& result, finding::Names& names, report::Document& document) {
  document.failures.emplace();
  for (const search::Found& found : result.found)
    document.failures->push_back(found_entry(found, /*counted=*/true, names));
  for (report::RaceEntry& race : document.races) {
    const verify::RacyExecution* racy = shown_by(race, result, names);
    if (racy == nullptr) continue;
    race.replay = racy->token;
    race.executions = racy->executions;
    race.switches = racy->switches;
  }
}

/// Looks for a fix, and keeps it for `duress fix` under the id of each finding.
void add_fix(const VerifyOptions& options, const VerifyResult& result, finding::Names& names,
             report::Document& document) {
  // Under rc11 a failure, too, may be there only because an order is too weak.
  bool fixable = !result.racy.empty() || (options.setup.model != ModelId::kSc && !result.found.empty());
  if (options.no_advice || !fixable || result.interrupted || result.out_of_time) return;
  std::optional<repair::Advice> advice = repair::advise(options.setup, result, names, stop_asked);
  if (!advice) return;
  report::Fix fix = repair::fix_of(*advice);
  document.verification->advice = fix;
  std::vector<std::string> ids;
  for (report::RaceEntry& race : document.races) {
    race.fix = fix;
    ids.push_back(race.id);
  }
  for (const search::Found& found : result.found) ids.push_back(found.failure.id);
  for (const std::string& id : ids) {
    if (std::string error = save_advice(options.setup.dir, id, *advice); !error.empty()) say(error);
  }
}

/// Writes the document and the reports that were asked for; says what went wrong.
bool deliver(const VerifyOptions& options, const report::Document& document) {
  if (!options.json.empty()) {
    if (std::string error = exec::write_document(options.json, report::to_json(document)); !error.empty()) {
      say(error);
      return false;
    }
  }
  return finish_with_reports(options.files, options.dir, report::json_of(document));
}

int execute(VerifyOptions& options, const Arguments& arguments) {
  options.setup.dir = fs::absolute(options.dir).lexically_normal().string();
  ClusterSession cluster;
  ClusterJob job{"verify", arguments, options.target, options.setup.dir,
                 options.quiet || options.json == "-"};
  if (std::optional<int> code = cluster.begin(options.cluster, job, stop_asked)) return *code;
  exec::WorkFolder work(cluster.work_dir(options.setup.dir));
  if (!work.error().empty()) {
    say(work.error());
    return kExitToolFailed;
  }
  options.setup.seed = static_cast<u64>(options.seed);
  options.setup.worker.folder = work.path();
  options.setup.worker.target = options.target;
  options.setup.worker.input = cluster.input(exec::keep_input(work.path() + "/stdin"));
  cluster.use(options.setup.worker, options.setup.jobs);
  struct sigaction action{};
  action.sa_handler = [](int) { stop_asked = true; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);

  std::unique_ptr<finding::Names> names = make_names();
  bool live = isatty(STDERR_FILENO) != 0 && !options.quiet;
  double shown = 0;
  verify::Verifier verifier(options.setup, *names, [&](u64 interleavings, u64 waiting, double seconds) {
    double wait = live ? 0.2 : 10;
    if (options.quiet || options.json == "-" || seconds < shown + wait) return;
    shown = seconds;
    std::string text =
        fmt::format("{}, {:.0f}/s, {} branches left", report::count_text(interleavings, "interleaving"),
                    static_cast<double>(interleavings) / seconds, report::grouped(waiting)) +
        cluster_text();
    if (live)
      fmt::print(stderr, "\r\033[K{}", text);
    else
      say(text);
  });
  VerifyResult result = verifier.run(stop_asked);
  if (live) fmt::print(stderr, "\r\033[K");
  if (result.problem.kind != exec::WorkerProblem::Kind::kNone) {
    cluster.end(false);
    say(worker_problem_text(options.target[0], result.problem));
    return kExitToolFailed;
  }

  report::Document document = document_of(options, result);
  if (options.weaken) document.verification->orders = find_orders(options, result, *names);
  add_fix(options, result, *names, document);
  add_executions(result, *names, document);
  mark_known(document, options.known);
  cluster.end(!stop_asked);
  if (options.json != "-") {
    fmt::print("{}", report::verification_text(document, style_of(options)));
    for (const std::string& line : report::verification_summary(document)) say(line);
  }
  if (!deliver(options, document)) return kExitToolFailed;
  for (const report::RaceEntry& race : document.races) {
    if (fails(options.fail_on, options.known, {race.id, false})) return kExitFindings;
  }
  for (const search::Found& found : result.found) {
    if (fails(options.fail_on, options.known, {found.failure.id, true})) return kExitFindings;
  }
  return result.out_of_time || result.interrupted ? kExitOutOfTime : kExitOk;
}

}  // namespace

int verify_command(const Arguments& arguments) {
  VerifyOptions options;
  if (std::optional<int> code = read_verify_options(arguments, options)) return *code;
  return execute(options, arguments);
}

}  // namespace duress::cli
