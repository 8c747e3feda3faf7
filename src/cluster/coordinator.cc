// SPDX-License-Identifier: Apache-2.0
//
// Latency matters: a witness is minimised one execution after the other. So both sides poll often right after
// a message and less and less often without one: the pause is a tenth of the time since the last message. All
// times are differences of one machine's monotonic clock; clocks of different machines are not compared.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <set>

#include "cluster/codec.h"
#include "cluster/coordinator_state.h"
#include "exec/files.h"
#include "exec/worker.h"

namespace duress::cluster {
namespace {

using exec::RemoteRun;
using exec::WorkerProblem;
using Kind = WorkerProblem::Kind;

constexpr double kShortest = 0.0001;  // seconds between two polls
constexpr double kLongest = 0.02;
constexpr double kFed = 0.002;  // every worker has several executions queued
constexpr double kScanEvery = 0.25;
constexpr auto kStopEvery = std::chrono::milliseconds(100);

/// For bench/scale: when an execution was asked for, when its result was there, how long it ran; and at the
/// end the processor time of the thread that all of them go through.
std::FILE* trace_file() {
  static std::FILE* file = [] {
    const char* path = std::getenv("DURESS_CLUSTER_TRACE");
    return path != nullptr ? std::fopen(path, "ae") : nullptr;
  }();
  return file;
}

void trace(double asked, const RemoteRun& run) {
  if (std::FILE* file = trace_file())
    std::fprintf(file, "%.6f %.6f %.6f\n", asked, now(), run.execution.seconds);
}

void trace_thread() {
  struct timespec used{};
  std::FILE* file = trace_file();
  if (file == nullptr || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) != 0) return;
  std::fprintf(file, "# %.6f\n", static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9);
  std::fflush(file);
}

}  // namespace

Coordinator::Coordinator(CoordinatorOptions options)
    : options_(std::move(options)), folder_(options_.folders.front()) {
  heard_ = now();
  {
    MutexLock guard(lock_);
    scan();
    read_records();
    loading_ = false;
  }
  if (!options_.recorded_only) thread_ = std::thread([this] { drive(); });
}

Coordinator::~Coordinator() {
  close();
}

void Coordinator::close() {
  {
    MutexLock guard(lock_);
    over_ = true;
  }
  asked_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::string Coordinator::spec_of(const exec::WorkerOptions& options, u64& hash) {
  std::string text;
  for (const std::string& word : options.target) text += word + '\1';
  text += options.input + '\2' + options.chain + '\2' + std::to_string(options.run_seconds);
  auto [it, fresh] = specs_.try_emplace(text, 0);
  std::string error = fresh ? folder_.save_spec(options, it->second) : "";
  hash = it->second;
  if (!error.empty()) specs_.erase(it);
  return error;
}

RemoteRun Coordinator::run(const exec::WorkerOptions& options, const exec::Plan& plan,
                           const std::atomic<bool>* stop) {
  RemoteRun none;
  std::string bytes = plan_bytes(plan);
  MutexLock guard(lock_);
  u64 spec = 0;
  if (std::string error = spec_of(options, spec); !error.empty()) {
    none.problem = {Kind::kTool, error};
    return none;
  }
  std::string payload(reinterpret_cast<const char*>(&spec), sizeof spec);
  payload += bytes;
  const Key key = key_of(payload);
  if (auto known = known_.find(key); known != known_.end()) {
    Place place = known->second;
    std::string path = peers_[place.peer]->reader.path();
    guard.unlock();
    if (std::optional<RemoteRun> run = read_run(payload_at(path, place.offset, key))) {
      guard.lock();
      ++state_.reused;
      return std::move(*run);
    }
    guard.lock();
    known_.erase(key);
  }
  if (options_.recorded_only) {
    missing_ = true;
    guard.unlock();
    if (options_.stop) options_.stop();
    none.problem = {Kind::kStopped, "stopped"};
    return none;
  }
  std::shared_ptr<Wanted>& entry = open_[key];
  if (!entry) {
    entry = std::make_shared<Wanted>();
    entry->key = key;
    entry->payload = std::move(payload);
    entry->since = now();
    pending_.push_back(entry);
    ++state_.waiting;
    asked_.notify_one();
  }
  std::shared_ptr<Wanted> wanted = entry;
  const double asked = now();
  ++wanted->waiters;
  while (!wanted->done && problem_.kind == Kind::kNone && !(stop != nullptr && *stop))
    wanted->ready.wait_for(guard, kStopEvery);
  --wanted->waiters;
  if (wanted->done) {
    guard.unlock();
    if (std::optional<RemoteRun> run = read_run(wanted->result)) {
      trace(asked, *run);
      return std::move(*run);
    }
    none.problem = {Kind::kTool, "a worker's result cannot be read: it runs another version of duress"};
    return none;
  }
  wanted->left_since = now();
  none.problem = problem_.kind != Kind::kNone ? problem_ : WorkerProblem{Kind::kStopped, "stopped"};
  return none;
}

void Coordinator::fail(const std::string& text) {
  MutexLock guard(lock_);
  fail_locked({Kind::kTool, text});
}

void Coordinator::fail_locked(WorkerProblem problem) {
  if (problem_.kind == Kind::kNone) problem_ = std::move(problem);
  for (auto& [key, wanted] : open_) wanted->ready.notify_all();
}

CoordinatorState Coordinator::state() {
  MutexLock guard(lock_);
  return state_;
}

std::vector<u64> Coordinator::answering() {
  MutexLock guard(lock_);
  std::set<u64> shards;
  for (const auto& peer : peers_) {
    if (peer->live) shards.insert(peer->shard);
  }
  return {shards.begin(), shards.end()};
}

void Coordinator::drive() {
  MutexLock guard(lock_);
  while (!over_) {
    double begin = now();
    if (begin - scanned_ > kScanEvery) scan();
    if (read_records() != 0) heard_ = now();
    if (begin - tidied_ > kOrphaned / 4) withdraw_orphans();
    assign();
    flush();
    if (begin - beaten_ > 1) {
      beat();
      check_silence();
    }
    double pause = std::clamp((now() - heard_) / 10, kShortest, kLongest);
    // While all workers have enough to do, polling can be slower.
    bool fed = state_.workers != 0 && std::all_of(peers_.begin(), peers_.end(), [](const auto& peer) {
                 return !peer->live || peer->given.size() > kDepth / 2;
               });
    if (fed) pause = std::max(pause, kFed);
    // Polling may be expensive: never more than a tenth of the time.
    pause = std::max(pause, (now() - begin) * 9);
    auto until = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                                        std::chrono::duration<double>(std::min(pause, 0.5)));
    // A request ends the wait, unless all workers have enough to do.
    while (!over_ && asked_.wait_until(guard, until) == std::cv_status::no_timeout && fed) {
    }
  }
  trace_thread();
}

void Coordinator::beat() {
  beaten_ = now();
  std::optional<CampaignFile> campaign = folder_.campaign();
  if (campaign && campaign->epoch > options_.epoch && !given_up_) {
    given_up_ = true;
    fail_locked({Kind::kTool, "another duress process drives this campaign now; its results are kept"});
    if (options_.stop) options_.stop();
    return;
  }
  DriverFile file{options_.epoch, ++beats_,       host_name(),  getpid(),
                  state_.done,    state_.waiting, state_.reused};
  if (std::string error = folder_.save(file); !error.empty()) fail_locked({Kind::kTool, error});
}

void Coordinator::flush() {
  for (const auto& peer : peers_) {
    if (std::string error = peer->writer.flush(); !error.empty()) fail_locked({Kind::kTool, error});
  }
}

}  // namespace duress::cluster
