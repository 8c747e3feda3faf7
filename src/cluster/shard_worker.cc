// SPDX-License-Identifier: Apache-2.0
#include "cluster/shard_worker.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>

#include "cluster/codec.h"
#include "exec/clock.h"
#include "exec/files.h"
#include "exec/program.h"

namespace duress::cluster {
namespace {

using exec::now;
using exec::RemoteRun;
using exec::Worker;
using exec::WorkerOptions;
using exec::WorkerProblem;
using Json = nlohmann::ordered_json;

constexpr double kShortest = 0.0001, kLongest = 0.05;  // seconds between two polls
constexpr double kFlushEvery = 0.02;                   // results are written at the latest after this
constexpr double kLookEvery = 0.5;                     // between two polls of the campaign and its driver
constexpr double kAbandoned = 5;                       // seconds without a beat of the driver
constexpr double kJump = 5;                            // a jump of the clock that is reported
constexpr std::size_t kMostWorkers = 4;                // fork servers that are kept, one per spec

double wall() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

ShardWorker::ShardWorker(ShardOptions options, const std::atomic<bool>& stop)
    : options_(std::move(options)), stop_(stop) {
  started_ = now();
}

ShardWorker::~ShardWorker() = default;

bool ShardWorker::over() const {
  return stop_ || (options_.seconds > 0 && now() - started_ > options_.seconds);
}

std::string ShardWorker::open() {
  std::optional<CampaignFile> campaign;
  for (;;) {
    folder_ = Folder::current(options_.dir);
    if (folder_ && !folder_->owner_problem().empty()) break;
    campaign = folder_ ? folder_->campaign() : std::nullopt;
    // Who starts it may be a moment late, and the last campaign is of no interest then.
    if ((campaign && !campaign->finished) || over() || now() - started_ > options_.patience) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  if (std::string error = folder_ ? folder_->owner_problem() : ""; !error.empty()) return error;
  if (!campaign)
    return "no campaign in '" + options_.dir + "' as " + host_name() +
           " sees it: every machine must see the folder that duress classify --executor was given with --dir";
  campaign_ = std::move(*campaign);
  if (campaign_.protocol != protocol_name())
    return "the campaign in '" + options_.dir + "' was started by another version of duress (" +
           campaign_.version + "); use the same one everywhere";
  if (chdir(campaign_.folder.c_str()) != 0)
    return "cannot enter the folder '" + campaign_.folder + "' on " + host_name() + ": " +
           std::strerror(errno) + "; every machine must see the program where the campaign was started";
  // The programs see what they would where the campaign was started.
  clearenv();
  for (const std::string& variable : campaign_.environment) {
    std::size_t at = variable.find('=');
    if (at != std::string::npos && at != 0)
      setenv(variable.substr(0, at).c_str(), variable.substr(at + 1).c_str(), 1);
  }
  name_ = std::to_string(options_.shard) + "-of-" + std::to_string(options_.of) + "." + host_name() + "." +
          std::to_string(getpid()) + "." + hex(std::random_device{}() * u64{0x100000001} + u64(wall() * 1e6));
  {
    MutexLock guard(write_lock_);
    writer_ = std::make_unique<LogWriter>(folder_->shards() + "/" + name_);
  }
  Json hello;
  hello["shard"] = options_.shard;
  hello["of"] = options_.of;
  hello["host"] = host_name();
  hello["pid"] = getpid();
  queue_ = std::make_unique<LogReader>(folder_->queue(campaign_.epoch) + "/" + name_);
  if (!write(RecordKind::kHello, {}, hello.dump(), true)) return write_error();
  return {};
}

bool ShardWorker::write(RecordKind kind, const Key& key, std::string_view payload, bool at_once) {
  MutexLock guard(write_lock_);
  if (!payload.empty() || kind != RecordKind::kBeat || key != Key{}) writer_->add(kind, key, payload);
  if (!at_once && now() - flushed_ < kFlushEvery) return true;
  flushed_ = now();
  std::string error = writer_->flush();
  if (error.empty() || !write_error_.empty()) return write_error_.empty();
  write_error_ = error + "; results so far are kept: make room and start the worker again";
  halt_ = true;
  return false;
}

std::string ShardWorker::write_error() {
  MutexLock guard(write_lock_);
  return write_error_;
}

/// A thread of its own: executions may take longer than the coordinator waits for a sign of life.
void ShardWorker::beats() {
  double steady = now(), clock = wall();
  MutexLock guard(write_lock_);
  for (;;) {
    auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    while (!ended_ && end_.wait_until(guard, until) == std::cv_status::no_timeout) {
    }
    if (ended_) return;
    guard.unlock();
    double jump = (wall() - clock) - (now() - steady);
    steady = now();
    clock = wall();
    Json beat;
    beat["done"] = done_.load();
    if (std::abs(jump) > kJump) beat["jump"] = std::to_string(static_cast<long long>(jump));
    write(RecordKind::kBeat, {}, beat.dump(), true);
    if (over()) halt_ = true;
    guard.lock();
  }
}

void ShardWorker::read_queue() {
  queue_->poll([&](const LogRecord& record) {
    if (record.kind == RecordKind::kRequest) {
      withdrawn_.erase(record.key);
      tasks_.push_back({record.key, std::string(record.payload)});
    }
    if (record.kind == RecordKind::kWithdraw) withdrawn_.insert(record.key);
  });
  if (withdrawn_.empty()) return;
  std::erase_if(tasks_, [&](const Task& task) { return withdrawn_.count(task.key) != 0; });
  withdrawn_.clear();
}

Worker* ShardWorker::worker_for(u64 hash, std::string& problem) {
  if (auto found = workers_.find(hash); found != workers_.end()) return found->second.get();
  std::optional<Spec> spec = folder_->spec(hash);
  if (!spec) {
    problem = "cannot read what is to be started from '" + folder_->path() + "/specs'";
    return nullptr;
  }
  std::string build = exec::build_of(spec->binary);
  if (build != spec->build) {
    problem = spec->binary + " on " + host_name() + " is another build (" + (build.empty() ? "none" : build) +
              ") than where the campaign was started (" + spec->build +
              "); put the same one on every machine";
    return nullptr;
  }
  if (workers_.size() >= kMostWorkers) workers_.clear();
  WorkerOptions options;
  options.target = spec->target;
  options.input = spec->input.empty() ? "" : folder_->path() + "/" + spec->input;
  options.chain = spec->chain;
  options.run_seconds = spec->run_seconds;
  options.folder = options_.work_folder + "/" + hex(hash);
  return (workers_[hash] = std::make_unique<Worker>(std::move(options), &halt_)).get();
}

bool ShardWorker::perform(const Task& task) {
  u64 spec = 0;
  std::optional<exec::Plan> plan;
  if (task.payload.size() >= sizeof spec) {
    std::memcpy(&spec, task.payload.data(), sizeof spec);
    plan = read_plan(std::string_view(task.payload).substr(sizeof spec));
  }
  std::string problem =
      plan ? "" : "a request cannot be read: another version of duress wrote it; use the same one everywhere";
  Worker* worker = plan ? worker_for(spec, problem) : nullptr;
  if (worker == nullptr) {
    write(RecordKind::kProblem, {}, problem, true);
    result_.problem = problem;
    return false;
  }
  RemoteRun run = worker->pack(worker->run(*plan));
  if (run.problem.kind == WorkerProblem::Kind::kStopped) return true;
  if (!run.ran) {
    write(RecordKind::kProblem, task.key, run_bytes(run), true);
    result_.problem = run.problem.text;
    return false;
  }
  ++done_;
  return write(RecordKind::kResult, task.key, run_bytes(run), tasks_.empty());
}

void ShardWorker::look_at_campaign() {
  if (now() - looked_ < kLookEvery) return;
  looked_ = now();
  if (std::optional<CampaignFile> campaign = folder_->campaign()) {
    if (campaign->epoch != campaign_.epoch) {
      tasks_.clear();
      queue_ = std::make_unique<LogReader>(folder_->queue(campaign->epoch) + "/" + name_);
    }
    campaign_ = std::move(*campaign);
  }
  std::optional<DriverFile> driver = folder_->driver();
  if (driver && (driver->beat != driver_beat_ || driver->epoch != driver_epoch_)) {
    driver_beat_ = driver->beat;
    driver_epoch_ = driver->epoch;
    driver_moved_ = now();
  }
  if (driver_moved_ == 0) driver_moved_ = now();
  if (options_.driven) options_.driven(now() - driver_moved_ > kAbandoned);
}

ShardResult ShardWorker::run() {
  struct Beating {  // ends also if there is no memory for the next execution
    ShardWorker& worker;
    std::thread thread;
    ~Beating() {
      {
        MutexLock guard(worker.write_lock_);
        worker.ended_ = true;
      }
      worker.end_.notify_all();
      thread.join();
    }
  };
  result_.problem = open();
  if (!result_.problem.empty()) return result_;
  {
    Beating beating{*this, std::thread([this] { beats(); })};
    double worked = now();
    while (!halt_ && !over()) {
      look_at_campaign();
      if (campaign_.finished) break;
      if (tasks_.size() < 2) read_queue();
      if (!tasks_.empty()) {
        Task task = std::move(tasks_.front());
        tasks_.pop_front();
        if (!perform(task)) break;
        worked = now();
        continue;
      }
      write(RecordKind::kBeat, {}, {}, false);  // what still waits to be written
      double pause = std::clamp((now() - worked) / 10, kShortest, kLongest);
      std::this_thread::sleep_for(std::chrono::duration<double>(pause));
    }
  }
  halt_ = true;
  workers_.clear();
  result_.executions = done_;
  result_.reason = campaign_.finished ? "the campaign is finished" : stop_ ? "asked to stop" : "time is up";
  if (std::string error = write_error(); !error.empty()) result_.problem = error;
  if (result_.problem.empty()) write(RecordKind::kBye, {}, result_.reason, true);
  return result_;
}

}  // namespace duress::cluster
