// SPDX-License-Identifier: Apache-2.0
//
// `duress classify`: for every race the question that matters: is it destructive? The work is src/classify's;
// here are its options and what comes of them.
#include "classify/classify.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "catalog/lookup.h"
#include "classify/judgement.h"
#include "cli/classify_options.h"
#include "cli/classify_screen.h"
#include "cli/cluster_session.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/report_files.h"
#include "cli/tsan_output.h"
#include "exec/child.h"
#include "exec/session.h"
#include "exec/store.h"
#include "exec/token_text.h"
#include "repair/advice.h"
#include "report/document.h"
#include "report/json_writer.h"
#include "report/tsan_writer.h"
#include "report/verdict_text.h"
#include "report/words.h"

namespace duress::cli {
namespace {

namespace fs = std::filesystem;
using classify::Variable;
using classify::VerdictKind;
using classify::Witness;
using report::count_text;

std::atomic<bool> stop_asked{false};

/// Ctrl-C ends the campaign, a second one ends us.
void catch_signals() {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action{}, old{};
    action.sa_handler = [](int) { stop_asked = true; };
    action.sa_flags = SA_RESETHAND | SA_RESTART;
    sigaction(signal, nullptr, &old);
    if (old.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);  // nohup stays nohup
  }
}

bool use_color(const std::string& when) {
  if (when != "auto") return when == "always";
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) != 0 && (no_color == nullptr || *no_color == '\0');
}

/// Whether `--only` means this race: by its variable, its id, or the place of one of its accesses.
bool wanted_by(const std::string& only, const finding::Race& race) {
  if (only.empty() || only == race.variable || only == race.id) return true;
  for (const finding::AccessReport& side : race.sites) {
    finding::Frame site = side.site();
    std::string place = fmt::format("{}:{}", site.file, site.line);
    if (only == place || (place.size() > only.size() && place.ends_with("/" + only))) return true;
    if (only == fmt::format("{}:{}", place, site.column)) return true;
  }
  return false;
}

/// `--only` matches nothing: what there is, the nearest first.
int say_nothing_matches(const ClassifyOptions& options, const std::vector<finding::Race>& races) {
  std::vector<std::string> known;
  for (const finding::Race& race : races) {
    if (std::find(known.begin(), known.end(), race.variable) == known.end()) known.push_back(race.variable);
  }
  std::string hint = catalog::nearest_hint(options.only, known);
  if (known.size() > 12) known.resize(12);
  say(fmt::format("no race on '{}'{} (racing: {})", options.only, hint, fmt::join(known, ", ")));
  return kExitWrongUse;
}

/// Keeps the witness where `duress replay` finds it. Returns the token, or "" with what went wrong said.
std::string save(const finding::Race& race, const Witness& witness, const ClassifyOptions& options) {
  exec::StoredFinding stored;
  stored.id = race.id;
  stored.failure = witness.failure.kind;
  stored.text = witness.failure.text;
  stored.identity = witness.failure.identity;
  stored.file = witness.failure.place.file;
  stored.line = witness.failure.place.line;
  stored.column = witness.failure.place.column;
  stored.target = options.target;
  std::error_code ignored;
  stored.folder = options.start_in.empty() ? fs::current_path(ignored).string() : options.start_in;
  stored.environment = options.environment;
  stored.input = options.setup.worker.input;
  stored.token = exec::make_token(witness.plan, witness.trail, options.target[0]);
  stored.strategy = name_of(witness.by.strategy);
  stored.seed = static_cast<u64>(options.seed);
  stored.run = witness.trial;
  stored.switches = witness.switches;
  stored.oracle = options.setup.oracle;
  if (witness.failure.kind == "output") stored.oracle.wrong_output = witness.output;
  if (std::string error = exec::Store(options.setup.dir).save(stored); !error.empty()) say(error);
  return stored.token;
}

