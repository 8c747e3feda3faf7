// SPDX-License-Identifier: Apache-2.0
//
// The thread of a cluster session: submits Slurm's job array when there is work, and watches its tasks.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "cluster/session.h"
#include "exec/clock.h"
#include "exec/files.h"
#include "exec/layout.h"

namespace duress::cluster {
namespace {

using exec::now;

constexpr double kAskEvery = 2;  // seconds between two squeue
constexpr double kUnseen = 20;   // seconds that a task may run before its worker is heard of

}  // namespace

void Session::follow() {
  while (!over_) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    CoordinatorState state = coordinator_->state();
    if (options_.executor == "slurm") {
      if (state.waiting != 0 && array_.empty() && !submit_array()) return;
      if (!array_.empty() && now() - asked_ > kAskEvery) watch_array();
    } else if (state.waiting != 0) {
      // Workers that are needed again learn it at once; those that are not, only at the end.
      if (campaign_.finished) {
        campaign_.finished = false;
        if (std::string error = folder_->save(campaign_); !error.empty()) coordinator_->fail(error);
      }
      if (state.workers == 0 && !explained_ && now() - started_ > 2) {
        explained_ = true;
        message(fmt::format("waiting for workers; on each machine: {} work --dir {} --shard 1/{}",
                            exec::layout().duress, job_.dir, options_.workers));
      }
    }
  }
}

bool Session::submit_array() {
  campaign_.finished = false;
  std::string error = folder_->save(campaign_);
  ArrayOptions array;
  array.workers = options_.workers;
  array.partition = options_.partition;
  array.more = options_.sbatch_args;
  array.folder = folder_->slurm();
  array.command = {exec::layout().duress, "work", "--dir", job_.dir};
  if (error.empty()) error = submit(array, array_);
  if (error.empty()) error = exec::write_file(array_file(), array_);
  if (!error.empty()) {
    coordinator_->fail(error);
    return false;
  }
  submitted_ = now();
  if (!job_.quiet)
    message(fmt::format("submitted job array {} with {} tasks; Ctrl-C leaves it running", array_,
                        options_.workers));
  return true;
}

std::string Session::failed_text(u64 number, const ArrayTask& task) const {
  return fmt::format("task {} of job array {} failed on {} ({}, {})", number, array_,
                     task.node.empty() ? "no node" : task.node, task.state, task.reason);
}

/// What has changed for the worse since the last look at the task.
void Session::report_changes(u64 number, const ArrayTask& task) {
  const ArrayTask& before = tasks_[number];
  if (task.restarts > before.restarts)
    message(fmt::format("task {} was requeued by Slurm ({} so far); what it had done is kept", number,
                        task.restarts));
  if (task.failed()) {
    if (!before.failed())
      message(fmt::format("{}; see {}/task-{}.out, and whether that node sees the folder",
                          failed_text(number, task), folder_->slurm(), number));
  }
}

/// A task that runs while nothing of its worker reaches the folder.
void Session::report_unseen(u64 number, const ArrayTask& task, bool heard) {
  if (task.state != "RUNNING" || heard) {
    unseen_.erase(number);
  } else if (double since = unseen_.try_emplace(number, now()).first->second;
             since > 0 && now() - since > kUnseen) {
    unseen_[number] = -1;  // once
    message(
        fmt::format("task {} runs on {}, but writes nothing to '{}': choose a folder that all machines share "
                    "(--dir)",
                    number, task.node, job_.dir));
  }
}

/// Asks Slurm for the state of the tasks and reports what has changed for the worse.
void Session::watch_array() {
  asked_ = now();
  std::map<u64, ArrayTask> tasks;
  std::string error;
  if (!array_tasks(array_, tasks, error)) {
    show_array(fmt::format(", Slurm does not answer ({})", error));
    return;
  }
  std::vector<u64> answering = coordinator_->answering();
  std::map<std::string, std::vector<u64>> waiting;
  u64 ended = 0;
  std::string last;
  for (const auto& [number, task] : tasks) {
    if (task.failed()) last = failed_text(number, task);
    report_changes(number, task);
    ended += task.ended();
    if (task.state == "PENDING") waiting[task.reason].push_back(number);
    bool heard = std::find(answering.begin(), answering.end(), number) != answering.end();
    report_unseen(number, task, heard);
  }
  bool open_ones = coordinator_->state().waiting != 0;
  if (ended == tasks.size() && open_ones && now() - submitted_ > 5 && answering.empty()) {
    // Forgotten or ended, and there is work: what was found is in the folder.
    unlink(array_file().c_str());
    if (submitted_ == 0) {
      array_.clear();  // of an earlier command: the next turn submits a new one
    } else {
      coordinator_->fail(
          fmt::format("{}; nothing is lost, the same command submits what is left",
                      last.empty() ? fmt::format("all tasks of job array {} have ended", array_) : last));
      array_.clear();
      over_ = true;  // nothing is submitted again behind the user's back
    }
  }
  std::string text;
  for (const auto& [reason, numbers] : waiting)
    text += fmt::format(", task {} waits ({})", ranges_text(numbers), reason);
  tasks_ = std::move(tasks);
  show_array(text);
}

}  // namespace duress::cluster
