// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster_session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>

#include "base/hash.h"
#include "cli/command_line.h"
#include "cluster/codec.h"
#include "exec/files.h"

extern char** environ;

namespace duress::cli {
namespace {

namespace fs = std::filesystem;
using cluster::ArrayTask;
using cluster::CampaignFile;
using cluster::Folder;

constexpr unsigned kDepth = 8;        // executions that each worker may be ahead with
constexpr unsigned kMostJobs = 1024;  // threads here
constexpr double kAskEvery = 2;       // seconds between two squeue
constexpr double kUnseen = 20;        // seconds that a task may run before its worker is heard of

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::mutex live_lock;
std::shared_ptr<cluster::Coordinator> live;  // of this process; under live_lock
u64 live_of = 0;
std::string live_array;  // what there is to say of the array's tasks

/// Without the options of this file, and --dir: those are given anew by who goes on.
Arguments without_cluster(const Arguments& arguments) {
  static const std::set<std::string> with_value{"--executor",    "--workers", "--partition",
                                                "--sbatch-args", "--from",    "--dir"};
  Arguments rest;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--") {
      rest.insert(rest.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end());
      break;
    }
    std::string name = arguments[i].substr(0, arguments[i].find('='));
    if (name == "--cancel") continue;
    if (with_value.count(name) == 0) {
      rest.push_back(arguments[i]);
    } else if (name == arguments[i]) {
      ++i;
    }
  }
  return rest;
}

std::string own_path() {
  std::error_code code;
  return fs::read_symlink("/proc/self/exe", code).string();
}

std::string array_file(const Folder& folder) {
  return folder.slurm() + "/array";
}

}  // namespace

void add_cluster_options(CLI::App& app, ClusterOptions& options) {
  app.add_option("--executor", options.executor,
                 "Who performs the executions: local (default), slurm (a job array), or shared (workers that "
                 "you start: duress work)")
      ->check(CLI::IsMember({"local", "slurm", "shared", "recorded", "background"}));
  app.add_option("--workers", options.workers, "With --executor: how many workers")
      ->check(CLI::Range(u64{1}, u64{100000}));
  app.add_option("--partition", options.partition, "With --executor slurm: Slurm's partition");
  app.add_option("--sbatch-args", options.sbatch_args, "With --executor slurm: a further word for sbatch")
      ->allow_extra_args(false);
  app.add_flag("--cancel", options.cancel, "With --executor slurm: end the job array of this campaign");
  app.add_option("--from", options.from, "With --executor recorded: folders with results")
      ->allow_extra_args(false)
      ->group("");
}

ClusterSession::ClusterSession() = default;

ClusterSession::~ClusterSession() {
  over_ = true;
  if (thread_.joinable()) thread_.join();
  if (coordinator_) coordinator_->close();
  std::lock_guard guard(live_lock);
  live.reset();
}

std::string cluster_text() {
  std::lock_guard guard(live_lock);
  if (!live) return {};
  cluster::CoordinatorState state = live->state();
  std::string text = fmt::format(", {} of {} workers", state.workers, live_of);
  if (state.reused != 0) text += fmt::format(", {} runs were recorded", state.reused);
  return text + live_array;
}

