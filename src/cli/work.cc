// SPDX-License-Identifier: Apache-2.0
//
// `duress work`: one worker of a campaign on several machines. Slurm's job array starts it, or GNU parallel,
// Kubernetes, or a user.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>

#include "cli/commands.h"
#include "cli/options.h"
#include "cluster/shard_worker.h"
#include "exec/session.h"
#include "exec/target_start.h"

namespace duress::cli {
namespace {

namespace fs = std::filesystem;

std::atomic<bool> stop_asked{false};

/// "2/8"
bool parse_shard(const std::string& text, u64& shard, u64& of) {
  char* end = nullptr;
  shard = std::strtoull(text.c_str(), &end, 10);
  if (end == text.c_str() || *end != '/') return false;
  const char* second = end + 1;
  of = std::strtoull(second, &end, 10);
  return end != second && *end == '\0' && shard >= 1 && shard <= of && of <= 1000000;
}

/// Drives the campaign if no other process does: starts the campaign's command again.
class Driver {
 public:
  Driver(std::string dir, u64 shard) : dir_(std::move(dir)), shard_(shard) {}
  ~Driver() { stop(); }

  void look(bool abandoned) {
    if (pid_ > 0 && waitpid(pid_, nullptr, WNOHANG) == pid_) {
      exec::own_ended(pid_);
      pid_ = -1;
    }
    // One driver is enough: the first shard's.
    if (abandoned && pid_ <= 0 && shard_ == 1) start();
  }

 private:
  void start() {
    std::optional<cluster::Folder> folder = cluster::Folder::current(dir_);
    std::optional<cluster::CampaignFile> campaign = folder ? folder->campaign() : std::nullopt;
    if (!campaign || campaign->finished) return;
    std::error_code code;
    words_ = {fs::read_symlink("/proc/self/exe", code).string(),
              campaign->command,
              "--executor",
              "background",
              "--dir",
              dir_};
    words_.insert(words_.end(), campaign->arguments.begin(), campaign->arguments.end());
    pid_ = exec::start_own(
        [](void* argument) {
          auto* words = static_cast<std::vector<std::string>*>(argument);
          std::vector<char*> argv;
          for (std::string& word : *words) argv.push_back(word.data());
          argv.push_back(nullptr);
          pid_t pid = fork();
          if (pid != 0) return pid;
          dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
          execv(argv[0], argv.data());
          _exit(127);
        },
        &words_);
    say("no process drives the campaign; this worker does, until the command is started again");
  }

  void stop() {
    if (pid_ <= 0) return;
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
    exec::own_ended(pid_);
  }

  std::string dir_;
  u64 shard_;
  std::vector<std::string> words_;
  pid_t pid_ = -1;
};

}  // namespace

int work_command(const Arguments& arguments) {
  cluster::ShardOptions options;
  DirOptions folder;
  std::string shard, time;
  CommandApp app("work", "Performs a share of the executions of a campaign that other machines work on too.");
  folder.add_dir(app, "The folder of the campaign, which all machines see");
  app.add_option("--shard", shard, "Which of how many workers: 2/8")->required();
  app.add_option("--time", time, "End after this long: 30m, 2h");
  app.footer(
      "Ends when the campaign is finished, when the time is up, or on SIGTERM; may be started again or "
      "twice.\n"
      "0: it ended as it should; 2: wrong use; 125: it cannot work, and says why.\n\n"
      "  duress classify --executor shared --dir /shared/d -- ./cache     # on one machine\n"
      "  parallel duress work --dir /shared/d --shard {}/8 ::: $(seq 8)   # wherever workers shall run");
  if (std::optional<int> code = app.read(arguments)) return *code;
  if (!parse_shard(shard, options.shard, options.of))
    return wrong_use("work", fmt::format("invalid shard '{}'; use 2/8 for the second of eight", shard));
  if (!time.empty()) {
    if (std::optional<int> code = app.reject(read_time(time, options.seconds))) return *code;
  }
  options.dir = folder.absolute_dir();
  exec::WorkFolder work(cluster::local_folder());
  if (!work.error().empty()) {
    say(work.error());
    return kExitToolFailed;
  }
  options.work_folder = work.path();
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action{};
    action.sa_handler = [](int) { stop_asked = true; };
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
  }
  Driver driver(options.dir, options.shard);
  options.driven = [&](bool abandoned) { driver.look(abandoned); };
  cluster::ShardResult result = cluster::ShardWorker(options, stop_asked).run();
  if (!result.problem.empty()) {
    say(result.problem);
    return kExitToolFailed;
  }
  say(fmt::format("worker {}/{} performed {} executions; {}", options.shard, options.of, result.executions,
                  result.reason));
  return kExitOk;
}

}  // namespace duress::cli