/// What is worth a line of its own, once.
void print_notes(const ClassifyOptions& options, classify::Classifier& classifier,
                 const report::Document& document) {
  const std::string& program = options.target[0];
  for (const std::string& what : classifier.found().incomplete) say("incomplete: " + what);
  if (classifier.found().one_thread) say(fmt::format("{} starts no thread: nothing can race", program));
  u64 failed = 0, runs = 0;
  bool settled = true, scheduled = false, charged = false;
  for (const report::RaceEntry& race : document.races) {
    if (!race.judgement || !race.judgement->attacked) continue;
    const report::Judgement& known = *race.judgement;
    settled = settled && known.output_settled;
    if (known.sc_failed != 0) failed = known.sc_failed, runs = known.sc_runs;
    scheduled = scheduled || known.sc_failed != 0;
    charged = charged || known.charge != finding::ChargeReason::kNone;
  }
  if (!settled)
    say(fmt::format(
        "the output of {} differs from schedule to schedule, so it is not used as evidence; --check CMD "
        "says what is right",
        program));
  if (scheduled && !charged)
    say(
        fmt::format("{} fails in {} of {} schedules with sequentially consistent memory, which no race is "
                    "charged with; duress "
                    "explore -- {} shows how",
                    program, failed, runs, fmt::join(options.target, " ")));
  if (classifier.leftovers() != 0)
    say(fmt::format(
        "{} left processes running when it ended; what goes on in the background is not controlled, and was "
        "ended",
        program));
  if (classifier.restarts() != 0)
    say(fmt::format("{} had to be started again {}", program, count_text(classifier.restarts(), "time")));
}

void print_summary(const ClassifyOptions& options, classify::Classifier& classifier, std::size_t races,
                   u64 suppressed, const std::map<VerdictKind, std::set<std::string>>& variables) {
  auto count = [&](VerdictKind kind) {
    auto it = variables.find(kind);
    return it == variables.end() ? std::size_t{0} : it->second.size();
  };
  std::size_t all = 0;
  for (const auto& [kind, names] : variables) all += names.size();
  std::string text = fmt::format("{} on {}, {} destructive", count_text(races, "race"),
                                 count_text(all, "variable"), count(VerdictKind::kDestructive));
  if (count(VerdictKind::kSlower) != 0) text += fmt::format(", {} slower", count(VerdictKind::kSlower));
  if (count(VerdictKind::kSameValue) != 0)
    text += fmt::format(", {} same value", count(VerdictKind::kSameValue));
  if (count(VerdictKind::kOpen) != 0) text += fmt::format(", {} not judged", count(VerdictKind::kOpen));
  if (suppressed != 0) text += fmt::format(", {} suppressed", suppressed);
  text += fmt::format(", in {}, seed {}", count_text(classifier.runs(), "run"), options.seed);
  if (options.verbose && classifier.seconds() > 0)
    text +=
        fmt::format(" ({:.0f} runs/s)", static_cast<double>(classifier.fresh_runs()) / classifier.seconds());
  if (stop_asked) text += "; interrupted, the same command goes on";
  if (classifier.out_of_time()) text += "; out of time, the same command goes on";
  say(text);
}

int give_up(const std::string& text) {
  say(text);
  return kExitToolFailed;
}

/// The campaign on its way from races to verdicts.
class Session {
 public:
  Session(ClassifyOptions& options, finding::Names& names)
      : options_(options),
        names_(names),
        text_(options.json != "-"),
        screen_(options.quiet || !text_),
        classifier_(options.setup, names, stop_asked,
                    [this](const classify::ClassifyProgress& progress) { screen_.show(progress); }) {}

  int run(report::Suppressions& suppressions) {
    if (std::string error = classifier_.open(); !error.empty()) return give_up(error);
    if (classifier_.resumed() != 0 && text_ && !options_.quiet)
      say(fmt::format("going on after {}", count_text(classifier_.resumed(), "recorded run")));
    found_ = classifier_.find();
    if (classifier_.problem().kind == Kind::kNone) {
      fill(suppressions);
      if (found_ && document_.races.empty() && !all_.empty() && !options_.allow_none) {
        screen_.clear();
        return say_nothing_matches(options_, all_);
      }
      classify();
    }
    screen_.clear();
    if (classifier_.problem().kind != Kind::kNone)
      return give_up(worker_problem_text(options_.target[0], classifier_.problem()));
    collect();
    find_fixes();
    print();
    if (std::string error = print_tsan(); !error.empty()) return give_up(error);
    if (std::string error = write(); !error.empty()) return give_up(error);
    if (!written_) return kExitToolFailed;
    if (fails_) return kExitFindings;
    return stop_asked || classifier_.out_of_time() ? kExitOutOfTime : kExitOk;
  }

