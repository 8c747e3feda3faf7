// SPDX-License-Identifier: Apache-2.0
#include "cluster/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/hash.h"
#include "cluster/codec.h"
#include "exec/clock.h"
#include "exec/exit_code.h"
#include "exec/files.h"

extern char** environ;

namespace duress::cluster {
namespace {

namespace fs = std::filesystem;
using exec::now;

constexpr unsigned kDepth = 8;        // executions that each worker may be ahead with
constexpr unsigned kMostJobs = 1024;  // threads here

/// The arguments without those of --executor and without --dir: whoever continues the campaign gives its own.
std::vector<std::string> without_cluster(const std::vector<std::string>& arguments) {
  static const std::set<std::string> with_value{"--executor",    "--workers", "--partition",
                                                "--sbatch-args", "--from",    "--dir"};
  std::vector<std::string> rest;
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

}  // namespace

std::string Session::array_file() const {
  return folder_->slurm() + "/array";
}

void Session::show_array(const std::string& text) {
  MutexLock guard(lock_);
  array_text_ = text;
}

Session::Session() = default;

Session::~Session() {
  over_ = true;
  if (thread_.joinable()) thread_.join();
  if (coordinator_) coordinator_->close();
}

std::string Session::text() {
  if (!coordinator_) return {};
  CoordinatorState state = coordinator_->state();
  std::string text = fmt::format(", {} of {} workers", state.workers, options_.workers);
  if (state.reused != 0) text += fmt::format(", {} runs were recorded", state.reused);
  MutexLock guard(lock_);
  return text + array_text_;
}

CampaignFile Session::wanted_campaign() const {
  std::error_code ignored;
  CampaignFile wanted;
  wanted.protocol = protocol_name();
  wanted.version = DURESS_VERSION;
  wanted.command = job_.command;
  wanted.arguments = without_cluster(job_.arguments);
  wanted.target = job_.target;
  wanted.folder = fs::current_path(ignored).string();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    // Fault injection of the tests is for this process alone.
    if (std::string(*entry).rfind("DURESS_TEST_", 0) != 0) wanted.environment.emplace_back(*entry);
  }
  return wanted;
}

std::optional<SessionEnd> Session::begin(const SessionOptions& options, const Job& job,
                                         std::atomic<bool>& stop) {
  options_ = options;
  job_ = job;
  stop_ = &stop;
  if (std::optional<SessionEnd> end = check_options()) return end;
  if (options_.executor == "local") return std::nullopt;
  folder_ = Folder::current(job.dir);
  std::optional<CampaignFile> known = folder_ ? folder_->campaign() : std::nullopt;
  if (folder_) array_ = exec::read_file(array_file()).value_or("");
  if (options_.cancel) return cancel_array(known);
  std::string error = choose_campaign(known);
  if (error.empty()) error = open_coordinator();
  if (!error.empty()) return SessionEnd{kExitToolFailed, error};
  started_ = now();
  if (options_.executor != "recorded") thread_ = std::thread([this] { follow(); });
  return std::nullopt;
}

/// Fills in the number of workers, unless the options do not fit together.
std::optional<SessionEnd> Session::check_options() {
  if (options_.executor == "local") {
    if (options_.cancel || options_.workers != 0 || !options_.partition.empty() ||
        !options_.sbatch_args.empty())
      return SessionEnd{kExitWrongUse,
                        "--workers, --partition, --sbatch-args and --cancel need --executor slurm"};
    return std::nullopt;
  }
  if (options_.executor == "slurm") {
    if (std::string error = check_slurm(); !error.empty()) return SessionEnd{kExitToolFailed, error};
    if (options_.workers == 0 && !options_.cancel)
      return SessionEnd{kExitWrongUse, "--executor slurm needs --workers N: how many tasks to submit"};
  }
  if (options_.workers == 0) options_.workers = options_.executor == "recorded" ? 1 : 8;
  return std::nullopt;
}

SessionEnd Session::cancel_array(std::optional<CampaignFile>& known) {
  auto fail = [](const std::string& text) { return SessionEnd{kExitToolFailed, text}; };
  if (!known || array_.empty()) return fail(fmt::format("no job array was submitted from '{}'", job_.dir));
  if (std::string error = cancel(array_); !error.empty()) return fail(error);
  known->finished = true;
  ++known->epoch;
  if (std::string error = folder_->save(*known); !error.empty()) return fail(error);
  unlink(array_file().c_str());
  return {kExitOk, fmt::format("job array {} is cancelled; what it found is kept, and the same command "
                               "without --cancel goes on",
                               array_)};
}

/// Goes on with the campaign of the folder, or begins one. "" or what is wrong.
std::string Session::choose_campaign(const std::optional<CampaignFile>& known) {
  CampaignFile wanted = wanted_campaign();
  if (serves_other_command()) {
    if (!known) return fmt::format("no campaign in '{}'", job_.dir);
    campaign_ = *known;
  } else if (known && known->same_campaign(wanted) && !known->complete &&
             known->protocol == wanted.protocol) {
    wanted.epoch = known->epoch;
    wanted.finished = known->finished;
    campaign_ = wanted;
  } else {
    if (known && !known->finished && !known->same_campaign(wanted))
      return fmt::format(
          "'{}' has another campaign that is not finished (duress {} -- {}); go on with it, "
          "end it with --cancel, or give another folder with --dir",
          job_.dir, known->command, fmt::join(known->target, " "));
    std::string error;
    folder_ = Folder::make(job_.dir, wanted, error);
    if (!error.empty()) return error;
    campaign_ = wanted;
    array_.clear();
  }
  return {};
}

/// "" or what is wrong.
std::string Session::open_coordinator() {
  bool recorded = options_.executor == "recorded";
  CoordinatorOptions setup;
  setup.folders.push_back(*folder_);
  for (const std::string& dir : options_.from) {
    std::string path = fs::absolute(dir).lexically_normal().string();
    std::optional<Folder> more = Folder::current(path);
    if (!more) return fmt::format("no campaign in '{}'", dir);
    if (more->path() != folder_->path()) setup.folders.push_back(*more);
  }
  setup.recorded_only = recorded;
  setup.stop = [this] { *stop_ = true; };
  setup.say = [this](const std::string& text) { message(text); };
  if (!recorded) {
    ++campaign_.epoch;
    std::string error = exec::make_folder(folder_->queue(campaign_.epoch), job_.dir);
    if (error.empty()) error = folder_->save(campaign_);
    if (!error.empty()) return error;
  }
  setup.epoch = campaign_.epoch;
  coordinator_ = std::make_shared<Coordinator>(std::move(setup));
  return {};
}

std::string Session::work_dir(const std::string& dir) const {
  return remote() ? local_folder() : dir;
}

std::string Session::input(const std::string& path) {
  if (!remote()) return path;
  bool given = serves_other_command();
  if (!given) {
    campaign_.input.clear();
    if (!path.empty()) {
      std::string text = exec::read_file(path).value_or("");
      campaign_.input = "inputs/" + hex(hash_of(text));
      std::string error = exec::write_file(folder_->path() + "/" + campaign_.input, text);
      if (!error.empty()) coordinator_->fail(error);
    }
    if (std::string error = folder_->save(campaign_); !error.empty()) coordinator_->fail(error);
  }
  return campaign_.input.empty() ? "" : folder_->path() + "/" + campaign_.input;
}

void Session::use(exec::WorkerOptions& worker, unsigned& jobs) const {
  if (!remote()) return;
  worker.remote = coordinator_;
  u64 wanted = options_.executor == "recorded" ? 1 : options_.workers * kDepth;
  jobs = static_cast<unsigned>(std::min<u64>(wanted, kMostJobs));
}

void Session::message(const std::string& text) {
  if (options_.executor == "background") return;
  job_.say(text);
}

void Session::end(bool over) {
  over_ = true;
  if (thread_.joinable()) thread_.join();
  if (!remote()) return;
  bool recorded = options_.executor == "recorded";
  if (recorded && coordinator_->missing() && !job_.quiet)
    job_.say("not everything is recorded yet: this is what the results so far say");
  if (recorded) return;
  if (over) {
    campaign_.finished = true;
    campaign_.complete = options_.executor != "background";  // its report has not been shown
    if (std::string error = folder_->save(campaign_); !error.empty()) message(error);
    // Tasks that still wait for a machine have nothing to do any more; the others end by themselves.
    bool waits = std::any_of(tasks_.begin(), tasks_.end(),
                             [](const auto& task) { return task.second.state == "PENDING"; });
    if (!array_.empty() && waits) cancel(array_);
    if (!array_.empty()) unlink(array_file().c_str());
    return;
  }
  if (!array_.empty())
    message(fmt::format("job array {} continues; the same command attaches to it again, --cancel ends it",
                        array_));
}

}  // namespace duress::cluster
