// SPDX-License-Identifier: Apache-2.0
//
// `duress explore`: looks for a schedule that makes the program fail. The search itself is src/search's;
// here are its options, what is shown meanwhile, and the words for what it found.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>

#include "catalog/heuristics.h"
#include "cli/cluster_session.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/explore_options.h"
#include "cli/found_entry.h"
#include "cli/gate.h"
#include "cli/report_files.h"
#include "exec/child.h"
#include "exec/session.h"
#include "report/discovery_text.h"
#include "report/document.h"
#include "report/failure_text.h"
#include "report/json_writer.h"
#include "report/path.h"
#include "report/resolved_names.h"
#include "report/site_table.h"
#include "search/search.h"

namespace duress::cli {
namespace {

namespace fs = std::filesystem;

using search::Found;
using search::SearchResult;

std::atomic<bool> stop_asked{false};

void ask_to_stop(int) {
  stop_asked = true;
}

/// Ctrl-C ends the search, a second one ends us.
void catch_signals() {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action{}, old{};
    action.sa_handler = ask_to_stop;
    action.sa_flags = SA_RESETHAND | SA_RESTART;
    sigaction(signal, nullptr, &old);
    if (old.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);  // nohup stays nohup
  }
}

std::string duration_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  return seconds < 5400 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

std::string plural(u64 count, const char* word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

std::string rate_text(u64 runs, double seconds) {
  return seconds > 0 ? fmt::format("{:.0f} runs/s", static_cast<double>(runs) / seconds) : "";
}

/// What is shown while the search runs: one line that is written over on a terminal, else one every 10 s.
class Screen : public search::SearchListener {
 public:
  Screen(const ExploreOptions& options, finding::Names& names) : options_(options), names_(names) {
    const char* ci = std::getenv("CI");
    live_ = isatty(STDERR_FILENO) != 0 && (ci == nullptr || *ci == '\0');
    style_.color = exec::wants_color(options.color);
    style_.quiet = options.quiet;
    style_.verbose = options.verbose;
    std::error_code ignored;
    style_.cwd = fs::current_path(ignored).string();
    if (options.dir != ".duress") style_.replay_options = " --dir " + options.dir;
    silent_ = options.json == "-";
  }

  void resumed(u64 run, const std::vector<std::string>& failures) override {
    std::string text = fmt::format("resuming at run {}", run + 1);
    if (!failures.empty()) text += fmt::format(", {} found before", fmt::join(failures, ", "));
    if (!options_.quiet && !silent_) say(text);
  }

  void progress(const search::Progress& progress) override {
    if (options_.quiet || silent_) return;
    double wait = live_ ? 0.2 : 10;
    if (progress.seconds < last_ + wait) return;
    last_ = progress.seconds;
    std::string text = line(progress) + cluster_text();
    if (live_)
      fmt::print(stderr, "\r\033[K{}", text);
    else
      say(text);
    std::fflush(stderr);
    shown_ = live_;
  }

  void found(const Found& found) override {
    clear();
    if (silent_) return;
    report::FailureEntry entry = found_entry(found, false, names_);
    fmt::print(stderr, "{}",
               to_text(entry, options_.target[0], discovery_remarks(entry, options_.seed, style_), style_));
  }

  void clear() {
    if (shown_) fmt::print(stderr, "\r\033[K");
    shown_ = false;
  }

 private:
  static std::string line(const search::Progress& progress) {
    double rate = progress.seconds > 0 ? static_cast<double>(progress.fresh_runs) / progress.seconds : 0;
    std::string text =
        fmt::format("{}, {}, {}", plural(progress.runs, "run"),
                    rate_text(progress.fresh_runs, progress.seconds), plural(progress.failures, "failure"));
    if (*progress.phase != '\0') return text + ", " + progress.phase;
    double left = progress.most_seconds > 0 ? progress.most_seconds - progress.seconds : 1e9;
    if (progress.most_runs < kNoLimit && rate > 0)
      left = std::min(left, static_cast<double>(progress.most_runs - progress.runs) / rate);
    return left < 1e8 ? text + fmt::format(", {} left", duration_text(std::max(0.0, left))) : text;
  }

  const ExploreOptions& options_;
  finding::Names& names_;
  report::FindingStyle style_;
  bool live_ = false, shown_ = false, silent_ = false;
  double last_ = 0;
};

report::Document document_of(const ExploreOptions& options, const SearchResult& result,
                             finding::Names& names) {
  report::Document document = new_document("explore", options.seed, options.target);
  report::Suppressions none;
  document.runs = static_cast<int>(std::min<u64>(result.runs, 0x7fffffff));
  document.seconds = result.seconds;
  report::fill_document(result.races, none, document);
  // Which process it was is chance; everything else is the same for the same seed.
  for (auto& race : document.races) race.pid = 0;
  for (auto& crash : document.crashes) crash.pid = 0;
  document.incomplete.assign(result.incomplete.begin(), result.incomplete.end());
  document.complete = !result.interrupted && !result.out_of_time;
  document.failures.emplace();
  for (const Found& found : result.found)
    document.failures->push_back(found_entry(found, result.kept_going, names));
  document.found_before = result.earlier;
  mark_known(document, options.known);
  return document;
}

void print_notes(const ExploreOptions& options, const SearchResult& result) {
  const std::string& program = options.target[0];
  for (const std::string& what : result.incomplete) say("incomplete: " + what);
  if (result.one_thread)
    say(fmt::format("{} starts no thread: there is only one schedule, and it passes", program));
  if (result.leftovers != 0)
    say(fmt::format(
        "{} left {} running when it ended; what goes on in the background is not controlled, and was ended",
        program, result.leftovers == 1 ? "a process" : fmt::format("{} processes", result.leftovers)));
  if (result.restarts != 0)
    say(fmt::format("{} had to be started again {}", program, plural(result.restarts, "time")));
  if (result.most_output > (u64{16} << 20))
    say(fmt::format("a run printed {} MiB, which takes most of its time; nothing of it is lost to --check",
                    result.most_output >> 20));
  if (!result.warning.empty()) say(result.warning);
}

void print_summary(const ExploreOptions& options, const SearchResult& result) {
  u64 failures = result.found.size() + result.earlier.size();
  std::string text =
      fmt::format("{} in {} ({})", failures == 0 ? "no failure" : plural(failures, "failure"),
                  plural(result.runs, "run"), rate_text(result.fresh_runs, result.search_seconds));
  text += fmt::format(", seed {}", options.seed);
  if (result.pairs != 0)
    text += fmt::format("; {} seen, {} brought together; list them with duress run",
                        plural(result.pairs, "racing access pair"), result.created.size());
  if (!result.deadlocks.empty())
    text += fmt::format("; {} suspected, {} created, {} unconfirmed",
                        plural(result.deadlocks.size(), "deadlock"), result.deadlocks_created.size(),
                        result.deadlocks.size() - result.deadlocks_created.size());
  if (result.interrupted) text += "; interrupted, the same command goes on";
  if (result.out_of_time) text += "; out of time, the same command goes on";
  say(text);
}

int execute(ExploreOptions& options, const Arguments& arguments) {
  search::SearchSetup& setup = options.setup;
  setup.dir = fs::absolute(options.dir).lexically_normal().string();
  ClusterSession cluster;
  ClusterJob job{"explore", arguments, options.target, setup.dir, options.quiet || options.json == "-"};
  if (std::optional<int> code = cluster.begin(options.cluster, job, stop_asked)) return *code;
  exec::WorkFolder work(cluster.work_dir(setup.dir));
  if (!work.error().empty()) {
    say(work.error());
    return kExitToolFailed;
  }
  setup.worker.folder = work.path();
  setup.worker.target = options.target;
  setup.worker.input = cluster.input(exec::keep_input(work.path() + "/stdin"));
  cluster.use(setup.worker, setup.jobs);

  catch_signals();
  std::unique_ptr<finding::Names> names = make_names();
  Screen screen(options, *names);
  SearchResult result = search::Search(setup, *names, screen).run(stop_asked);
  screen.clear();
  cluster.end(!result.interrupted && result.problem.kind == exec::WorkerProblem::Kind::kNone);
  if (result.problem.kind != exec::WorkerProblem::Kind::kNone) {
    say(worker_problem_text(options.target[0], result.problem));
    return kExitToolFailed;
  }

  if (options.json != "-" && !options.quiet) print_notes(options, result);
  if (options.json != "-") print_summary(options, result);
  report::Document document = document_of(options, result, *names);
  if (!options.json.empty()) {
    std::string error = exec::write_document(options.json, report::to_json(document));
    if (!error.empty()) {
      say(error);
      return kExitToolFailed;
    }
  }
  if (!finish_with_reports(options.files, options.dir, report::json_of(document))) return kExitToolFailed;
  for (const Found& found : result.found) {
    if (fails(options.fail_on, options.known, {found.failure.id, true})) return kExitFindings;
  }
  for (const std::string& id : result.earlier) {
    if (fails(options.fail_on, options.known, {id, true})) return kExitFindings;
  }
  return result.out_of_time || result.interrupted ? kExitOutOfTime : kExitOk;
}

}  // namespace

std::unique_ptr<finding::Names> make_names() {
  return std::make_unique<report::ResolvedNames>();
}

std::string worker_problem_text(const std::string& program, const exec::WorkerProblem& problem) {
  if (problem.kind != exec::WorkerProblem::Kind::kEnded) return problem.text;
  std::string path = exec::program_path(program);
  if (report::SiteTable::load(path).size() != 0) return problem.text;
  return fmt::format("{} is not instrumented; build it with duress-cc or duress-c++", program);
}

int explore_command(const Arguments& arguments) {
  ExploreOptions options;
  if (std::optional<int> code = read_explore_options(arguments, options)) return *code;
  return execute(options, arguments);
}

}  // namespace duress::cli
