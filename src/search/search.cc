// SPDX-License-Identifier: Apache-2.0
//
// Results must not depend on how many runs go side by side. So run i is a function of i and of what the
// rounds before its own taught; within a round the workers take numbers in order; and of several failing runs
// the one with the lowest number counts, after all lower ones have ended.
#include "search/search.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <thread>

#include "exec/token_text.h"

namespace duress::search {
namespace {

constexpr u64 kMinimiseRuns = 1000;
constexpr double kMinimiseSeconds = 30;
constexpr u64 kRunsWithoutModel = 200;
constexpr auto kTick = std::chrono::milliseconds(100);

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

/// One round's runs, [begin, end).
struct Search::Round {
  u64 begin, end;
  std::atomic<u64> next;
  std::atomic<u64> first_failure{~u64{0}};
  // Under result_lock_:
  std::vector<bool> done;
  std::vector<RunFeedback> feedback;
  std::map<std::string, Found> found;  // by id; of equal ones that with the lowest number

  Round(u64 from, u64 to)
      : begin(from),
        end(to),
        next(from),
        done(to - from),
        feedback(std::min(to - from, Portfolio::kFeedbackRuns)) {}
  u64 first_open() const {
    return begin + static_cast<u64>(std::find(done.begin(), done.end(), false) - done.begin());
  }
};

Search::Search(SearchSetup setup, finding::Names& names, SearchListener& listener)
    : setup_(std::move(setup)),
      names_(names),
      listener_(listener),
      oracle_(setup_.oracle),
      portfolio_(setup_.search),
      store_(setup_.dir) {}

Search::~Search() = default;

double Search::elapsed() const {
  return now() - started_;
}

std::string Search::key() const {
  std::string text;
  for (const std::string& word : setup_.worker.target) text += word + '\1';
  const SearchOptions& search = setup_.search;
  std::error_code ignored;
  for (const std::string& part :
       {std::filesystem::current_path(ignored).string(), search.strategy, std::to_string(search.depth),
        std::to_string(raw(search.points)), std::to_string(search.seed), std::to_string(search.most_steps),
        std::to_string(search.model), std::to_string(search.heuristic.value_or(~u32{0})),
        std::to_string(setup_.oracle.expect_exit), setup_.oracle.check, setup_.oracle.expected_output,
        std::to_string(setup_.keep_going), setup_.worker.chain,
        exec::read_file(setup_.worker.input).value_or("")})
    text += part + '\2';
  for (const trail::SitePair& pair : setup_.pairs)
    text += std::to_string(pair.first) + '-' + std::to_string(pair.second) + '\2';
  // A program that was built anew is another program.
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
  if (std::optional<SavedSearch> state = load_search(setup_.dir, name);
      state && state->next_run < setup_.runs) {
    state_ = std::move(*state);
    result_.earlier = state_.failures;
    failures_ = state_.failures.size();
    listener_.resumed(state_.next_run, state_.failures);
  }
  resumed_at_ = state_.next_run;
  RunFeedback suspected;
  suspected.pairs = setup_.pairs;
  if (!suspected.pairs.empty()) Portfolio::learn({suspected}, state_.search_state);
  workers_ = exec::make_workers(setup_.worker, setup_.jobs, halt_);

  result_.kept_going = setup_.keep_going;
  bool finished = false;
  while (!finished) {
    u64 round_end = Portfolio::round_end(state_.next_run);
    Round round(state_.next_run, std::min(round_end, setup_.runs));
    double round_started = now();
    ticking([&] { run_round(round); }, true, "");
    result_.search_seconds += now() - round_started;
    // In order of their numbers, whoever was first.
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
    bool whole = reached == round.end;
    state_.feedback.insert(state_.feedback.end(), round.feedback.begin(),
                           round.feedback.begin() + static_cast<std::ptrdiff_t>(std::min<u64>(
                                                        reached - round.begin, round.feedback.size())));
    state_.next_run = reached;
    if (whole && round.end == round_end) {
      if (state_.feedback.size() > Portfolio::kFeedbackRuns) state_.feedback.resize(Portfolio::kFeedbackRuns);
      Portfolio::learn(state_.feedback, state_.search_state);
      state_.feedback.clear();
    }
    finished = failed || reached >= setup_.runs || result_.one_thread;
    if (result_.problem.kind != exec::WorkerProblem::Kind::kNone) break;
    if (!finished) {
      if (std::string error = save_search(setup_.dir, name, state_); !error.empty()) result_.warning = error;
      if (!whole) break;  // interrupted, or out of time
    }
  }
  if (finished) forget_search(setup_.dir, name);
  result_.interrupted = !finished && stop;
  result_.out_of_time = !finished && !stop && result_.problem.kind == exec::WorkerProblem::Kind::kNone;
  result_.runs = state_.next_run;
  result_.fresh_runs = state_.next_run - resumed_at_;
  for (auto& [index, log] : races_) {
    if (index >= state_.next_run) break;  // only by chance was it run
    for (finding::ProcessLog& process : log.processes) result_.races.processes.push_back(std::move(process));
  }
  // A deadlock is told apart from accesses; of what an earlier part of the search suspected nothing is known.
  result_.pairs =
      state_.search_state.pairs.size() - std::min(state_.search_state.pairs.size(), result_.deadlocks.size());
  for (const auto& worker : workers_) {
    result_.restarts += static_cast<u64>(worker->restarts());
    result_.leftovers += static_cast<u64>(worker->leftovers());
  }
  workers_.clear();
  result_.seconds = elapsed();
  return std::move(result_);
}

void Search::ticking(const std::function<void()>& job, bool timed, const char* phase) {
  halt_ = false;
  std::mutex lock;
  std::condition_variable ended;
  bool over = false;
  std::thread thread([&] {
    job();
    std::lock_guard guard(lock);
    over = true;
    ended.notify_one();
  });
  double start = now();
  std::unique_lock guard(lock);
  while (!ended.wait_for(guard, kTick, [&] { return over; })) {
    guard.unlock();
    bool late = timed ? setup_.seconds > 0 && elapsed() > setup_.seconds : now() - start > kMinimiseSeconds;
    if (*stop_ || late) halt_ = true;
    Progress progress;
    progress.fresh_runs = done_;
    progress.runs = resumed_at_ + done_;
    progress.most_runs = setup_.runs;
    progress.seconds = elapsed();
    progress.most_seconds = setup_.seconds;
    progress.failures = failures_;
    progress.phase = phase;
    listener_.progress(progress);
    guard.lock();
  }
  guard.unlock();
  thread.join();
}

void Search::run_round(Round& round) {
  std::vector<std::thread> threads;
  // A worker whose target turns out not to run is found out by one, before the others start theirs.
  if (round.begin == round.end) return;
  for (std::size_t i = 1; i < workers_.size() && i < round.end - round.begin; ++i)
    threads.emplace_back([this, i, &round] { work(*workers_[i], round); });
  work(*workers_[0], round);
  for (std::thread& thread : threads) thread.join();

  bool all = round.first_open() == round.end;
  if (round.begin == 0 && all && round.found.empty() && round.end >= std::min<u64>(16, setup_.runs)) {
    std::lock_guard guard(result_lock_);
    result_.one_thread = !several_strands_;
  }
}

void Search::work(exec::Worker& worker, Round& round) {
  while (!halt_) {
    u64 index = round.next.fetch_add(1);
    if (index >= round.end) return;
    if (!setup_.keep_going && index > round.first_failure) return;
    exec::Plan plan = portfolio_.plan(index, state_.search_state);
    std::optional<exec::Execution> execution = worker.run(plan);
    if (!execution) {
      if (worker.problem().kind == exec::WorkerProblem::Kind::kStopped) return;
      std::lock_guard guard(result_lock_);
      if (result_.problem.kind == exec::WorkerProblem::Kind::kNone) result_.problem = worker.problem();
      halt_ = true;
      return;
    }
    finish_run(worker, index, plan, std::move(*execution), round);
    ++done_;
  }
}

std::optional<finding::Failure> Search::identified_failure(exec::Worker& worker,
                                                           const exec::Execution& execution,
                                                           finding::RunLogs& logs) {
  std::optional<finding::Failure> failure = oracle_.failure_of(execution, worker.captured());
  if (!failure) return failure;
  logs = worker.take_logs(execution);
  std::lock_guard guard(names_lock_);
  finding::identify(*failure, logs, names_);
  return failure;
}

void Search::finish_run(exec::Worker& worker, u64 index, const exec::Plan& plan, exec::Execution execution,
                        Round& round) {
  finding::RunLogs logs;
  std::optional<finding::Failure> failure = identified_failure(worker, execution, logs);
  bool wanted = plan.head.detect != 0 || (execution.record.uncontrolled != 0 && index < 16);
  if (!failure && wanted)
    logs = worker.take_logs(execution);
  else if (!failure)
    worker.drop_logs(execution);

  RunFeedback feedback;
  feedback.pairs = finding::racing_pairs(logs);
  std::vector<trail::SitePair> suspected = finding::suspected_pairs(logs);
  feedback.pairs.insert(feedback.pairs.end(), suspected.begin(), suspected.end());
  std::vector<trail::SitePair> deadlocks = finding::suspected_deadlocks(logs);
  feedback.pairs.insert(feedback.pairs.end(), deadlocks.begin(), deadlocks.end());
  if (execution.record.outcome == trail::Outcome::kEnded) feedback.choices = execution.record.choices;
  std::lock_guard guard(result_lock_);
  u64 offset = index - round.begin;
  round.done[offset] = true;
  if (offset < round.feedback.size()) round.feedback[offset] = std::move(feedback);
  for (u64 i = 0; i < std::min<u64>(execution.record.races_created, std::size(execution.record.created));
       ++i) {
    const trail::SitePair& pair = execution.record.created[i];
    result_.created.insert(std::minmax(pair.first, pair.second));
  }
  for (const trail::SitePair& pair : deadlocks) result_.deadlocks.insert({pair.first, pair.second});
  if (execution.record.outcome == trail::Outcome::kDeadlock && plan.strategy() == StrategyId::kRacefuzzer &&
      plan.pairs.size() == 1) {
    std::pair<u32, u32> pair{plan.pairs[0].first, plan.pairs[0].second};
    if (result_.deadlocks.count(pair) != 0) result_.deadlocks_created.insert(pair);
  }
  several_strands_ = several_strands_ || execution.record.strands > 1;
  result_.most_output = std::max(result_.most_output, execution.output_bytes + execution.error_bytes);
  for (const finding::ProcessLog& process : logs.run.processes)
    result_.incomplete.insert(process.incomplete.begin(), process.incomplete.end());
  if (plan.head.detect != 0) {
    finding::RunLog& races = races_[index];
    for (const finding::ProcessLog& process : logs.run.processes) {
      if (!process.races.empty()) races.processes.push_back(process);
    }
  }
  if (!failure) return;

  u64 first = round.first_failure;
  while (index < first && !round.first_failure.compare_exchange_weak(first, index)) {
  }
  auto [it, fresh] = round.found.try_emplace(failure->id);
  u64 times = ++it->second.times;
  if (!fresh && it->second.run < index) return;
  if (fresh) ++failures_;
  Found& found = it->second;
  found = {};
  found.times = times;
  found.failure = std::move(*failure);
  found.logs = std::move(logs);
  found.errors = exec::last_errors(worker.captured());
  found.run = index;
  found.plan = plan;
  found.trail = std::move(execution.trail);
  found.switches = found.first_switches = execution.record.switches;
  found.stale = execution.record.stale_loads;
  found.early = execution.record.early_stores;
}

void Search::minimise(Found& found) {
  exec::Worker& worker = *workers_[0];
  auto replay = [&](const exec::Trail& trail) -> std::optional<Attempt> {
    std::optional<exec::Execution> execution = worker.run(found.plan.replaying(trail));
    if (!execution) return std::nullopt;
    finding::RunLogs logs;
    std::optional<finding::Failure> failure = identified_failure(worker, *execution, logs);
    if (!failure) worker.drop_logs(*execution);
    Attempt attempt;
    attempt.same = failure && failure->id == found.failure.id;
    attempt.switches = execution->record.switches;
    attempt.choices = execution->record.choices;
    attempt.strands = execution->record.strands;
    if (!found.replayed) found.diverged = execution->record.diverged;
    found.replayed = found.replayed || attempt.same;
    attempt.trail = std::move(execution->trail);
    return attempt;
  };
  Minimised minimised = Minimiser(replay, setup_.minimise ? kMinimiseRuns : 1).run(found.trail);
  found.replayed = minimised.confirmed;
  if (!minimised.confirmed) return;
  found.diverged = 0;
  found.fewest = minimised.complete;
  // Once more, for the stacks and the last words of exactly this execution.
  bool stopped = halt_.exchange(false);
  if (std::optional<exec::Execution> execution = worker.run(found.plan.replaying(minimised.trail))) {
    finding::RunLogs logs;
    std::optional<finding::Failure> failure = identified_failure(worker, *execution, logs);
    if (failure && failure->id == found.failure.id) {
      found.trail = std::move(execution->trail);
      found.switches = execution->record.switches;
      found.stale = execution->record.stale_loads;
      found.early = execution->record.early_stores;
      found.failure = std::move(*failure);
      found.logs = std::move(logs);
      found.errors = exec::last_errors(worker.captured());
    }
  }
  halt_ = stopped;
}

void Search::try_without_model(Found& found) {
  if (found.plan.head.model == 0 || (found.stale == 0 && found.early == 0)) return;
  SearchOptions options = setup_.search;
  options.model = 0;
  Portfolio portfolio(options);
  exec::Worker& worker = *workers_[0];
  found.needs_model = true;
  for (u64 i = 0; i < kRunsWithoutModel && found.needs_model; ++i) {
    std::optional<exec::Execution> execution = worker.run(portfolio.plan(i, state_.search_state));
    if (!execution) return;
    finding::RunLogs logs;
    std::optional<finding::Failure> failure = identified_failure(worker, *execution, logs);
    if (!failure) worker.drop_logs(*execution);
    found.needs_model = !failure || failure->id != found.failure.id;
    ++found.without_model;
  }
}

void Search::keep(Found& found) {
  const std::string session_id = found.failure.id;
  ticking(
      [&] {
        minimise(found);
        try_without_model(found);
      },
      false, "minimising");
  state_.failures.push_back(session_id);
  found.failure.id = store_.free_id(found.failure.identity);
  exec::StoredFinding stored;
  stored.id = found.failure.id;
  stored.failure = found.failure.kind;
  stored.text = found.failure.text;
  stored.identity = found.failure.identity;
  stored.file = found.failure.place.file;
  stored.line = found.failure.place.line;
  stored.column = found.failure.place.column;
  stored.target = setup_.worker.target;
  std::error_code ignored;
  stored.folder = std::filesystem::current_path(ignored).string();
  stored.input = setup_.worker.input;
  stored.token = exec::make_token(found.plan, found.trail, setup_.worker.target[0]);
  stored.strategy = exec::strategy_name(found.plan.strategy());
  stored.seed = setup_.search.seed;
  stored.run = found.run;
  stored.switches = found.switches;
  stored.oracle = setup_.oracle;
  if (std::string error = store_.save(stored); !error.empty()) result_.warning = error;
  found.token = stored.token;
  listener_.found(found);
  result_.found.push_back(std::move(found));
}

}  // namespace duress::search