std::optional<int> ClusterSession::begin(const ClusterOptions& options, const ClusterJob& job,
                                         std::atomic<bool>& stop) {
  options_ = options;
  job_ = job;
  stop_ = &stop;
  auto fail = [](const std::string& text) {
    say(text);
    return std::optional<int>(kExitToolFailed);
  };
  if (options_.executor == "local") {
    if (options_.cancel || options_.workers != 0 || !options_.partition.empty() ||
        !options_.sbatch_args.empty())
      return wrong_use(job.command,
                       "--workers, --partition, --sbatch-args and --cancel need --executor slurm");
    return std::nullopt;
  }
  bool slurm = options_.executor == "slurm", recorded = options_.executor == "recorded";
  bool background = options_.executor == "background";
  if (slurm) {
    if (std::string error = cluster::check_slurm(); !error.empty()) return fail(error);
    if (options_.workers == 0 && !options_.cancel)
      return wrong_use(job.command, "--executor slurm needs --workers N: how many tasks to submit");
  }
  if (options_.workers == 0) options_.workers = recorded ? 1 : 8;

  std::error_code ignored;
  CampaignFile wanted;
  wanted.protocol = cluster::protocol_name();
  wanted.version = DURESS_VERSION;
  wanted.command = job.command;
  wanted.arguments = without_cluster(job.arguments);
  wanted.target = job.target;
  wanted.folder = fs::current_path(ignored).string();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    // A test's wish to kill this process is not for others.
    if (std::string(*entry).rfind("DURESS_TEST_", 0) != 0) wanted.environment.emplace_back(*entry);
  }

  folder_ = Folder::current(job.dir);
  std::optional<CampaignFile> known = folder_ ? folder_->campaign() : std::nullopt;
  if (folder_) array_ = exec::read_file(array_file(*folder_)).value_or("");
  if (options_.cancel) {
    if (!known || array_.empty()) return fail(fmt::format("no job array was submitted from '{}'", job.dir));
    if (std::string error = cluster::cancel(array_); !error.empty()) return fail(error);
    known->finished = true;
    ++known->epoch;
    if (std::string error = folder_->save(*known); !error.empty()) return fail(error);
    unlink(array_file(*folder_).c_str());
    say(
        fmt::format("job array {} is cancelled; what it found is kept, and the same command without --cancel "
                    "goes on",
                    array_));
    return kExitOk;
  }
  if (recorded || background) {
    if (!known) return fail(fmt::format("no campaign in '{}'", job.dir));
    campaign_ = *known;
  } else if (known && known->same_campaign(wanted) && !known->complete &&
             known->protocol == wanted.protocol) {
    wanted.epoch = known->epoch;
    wanted.finished = known->finished;
    campaign_ = wanted;
  } else {
    if (known && !known->finished && !known->same_campaign(wanted))
      return fail(
          fmt::format("'{}' has another campaign that is not finished (duress {} -- {}); go on with it, "
                      "end it with --cancel, or give another folder with --dir",
                      job.dir, known->command, fmt::join(known->target, " ")));
    std::string error;
    folder_ = Folder::make(job.dir, wanted, error);
    if (!error.empty()) return fail(error);
    campaign_ = wanted;
    array_.clear();
  }
  cluster::CoordinatorOptions setup;
  setup.folders.push_back(*folder_);
  for (const std::string& dir : options_.from) {
    std::string path = fs::absolute(dir).lexically_normal().string();
    std::optional<Folder> more = Folder::current(path);
    if (!more) return fail(fmt::format("no campaign in '{}'", dir));
    if (more->path() != folder_->path()) setup.folders.push_back(*more);
  }
  setup.recorded_only = recorded;
  setup.stop = [&stop] { stop = true; };
  setup.say = [this](const std::string& text) { tell(text); };
  if (!recorded) {
    ++campaign_.epoch;
    std::string error = exec::make_folder(folder_->queue(campaign_.epoch), job.dir);
    if (error.empty()) error = folder_->save(campaign_);
    if (!error.empty()) return fail(error);
  }
  setup.epoch = campaign_.epoch;
  coordinator_ = std::make_shared<cluster::Coordinator>(std::move(setup));
  {
    std::lock_guard guard(live_lock);
    live = coordinator_;
    live_of = options_.workers;
  }
  started_ = now();
  if (!recorded) thread_ = std::thread([this] { follow(); });
  return std::nullopt;
}

std::string ClusterSession::work_dir(const std::string& dir) const {
  return remote() ? cluster::local_folder() : dir;
}

std::string ClusterSession::record_dir() const {
  bool own = options_.executor == "recorded" || options_.executor == "background";
  return own ? cluster::local_folder() + "/record-" + std::to_string(getpid()) : "";
}

std::string ClusterSession::input(const std::string& path) {
  if (!remote()) return path;
  bool given = options_.executor == "recorded" || options_.executor == "background";
  if (!given) {
    campaign_.input.clear();
    if (!path.empty()) {
      std::string text = exec::read_file(path).value_or("");
      campaign_.input = "inputs/" + cluster::hex(hash_of(text));
      std::string error = exec::write_file(folder_->path() + "/" + campaign_.input, text);
      if (!error.empty()) coordinator_->fail(error);
    }
    if (std::string error = folder_->save(campaign_); !error.empty()) coordinator_->fail(error);
  }
  return campaign_.input.empty() ? "" : folder_->path() + "/" + campaign_.input;
}

void ClusterSession::use(exec::WorkerOptions& worker, unsigned& jobs) const {
  if (!remote()) return;
  worker.remote = coordinator_;
  u64 wanted = options_.executor == "recorded" ? 1 : options_.workers * kDepth;
  jobs = static_cast<unsigned>(std::min<u64>(wanted, kMostJobs));
}

