// SPDX-License-Identifier: Apache-2.0
//
// Runs trials, unless the record has them.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <set>

#include "classify/campaign_record.h"
#include "classify/variable.h"
#include "exec/oracle.h"
#include "exec/worker_pool.h"
#include "finding/names.h"

namespace duress::classify {

struct TrialOptions {
  u64 seed = 1;
  u32 tear = 8;
  bool compare_output = true;  // nobody else says what the right output is
};

/// Threads: any, each with a worker of its own.
class TrialRunner {
 public:
  TrialRunner(TrialOptions options, exec::Oracle& oracle, finding::Names& names, CampaignRecord& record)
      : options_(options), oracle_(oracle), names_(names), record_(record) {}

  /// Plan::waits of every trial from now on, but for the sites that are attacked.
  void set_waits(std::set<u32> sites) { waits_ = std::move(sites); }
  /// What trial `number` of an attack asks for. All attacks on all variables share the seeds.
  exec::Plan plan(const Variable& variable, const Attack& attack, u64 number) const;
  /// Trial `number` of other schedules.
  exec::Plan wider_plan(const Variable& variable, u64 number) const;

  /// The trial, from the record or run now. `profile`: of this variable, strategy and number, if one was
  /// made; it is made if it is needed. Nothing: the worker was stopped or has a problem.
  std::optional<Trial> run(exec::WorkerPool& pool, exec::Worker& worker, const Variable& variable,
                           const Attack& attack, u64 number, std::optional<Profile>& profile);
  /// The same schedule with one value of its profile.
  std::optional<Trial> run_prediction(exec::WorkerPool& pool, exec::Worker& worker, const Variable& variable,
                                      const Attack& attack, u64 number, const trail::Prediction& prediction);
  std::optional<Trial> run_extra_schedule(exec::WorkerPool& pool, exec::Worker& worker,
                                          const Variable& variable, u64 number);

  /// The candidates for each load of the trial, found by a run of its own with the schedule of `strategy`.
  std::optional<Profile> profile(exec::WorkerPool& pool, exec::Worker& worker, const Variable& variable,
                                 StrategyId strategy, u64 number);
  /// Performs an execution; its failure has id and place.
  exec::Result run_identified(exec::WorkerPool& pool, exec::Worker& worker, const exec::Plan& plan,
                              exec::Logs logs = exec::Logs::kOfFailures);
  /// Hash of what the worker's last run printed; 0 if outputs are not compared.
  u64 output_of(const exec::Worker& worker) const;

  /// Trials so far, run or found in the record.
  u64 done() const { return done_; }
  finding::Names& names() { return names_; }
  std::mutex& names_lock() { return names_lock_; }

 private:
  std::optional<Trial> find_or_run(exec::WorkerPool& pool, exec::Worker& worker, const TrialName& name,
                                   const exec::Plan& plan);
  Trial finish(exec::Worker& worker, exec::Result& result);

  TrialOptions options_;
  std::set<u32> waits_;
  exec::Oracle& oracle_;
  std::mutex names_lock_;
  finding::Names& names_;  // under names_lock_
  CampaignRecord& record_;
  std::atomic<u64> done_{0};
};

/// Everything in a plan that decides how the execution goes, as text.
std::string plan_text(const exec::Plan& plan);

}  // namespace duress::classify