 private:
  using Kind = exec::WorkerProblem::Kind;

  /// The races that are wanted, as a document.
  void fill(report::Suppressions& suppressions) {
    document_ = new_document("classify", options_.seed, options_.target);
    report::fill_document(classifier_.found().log, suppressions, document_);
    for (finding::Race& race : document_.races) race.pid = 0;  // which process it was is chance
    document_.crashes.clear();
    const std::set<std::string>& incomplete = classifier_.found().incomplete;
    document_.incomplete.assign(incomplete.begin(), incomplete.end());
    all_.assign(document_.races.begin(), document_.races.end());
    std::erase_if(document_.races,
                  [&](const finding::Race& race) { return !wanted_by(options_.only, race); });
    std::set<std::string> wanted;
    for (const finding::Race& race : document_.races) wanted.insert(race.variable);
    classifier_.keep([&](const Variable& variable) { return wanted.count(variable.name) != 0; });
  }

  void classify() {
    const classify::FoundRaces& races = classifier_.found();
    hopeless_ = races.runs != 0 && races.failed == races.runs;
    if (found_ && !hopeless_) classifier_.classify();
    if (!found_ || !hopeless_) return;
    screen_.clear();
    document_.fails = races.failure.text;
    say(fmt::format(
        "{} already fails with sequentially consistent memory, in all {} runs: {}; races are not judged, "
        "duress explore -- {} shows the failure",
        options_.target[0], races.runs, races.failure.text, fmt::join(options_.target, " ")));
  }

  /// What is known of each race; keeps the witnesses.
  void collect() {
    document_.complete = classifier_.complete();
    mark_known(document_, options_.known);
    for (report::RaceEntry& race : document_.races) {
      race.test = options_.test;
      race.judgement = judgement_of(race);
      by_kind_[race.judgement->kind].insert(race.variable);
      fails_ = fails_ || fails(options_.fail_on, options_.known, {race.id, race.judgement->destructive()});
    }
  }

  report::Judgement judgement_of(const finding::Race& race) {
    auto found = classifier_.variables().find(race.variable);
    if (found == classifier_.variables().end() || hopeless_) return {};
    const Variable& variable = found->second;
    const Witness* witness = variable.witness();
    report::Judgement judgement = classify::judgement_of(
        variable, classify::verdict_of(variable), witness != nullptr ? save(race, *witness, options_) : "");
    if (auto pairs = variable.races.find(finding::group_key(race)); pairs != variable.races.end()) {
      for (const classify::KeyPair& pair : pairs->second)
        judgement.confirmed = judgement.confirmed || variable.confirmed_pairs.count(pair) != 0;
    }
    if (!options_.stats) judgement.figures.reset();
    return judgement;
  }

  /// In ThreadSanitizer's words. "" or what went wrong.
  std::string print_tsan() {
    if (options_.format != "tsan") return {};
    document_.root_pid = getpid();
    return write_tsan(report::to_tsan(document_), options_.log_path, STDOUT_FILENO);
  }

  bool any_destructive() const {
    return std::any_of(document_.races.begin(), document_.races.end(), [](const report::RaceEntry& race) {
      return race.judgement && race.judgement->destructive();
    });
  }

  /// Whether a fix is worth looking for. Unless it is asked for, only for harm, and within the time.
  bool wants_fix() const {
    if (document_.races.empty() || hopeless_ || stop_asked) return false;
    if (options_.advice) return *options_.advice;
    return any_destructive() && !classifier_.out_of_time();
  }