void ClusterSession::tell(const std::string& text) {
  if (options_.executor == "background") return;
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[K");
  say(text);
}

void ClusterSession::end(bool over) {
  over_ = true;
  if (thread_.joinable()) thread_.join();
  if (!remote()) return;
  bool recorded = options_.executor == "recorded";
  if (recorded && coordinator_->missing() && !job_.quiet)
    say("not everything is recorded yet: this is what the results so far say");
  std::error_code ignored;
  if (std::string own = record_dir(); !own.empty()) fs::remove_all(own, ignored);
  if (recorded) return;
  if (over) {
    campaign_.finished = true;
    campaign_.complete = options_.executor != "background";  // nobody has read its report
    if (std::string error = folder_->save(campaign_); !error.empty()) tell(error);
    // Tasks that still wait for a machine have nothing to do any more; the others end by themselves.
    bool waits = std::any_of(tasks_.begin(), tasks_.end(),
                             [](const auto& task) { return task.second.state == "PENDING"; });
    if (!array_.empty() && waits) cluster::cancel(array_);
    if (!array_.empty()) unlink(array_file(*folder_).c_str());
    return;
  }
  if (!array_.empty())
    tell(
        fmt::format("job array {} goes on; the same command attaches to it again, --cancel ends it", array_));
}

void ClusterSession::follow() {
  while (!over_) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    cluster::CoordinatorState state = coordinator_->state();
    if (options_.executor == "slurm") {
      if (state.waiting != 0 && array_.empty() && !submit_array()) return;
      if (!array_.empty() && now() - asked_ > kAskEvery) watch_array();
    } else if (state.waiting != 0) {
      // Whoever is not needed any more is told so only at the end; whoever is, at once.
      if (campaign_.finished) {
        campaign_.finished = false;
        if (std::string error = folder_->save(campaign_); !error.empty()) coordinator_->fail(error);
      }
      if (state.workers == 0 && !told_how_ && now() - started_ > 2) {
        told_how_ = true;
        tell(fmt::format("waiting for workers; on each machine: {} work --dir {} --shard 1/{}", own_path(),
                         job_.dir, options_.workers));
      }
    }
  }
}

bool ClusterSession::submit_array() {
  campaign_.finished = false;
  std::string error = folder_->save(campaign_);
  cluster::ArrayOptions array;
  array.workers = options_.workers;
  array.partition = options_.partition;
  array.more = options_.sbatch_args;
  array.folder = folder_->slurm();
  array.command = {own_path(), "work", "--dir", job_.dir};
  if (error.empty()) error = cluster::submit(array, array_);
  if (error.empty()) error = exec::write_file(array_file(*folder_), array_);
  if (!error.empty()) {
    coordinator_->fail(error);
    return false;
  }
  submitted_ = now();
  if (!job_.quiet)
    tell(fmt::format("submitted job array {} with {} tasks; Ctrl-C leaves it running", array_,
                     options_.workers));
  return true;
}

/// Asks Slurm how the tasks are, and says what has changed for the worse.
void ClusterSession::watch_array() {
  asked_ = now();
  std::map<u64, ArrayTask> tasks;
  std::string error;
  if (!cluster::array_tasks(array_, tasks, error)) {
    std::lock_guard guard(live_lock);
    live_array = fmt::format(", Slurm does not answer ({})", error);
    return;
  }
  std::vector<u64> answering = coordinator_->answering();
  std::map<std::string, std::vector<u64>> waiting;
  u64 ended = 0;
  std::string last;
  for (const auto& [number, task] : tasks) {
    const ArrayTask& before = tasks_[number];
    if (task.restarts > before.restarts)
      tell(fmt::format("task {} was requeued by Slurm, for the {}. time; what it had done is kept", number,
                       task.restarts));
    if (task.failed()) {
      last = fmt::format("task {} of job array {} failed on {} ({}, {})", number, array_,
                         task.node.empty() ? "no node" : task.node, task.state, task.reason);
      if (!before.failed())
        tell(fmt::format("{}; see {}/task-{}.out, and whether that node sees the folder", last,
                         folder_->slurm(), number));
    }
    ended += task.ended();
    if (task.state == "PENDING") waiting[task.reason].push_back(number);
    bool heard = std::find(answering.begin(), answering.end(), number) != answering.end();
    if (task.state != "RUNNING" || heard) {
      unseen_.erase(number);
    } else if (double since = unseen_.try_emplace(number, now()).first->second;
               since > 0 && now() - since > kUnseen) {
      unseen_[number] = -1;  // once
      tell(fmt::format(
          "task {} runs on {} and nothing of it is seen in '{}': the folder must be shared by all "
          "machines, give one that is with --dir",
          number, task.node, job_.dir));
    }
  }
  bool open_ones = coordinator_->state().waiting != 0;
  if (ended == tasks.size() && open_ones && now() - submitted_ > 5 && answering.empty()) {
    // Forgotten or ended, and there is work: what was found is in the folder.
    unlink(array_file(*folder_).c_str());
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
    text += fmt::format(", task {} waits ({})", cluster::ranges_text(numbers), reason);
  tasks_ = std::move(tasks);
  std::lock_guard guard(live_lock);
  live_array = text;
}

}  // namespace duress::cli
