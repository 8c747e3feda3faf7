// SPDX-License-Identifier: Apache-2.0
//
// Results must not depend on the number of workers. So run i is a function of i and of the feedback of
// earlier rounds; within a round the workers take runs in order of their numbers; and of several failing runs
// the one with the lowest number counts, after all lower ones have ended.
#include "search/search.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "exec/clock.h"
#include "exec/files.h"
#include "search/kept_coverage.h"

namespace duress::search {
namespace {

using exec::now;

/// Seconds: a search that is killed repeats what it did since.
constexpr double kSaveInterval = 0.2;

}  // namespace

/// One round's runs, [begin, end).
struct Search::Round {
  u64 begin, end;
  std::atomic<u64> first_failure{~u64{0}};
  // Under result_lock_:
  std::vector<bool> done;
  std::vector<RunFeedback> feedback;
  std::vector<std::optional<OrderCollector::Orders>> orders;  // of traced runs
  std::map<std::string, Found> found;  // by id; of equal ones that with the lowest number

  std::vector<Portfolio::Turn> turns;  // of the whole round, which may have begun before
  u64 turns_begin;
  u64 piece = 1;  // runs that a worker performs one after the other

  Round(u64 from, u64 to, std::vector<Portfolio::Turn> dealt)
      : begin(from),
        end(to),
        done(to - from),
        feedback(to - from),
        orders(to - from),
        turns(std::move(dealt)),
        turns_begin(Portfolio::round_begin(from)) {}
  const Portfolio::Turn& turn(u64 index) const { return turns[index - turns_begin]; }
  u64 end_of_piece(u64 index) const { return std::min(end, begin + ((index - begin) / piece + 1) * piece); }
  u64 first_open() const {
    return begin + static_cast<u64>(std::find(done.begin(), done.end(), false) - done.begin());
  }
};

Search::Search(SearchSetup setup, finding::Names& names, SearchListener& listener)
    : setup_(std::move(setup)),
      names_(names),
      listener_(listener),
      oracle_(setup_.oracle, setup_.worker.target[0]),
      portfolio_(setup_.search),
      store_(setup_.dir) {}

Search::~Search() = default;

double Search::elapsed() const {
  return now() - started_;
}

/// Its words, and where it runs.
std::string Search::program() const {
  std::string text;
  for (const std::string& word : setup_.worker.target) text += word + '\1';
  std::error_code ignored;
  return text + std::filesystem::current_path(ignored).string() + '\2';
}

std::string Search::key() const {
  std::string text = program();
  if (setup_.coverage) text += "coverage\2";
  const SearchOptions& search = setup_.search;
  for (const std::string& part :
       {search.strategy, std::to_string(search.depth), std::to_string(raw(search.points)),
        std::to_string(search.seed), std::to_string(search.most_steps),
        std::to_string(raw(setup_.worker.early_timeouts)), std::to_string(raw(search.model)),
        std::to_string(search.heuristic ? raw(*search.heuristic) : ~u32{0}),
        std::to_string(setup_.oracle.expect_exit), setup_.oracle.check, setup_.oracle.expected_output,
        std::to_string(setup_.keep_going), setup_.worker.chain,
        exec::read_file(setup_.worker.input).value_or("")})
    text += part + '\2';
  for (const trail::SitePair& pair : setup_.pairs)
    text += std::to_string(pair.first) + '-' + std::to_string(pair.second) + '\2';
  // A rebuilt program is a different program.
  struct stat info{};
  if (stat(setup_.worker.target[0].c_str(), &info) == 0)
    text += std::to_string(info.st_size) + " " + std::to_string(info.st_mtim.tv_sec) + "." +
            std::to_string(info.st_mtim.tv_nsec);
  return text;
}

SearchResult Search::run(const std::atomic<bool>& stop) {
  stop_ = &stop;
  started_ = now();
  if (std::string error = oracle_.load(); !error.empty()) {
    result_.problem = {exec::WorkerProblem::Kind::kTool, error};
    return result_;
  }
  const std::string name = key();
  resume_saved(name);
  pool_ = std::make_unique<exec::WorkerPool>(setup_.worker, setup_.jobs);
  result_.kept_going = setup_.keep_going;
  bool finished = false;
  while (!finished) {
    Round round(state_.next_run, std::min(Portfolio::round_end(state_.next_run), setup_.runs),
                portfolio_.deal(state_.next_run, state_.search_state));
    double round_started = now();
    run_round(round);
    result_.run_seconds += now() - round_started;
    u64 reached = end_round(round);
    bool failed = !setup_.keep_going && round.first_failure != ~u64{0};
    finished = failed || reached >= setup_.runs || result_.one_thread;
    bool problem = result_.problem.kind != exec::WorkerProblem::Kind::kNone;
    if (!finished) {
      // Short rounds end before the pool looks.
      bool goes_on = reached == round.end && !problem && tick("") && !searched_long_enough();
      if (!goes_on || now() - saved_at_ > kSaveInterval) save(name);
      if (!goes_on) break;  // interrupted, out of time, or it cannot go on
    }
    if (problem) break;
  }
  if (finished) {
    forget_search(setup_.dir, name);
    saved_races_->forget();
  }
  result_.interrupted = !finished && stop;
  result_.out_of_time = !finished && !stop && result_.problem.kind == exec::WorkerProblem::Kind::kNone;
  summarise();
  pool_.reset();
  result_.seconds = elapsed();
  return std::move(result_);
}

void Search::save(const std::string& name) {
  if (!state_.next_run) return;  // nothing ran: there is nothing to go on with
  saved_at_ = now();
  std::string error = exec::make_folder(setup_.dir + "/searches", setup_.dir);
  // In this order: a search must not say that it has runs whose races are not there.
  if (error.empty()) error = saved_races_->save(races_, state_.next_run);
  if (setup_.coverage) state_.coverage = collector_.coverage();
  if (error.empty()) error = save_search(setup_.dir, name, state_);
  if (!error.empty()) result_.warning = error;
}

/// Continues a search that was cut short, if there is one.
void Search::resume_saved(const std::string& name) {
  saved_races_.emplace(setup_.dir, name);
  if (std::optional<SavedSearch> state = load_search(setup_.dir, name);
      state && state->next_run < setup_.runs) {
    state_ = std::move(*state);
    races_ = saved_races_->load(state_.next_run);
    if (state_.coverage) collector_.restore(*state_.coverage);
    result_.earlier = state_.failures;
    failures_ = state_.failures.size();
    listener_.resumed(state_.next_run, state_.failures);
  } else {
    saved_races_->forget();
  }
  resumed_at_ = state_.next_run;
  RunFeedback suspected;
  suspected.pairs = setup_.pairs;  // a search that goes on has them
  if (resumed_at_ == 0 && !suspected.pairs.empty()) Portfolio::learn({suspected}, state_.search_state);
}

u64 Search::end_round(Round& round) {
  // In order of their numbers, whichever ended first.
  std::vector<Found*> found;
  for (auto& [id, entry] : round.found) {
    for (Found& earlier : result_.found) earlier.times += earlier.failure.id == id ? entry.times : 0;
    bool known = std::find(state_.failures.begin(), state_.failures.end(), id) != state_.failures.end();
    bool later = !setup_.keep_going && entry.run != round.first_failure;
    if (!known && !later) found.push_back(&entry);
  }
  std::sort(found.begin(), found.end(), [](Found* a, Found* b) { return a->run < b->run; });
  for (Found* entry : found) keep(*entry);
  failures_ = state_.failures.size();

  bool failed = !setup_.keep_going && round.first_failure != ~u64{0};
  u64 reached = failed ? round.first_failure + 1 : round.first_open();
  auto usable = static_cast<std::ptrdiff_t>(std::min<u64>(reached - round.begin, round.feedback.size()));
  state_.feedback.insert(state_.feedback.end(), round.feedback.begin(), round.feedback.begin() + usable);
  for (u64 i = 0; i < reached - round.begin; ++i) {
    if (round.orders[i]) collector_.add(*round.orders[i]);
  }
  state_.next_run = reached;
  bool last = round.end == setup_.runs;  // what it has shown is for the summary
  if (reached == round.end && (last || round.end == Portfolio::round_end(round.begin))) {
    Portfolio::learn(state_.feedback, state_.search_state);
    state_.feedback.clear();
  }
  return reached;
}

void Search::summarise() {
  result_.runs = state_.next_run;
  result_.fresh_runs = state_.next_run - resumed_at_;
  for (auto& [index, log] : races_) {
    if (index >= state_.next_run) break;  // it depends on timing whether this one was run
    for (finding::ProcessLog& process : log.processes) result_.races.processes.push_back(std::move(process));
  }
  // Deadlocks are counted apart from accesses. Those that a resumed part suspected are not known any more.
  std::size_t pairs = state_.search_state.pairs.size();
  result_.pairs = pairs - std::min(pairs, result_.suspected_deadlocks.size());
  // racefuzzer meets pairs, too, that no run has reported: both of a loop's reads beside one store, say.
  std::set<std::pair<u32, u32>> reported;
  for (const trail::SitePair& pair : state_.search_state.pairs)
    reported.insert(std::minmax(pair.first, pair.second));
  for (const std::pair<u32, u32>& pair : result_.created) result_.pairs += reported.count(pair) == 0 ? 1 : 0;
  Guide::Untried untried = state_.search_state.guide.untried();
  if (state_.search_state.guide.nodes().size() > 1) {  // else nothing was planned
    result_.untried = untried.plans;
    result_.untried_switches = untried.switches;
  }
  result_.restarts = pool_->restarts();
  result_.leftovers = pool_->leftovers();
  if (setup_.coverage) summarise_coverage();
}

void Search::summarise_coverage() {
  report::Coverage& coverage = result_.coverage.emplace(collector_.coverage());
  if (state_.next_run == 0) return;  // nothing ran: the next campaign is compared with the last one
  if (std::string error = compare_with_last(setup_.dir, program(), coverage); !error.empty())
    result_.warning = error;
}

bool Search::tick(const char* phase) {
  Progress progress;
  progress.fresh_runs = done_;
  progress.runs = resumed_at_ + done_;
  progress.most_runs = setup_.runs;
  progress.seconds = elapsed();
  progress.most_seconds = setup_.seconds;
  progress.failures = failures_;
  progress.phase = phase;
  listener_.progress(progress);
  return !*stop_;
}

/// A part of the time is kept for making what was found small.
bool Search::searched_long_enough() const {
  constexpr double kSearchShare = 0.8;
  return setup_.seconds > 0 && elapsed() > setup_.seconds * (failures_ != 0 ? kSearchShare : 1);
}

void Search::run_round(Round& round) {
  const u64 count = round.end - round.begin;
  round.piece = pool_->piece_of(count);
  pool_->run(
      count, [&](u64 offset, exec::Worker& worker) { return run_one(worker, round.begin + offset, round); },
      [&] { return tick("") && !searched_long_enough(); }, round.piece);
  if (result_.problem.kind == exec::WorkerProblem::Kind::kNone) result_.problem = pool_->problem();
  bool all = round.first_open() == round.end;
  if (round.begin == 0 && all && round.found.empty() && round.end >= std::min<u64>(16, setup_.runs))
    result_.one_thread = !several_strands_;
}

/// Orders are read from traces, which take long where runs have many steps.
static bool is_traced(u64 index, const SearchState& state) {
  constexpr u64 kShort = 2000, kOneIn = 16;
  return index < kOneIn || state.length < kShort || index % kOneIn == 0;
}

exec::Plan Search::plan_of(u64 index, const Round& round) const {
  exec::Plan plan = portfolio_.plan(index, round.turn(index), state_.search_state);
  plan.head.trace = setup_.coverage && is_traced(index, state_.search_state);
  return plan;
}

/// False: the worker cannot continue.
bool Search::run_one(exec::Worker& worker, u64 index, Round& round) {
  if (!setup_.keep_going && index > round.first_failure) return true;  // it would not count
  exec::Plan plan = plan_of(index, round);
  auto lookahead = [&](std::size_t most) {
    std::vector<exec::Plan> plans;
    for (u64 next = index + 1; next < round.end_of_piece(index) && plans.size() < most; ++next)
      plans.push_back(plan_of(next, round));
    return plans;
  };
  // What could not be controlled is in the logs; the first runs show enough of it.
  bool all = plan.head.detect == trail::Detect::kRaces || index < 16 || plan.head.trace;
  exec::Result result =
      run_identified(worker, plan, all ? exec::Logs::kAll : exec::Logs::kOfFailures, lookahead);
  if (!result.usable()) return false;
  std::optional<exec::Result> again;
  bool counts = true;  // a failure of it
  if (result.failure() != nullptr && !confirm_fair(worker, plan, result, again, counts)) return false;
  note_run(index, plan, result, round);
  exec::Result& failing = again ? *again : result;
  if (counts && failing.failure() != nullptr) {
    plan.head.points = setup_.search.points;
    plan.head.trace = false;
    std::lock_guard guard(result_lock_);
    note_failure(worker, index, plan, failing, round);
  }
  ++done_;
  return true;
}

/// A thread that waits for a plain variable which nobody knows to race keeps all others from running. So
/// executions that look for races make it wait after a long run (trail::Points::kLongRuns): what fails then
/// has to fail again without that, because it could not be replayed. And one that has not ended is run once
/// more with it: the failure counts only if the others cannot help. False: the worker cannot continue.
bool Search::confirm_fair(exec::Worker& worker, const exec::Plan& plan, exec::Result& result,
                          std::optional<exec::Result>& again, bool& counts) {
  exec::Plan other = plan;
  const exec::Execution& execution = result.execution();
  if (plan.head.points == trail::Points::kLongRuns && execution.record.long_runs != 0 &&
      !execution.timed_out) {
    other.head.points = setup_.search.points;
    again = run_identified(worker, other, exec::Logs::kAll);
    if (!again->usable()) return false;
    counts = !again->execution().timed_out;
  } else if (plan.head.points == trail::Points::kSync && execution.timed_out) {
    other.head.points = trail::Points::kLongRuns;
    other.head.detect = trail::Detect::kRaces;
    exec::Result probe = run_identified(worker, other, exec::Logs::kAll);
    if (!probe.usable()) return false;
    counts = probe.execution().record.long_runs == 0 || probe.execution().timed_out;
    if (!counts) result = std::move(probe);  // what it shows of races
  }
  return true;
}

exec::Result Search::run_identified(exec::Worker& worker, const exec::Plan& plan, exec::Logs logs,
                                    const exec::Lookahead& lookahead) {
  exec::Result result = worker.run(plan, oracle_, logs, lookahead);
  if (result.usable() && result.failure() != nullptr) {
    std::lock_guard guard(names_lock_);
    finding::identify(*result.failure(), result.logs(), names_);
  }
  return result;
}

void Search::note_run(u64 index, const exec::Plan& plan, exec::Result& result, Round& round) {
  const exec::Execution& execution = result.execution();
  const finding::RunLogs& logs = result.logs();
  RunFeedback feedback;
  feedback.pairs = finding::racing_pairs(logs);
  std::vector<trail::SitePair> suspected = finding::suspected_pairs(logs);
  feedback.pairs.insert(feedback.pairs.end(), suspected.begin(), suspected.end());
  std::vector<trail::SitePair> deadlocks = finding::suspected_deadlocks(logs);
  feedback.pairs.insert(feedback.pairs.end(), deadlocks.begin(), deadlocks.end());
  feedback.strategy = plan.head.strategy;
  feedback.plan = round.turn(index).node;
  if (execution.record.outcome == trail::Outcome::kEnded) {
    feedback.choices = execution.record.choices;
    if (plan.head.observe)
      feedback.observation = {execution.record.signature, execution.observed_pairs, execution.switch_points};
  }
  OrderCollector::Orders orders;
  if (plan.head.trace) {
    std::lock_guard guard(names_lock_);
    orders = collector_.read(logs, names_);
  }
  std::lock_guard guard(result_lock_);
  u64 offset = index - round.begin;
  round.done[offset] = true;
  if (plan.head.trace) round.orders[offset] = std::move(orders);
  if (offset < round.feedback.size()) round.feedback[offset] = std::move(feedback);
  note_pairs(plan, execution, deadlocks);
  several_strands_ = several_strands_ || execution.record.strands > 1;
  result_.most_output = std::max(result_.most_output, execution.output_bytes + execution.error_bytes);
  for (const finding::ProcessLog& process : logs.run.processes)
    result_.incomplete.insert(process.incomplete.begin(), process.incomplete.end());
  if (plan.head.detect == trail::Detect::kRaces) {
    finding::RunLog& races = races_[index];
    for (const finding::ProcessLog& process : logs.run.processes) {
      if (!process.races.empty()) races.processes.push_back(process);
    }
  }
}

/// Pairs of accesses, and deadlocks, that the run's strategy was meant to create and did.
/// REQUIRES: result_lock_.
void Search::note_pairs(const exec::Plan& plan, const exec::Execution& execution,
                        const std::vector<trail::SitePair>& deadlocks) {
  for (u64 i = 0; i < std::min<u64>(execution.record.races_created, std::size(execution.record.created));
       ++i) {
    const trail::SitePair& pair = execution.record.created[i];
    result_.created.insert(std::minmax(pair.first, pair.second));
  }
  for (const trail::SitePair& pair : deadlocks) result_.suspected_deadlocks.insert({pair.first, pair.second});
  if (execution.record.outcome == trail::Outcome::kDeadlock &&
      plan.head.strategy == StrategyId::kRacefuzzer && plan.pairs.size() == 1) {
    std::pair<u32, u32> pair{plan.pairs[0].first, plan.pairs[0].second};
    if (result_.suspected_deadlocks.count(pair) != 0) result_.created_deadlocks.insert(pair);
  }
}

/// REQUIRES: result_lock_.
void Search::note_failure(exec::Worker& worker, u64 index, const exec::Plan& plan, exec::Result& result,
                          Round& round) {
  exec::Execution& execution = result.execution();
  u64 first = round.first_failure;
  while (index < first && !round.first_failure.compare_exchange_weak(first, index)) {
  }
  auto [it, fresh] = round.found.try_emplace(result.failure()->id);
  u64 times = ++it->second.times;
  if (!fresh && it->second.run < index) return;
  if (fresh) ++failures_;
  Found& found = it->second;
  found = {};
  found.times = times;
  found.failure = std::move(*result.failure());
  found.logs = std::move(result.logs());
  found.errors = exec::last_errors(worker.captured());
  found.run = index;
  found.plan = plan;
  found.trail = std::move(execution.trail);
  found.switches = found.first_switches = execution.record.switches;
  found.stale = execution.record.stale_loads;
  found.early = execution.record.early_stores;
}

}  // namespace duress::search