  /// Fixes that verify has found before, and one that holds in all interleavings, if they are few.
  void find_fixes() {
    std::string ignored;
    for (report::RaceEntry& race : document_.races) {
      if (std::optional<repair::Advice> known = repair::load_advice(options_.setup.dir, race.id, ignored))
        race.fix = repair::fix_of(*known);
    }
    if (!wants_fix()) return;
    verify::VerifySetup setup;
    setup.worker = options_.setup.worker;
    setup.worker.folder += "/verify";
    setup.oracle = options_.setup.oracle;
    setup.dir = options_.setup.dir;
    setup.seed = options_.setup.seed;
    setup.jobs = options_.setup.jobs;
    setup.most_executions = options_.advice ? kMostForAdvice : kMostUnasked;
    setup.keeps = setup.minimise = false;
    verify::VerifyResult result = verify::Verifier(setup, names_, nullptr).run(stop_asked);
    if (!result.complete) {
      if (!options_.advice) return;
      say(fmt::format("no fix was looked for: not all interleavings were explored: {}",
                      fmt::join(result.bounds, "; ")));
      return;
    }
    std::optional<repair::Advice> advice = repair::advise(setup, result, names_, stop_asked);
    for (report::RaceEntry& race : document_.races) {
      if (!advice) break;
      race.fix = repair::fix_of(*advice);
      if (std::string error = save_advice(options_.setup.dir, race.id, *advice); !error.empty()) say(error);
    }
  }

  void print() {
    if (!text_ || options_.format == "tsan") return;
    fmt::print("{}",
               report::verdicts_text(
                   document_, {use_color(options_.color), options_.quiet, options_.verbose, document_.cwd,
                               options_.dir == ".duress" ? "" : " --dir " + options_.dir}));
    if (options_.stats) fmt::print("{}", report::figures_text(document_));
    std::fflush(stdout);
    if (!options_.quiet) print_notes(options_, classifier_, document_);
    print_summary(options_, classifier_, document_.races.size(), document_.suppressed, by_kind_);
  }

  std::string write() {
    document_.runs = static_cast<int>(std::min<u64>(classifier_.runs(), 0x7fffffff));
    document_.seconds = classifier_.seconds();
    std::string error =
        options_.json.empty() ? "" : exec::write_document(options_.json, report::to_json(document_));
    written_ = finish_with_reports(options_.files, options_.dir, report::json_of(document_));
    return error;
  }

  static constexpr u64 kMostForAdvice = 5000;  // executions; larger programs are not explored
  static constexpr u64 kMostUnasked = 200;     // half a second

  ClassifyOptions& options_;
  finding::Names& names_;
  const bool text_;  // the document is not on stdout
  ClassifyScreen screen_;
  classify::Classifier classifier_;
  report::Document document_;
  std::vector<finding::Race> all_;  // those that --only does not want too
  std::map<VerdictKind, std::set<std::string>> by_kind_;
  bool found_ = false, hopeless_ = false, fails_ = false, written_ = true;
};

int execute(ClassifyOptions& options, const Arguments& arguments) {
  classify::ClassifySetup& setup = options.setup;
  report::Suppressions suppressions;
  for (const std::string& file : options.suppressions) {
    if (std::string error = suppressions.load(file); !error.empty()) {
      error.rfind(file + ":", 0) == 0 ? say_plain(error) : say(error);
      return kExitWrongUse;
    }
  }
  setup.dir = fs::absolute(options.dir).lexically_normal().string();
  ClusterSession cluster;
  ClusterJob job{"classify", arguments, options.target, setup.dir, options.quiet || options.json == "-"};
  if (std::optional<int> code = cluster.begin(options.cluster, job, stop_asked)) return *code;
  setup.record_dir = cluster.record_dir();
  exec::WorkFolder work(cluster.work_dir(setup.dir));
  if (!work.error().empty()) return give_up(work.error());
  setup.seed = static_cast<u64>(options.seed);
  setup.worker.folder = work.path();
  setup.worker.target = options.target;
  setup.worker.input = cluster.input(exec::keep_input(work.path() + "/stdin"));
  setup.worker.start_in = options.start_in;
  setup.environment = options.environment;
  for (const std::string& variable : options.environment) {
    std::size_t sign = variable.find('=');
    setenv(variable.substr(0, sign).c_str(), variable.c_str() + sign + 1, 1);
  }
  cluster.use(setup.worker, setup.jobs);
  const std::string& program = options.target[0];
  setup.binary = exec::program_path(program);
  catch_signals();
  std::unique_ptr<finding::Names> names = make_names();
  int code = Session(options, *names).run(suppressions);
  cluster.end(!stop_asked && code != kExitToolFailed);
  return code;
}

}  // namespace

int classify_command(const Arguments& arguments) {
  ClassifyOptions options;
  if (std::optional<int> code = read_classify_options(arguments, options)) return *code;
  return execute(options, arguments);
}

}  // namespace duress::cli
