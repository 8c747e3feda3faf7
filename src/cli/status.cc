// SPDX-License-Identifier: Apache-2.0
//
// `duress status` and `duress merge`: a campaign on several machines, looked at from outside while it runs.
// Both only read what workers wrote.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cluster/folder.h"
#include "cluster/shard_log.h"
#include "cluster/slurm.h"
#include "exec/files.h"
#include "exec/session.h"

namespace duress::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// What a worker's record says of it.
struct WorkerStatus {
  explicit WorkerStatus(const std::string& path) : reader(path, 0) {}
  cluster::LogReader reader;
  u64 shard = 0, of = 0, runs = 0;
  std::string host, state = "silent";  // works, ended, failed, silent
  std::string why;

  /// Reads on; whoever has written something since is alive, whatever its clock says.
  void look(bool again) {
    bool heard = false;
    reader.poll([&](const cluster::LogRecord& record) {
      heard = true;
      Json json =
          record.kind == cluster::RecordKind::kHello ? Json::parse(record.payload, nullptr, false) : Json();
      if (json.is_object()) {
        shard = json.value("shard", u64{0});
        of = json.value("of", u64{0});
        host = json.value("host", std::string());
      }
      runs += record.kind == cluster::RecordKind::kResult;
      if (record.kind == cluster::RecordKind::kBye) {
        state = "ended";
        why = std::string(record.payload);
      }
      if (record.kind == cluster::RecordKind::kProblem) {
        state = "failed";
        if (record.key == cluster::Key{}) why = std::string(record.payload);
      }
    });
    if (again && state != "ended" && state != "failed") state = heard ? "works" : "silent";
  }
};

struct Status {
  cluster::CampaignFile campaign;
  std::optional<cluster::DriverFile> driver;
  bool driven = false;
  std::map<std::string, WorkerStatus> workers;
  std::string array;
  std::map<u64, cluster::ArrayTask> tasks;
  u64 runs() const {
    u64 sum = 0;
    for (const auto& [name, worker] : workers) sum += worker.runs;
    return sum;
  }
  std::string state() const { return campaign.finished ? "finished" : driven ? "running" : "not driven"; }
};

void look(const cluster::Folder& folder, Status& status, bool again) {
  if (std::optional<cluster::CampaignFile> campaign = folder.campaign())
    status.campaign = std::move(*campaign);
  std::optional<cluster::DriverFile> driver = folder.driver();
  if (again) status.driven = driver && (!status.driver || driver->beat != status.driver->beat);
  status.driver = driver;
  for (const std::string& name : folder.workers())
    status.workers.try_emplace(name, folder.shards() + "/" + name).first->second.look(again);
  status.array = exec::read_file(folder.slurm() + "/array").value_or("");
  std::string ignored;
  if (again && !status.array.empty() && cluster::check_slurm().empty())
    cluster::array_tasks(status.array, status.tasks, ignored);
}

std::string text_of(const Status& status) {
  std::string text = fmt::format("duress {} -- {}: {}", status.campaign.command,
                                 fmt::join(status.campaign.target, " "), status.state());
  if (status.driven) text += fmt::format(" by process {} on {}", status.driver->pid, status.driver->host);
  text += fmt::format("; {} runs recorded", status.runs());
  if (status.driver && !status.campaign.finished)
    text += fmt::format(", {} asked for", status.driver->waiting);
  text += "\n";
  for (const auto& [name, worker] : status.workers) {
    text += fmt::format("  worker {}/{} on {}: {} runs, {}", worker.shard, worker.of, worker.host,
                        worker.runs, worker.state);
    text += worker.why.empty() ? "\n" : fmt::format(" ({})\n", worker.why);
  }
  std::map<std::string, std::vector<u64>> states;
  for (const auto& [number, task] : status.tasks) {
    std::string word = task.state;
    if (task.state == "PENDING") word += fmt::format(" ({})", task.reason);
    if (task.restarts != 0) word += fmt::format(" (requeued {} times)", task.restarts);
    states[word].push_back(number);
  }
  for (const auto& [state, numbers] : states)
    text += fmt::format("  job array {}: task {} {}\n", status.array, cluster::ranges_text(numbers), state);
  return text;
}

std::string document(const Status& status) {
  Json json;
  json["schema"] = "duress/1";
  json["command"] = "status";
  json["version"] = DURESS_VERSION;
  json["seed"] = 1;
  const std::vector<std::string>& words = status.campaign.arguments;
  for (std::size_t i = 0; i + 1 < words.size() && words[i] != "--"; ++i) {
    if (words[i] == "--seed") json["seed"] = std::strtoll(words[i + 1].c_str(), nullptr, 10);
  }
  json["target"] = status.campaign.target;
  json["runs"] = status.runs();
  json["races"] = Json::array();
  Json campaign;
  campaign["command"] = status.campaign.command;
  campaign["state"] = status.state();
  campaign["asked_for"] = status.driver ? status.driver->waiting : 0;
  campaign["workers"] = Json::array();
  for (const auto& [name, worker] : status.workers) {
    Json one{{"shard", worker.shard},
             {"of", worker.of},
             {"host", worker.host},
             {"runs", worker.runs},
             {"state", worker.state}};
    if (!worker.why.empty()) one["reason"] = worker.why;
    campaign["workers"].push_back(one);
  }
  if (!status.array.empty()) {
    campaign["job"] = status.array;
    campaign["tasks"] = Json::array();
    for (const auto& [number, task] : status.tasks)
      campaign["tasks"].push_back({{"task", number},
                                   {"state", task.state},
                                   {"requeued", task.restarts},
                                   {"reason", task.reason},
                                   {"node", task.node}});
  }
  json["campaign"] = campaign;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::atomic<bool> stop_asked{false};

}  // namespace

int status_command(const Arguments& arguments) {
  std::string dir = ".duress", json;
  bool watch = false;
  CLI::App app("How far a campaign on several machines is, and who works on it.", "duress status");
  app.set_help_flag("-h,--help", "This text");
  app.add_option("--dir", dir, "The folder of the campaign; default .duress");
  app.add_flag("--watch", watch, "Again every two seconds, until it is finished");
  app.add_flag_callback("--json", [&] { json = "-"; }, "One JSON document on stdout");
  try {
    Arguments words(arguments.rbegin(), arguments.rend());
    app.parse(words);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", help_text(app, ""));
    return kExitOk;
  } catch (const CLI::ParseError& error) {
    return wrong_use("status", error.what());
  }
  std::optional<cluster::Folder> folder =
      cluster::Folder::current(fs::absolute(dir).lexically_normal().string());
  if (!folder || !folder->campaign()) {
    say(fmt::format("no campaign of several machines in '{}'; --dir says where it was started", dir));
    return kExitWrongUse;
  }
  struct sigaction action{};
  action.sa_handler = [](int) { stop_asked = true; };
  sigaction(SIGINT, &action, nullptr);
  Status status;
  look(*folder, status, false);
  do {
    // Beats come every second; clocks are not asked.
    for (int i = 0; i < (watch ? 20 : 15) && !stop_asked; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    look(*folder, status, true);
    if (json.empty() && watch && isatty(STDOUT_FILENO) != 0) fmt::print("\033[H\033[J");
    fmt::print("{}", json.empty() ? text_of(status) : document(status));
    std::fflush(stdout);
  } while (watch && !status.campaign.finished && !stop_asked);
  return kExitOk;
}

int merge_command(const Arguments& arguments) {
  Arguments dirs, more;
  for (const std::string& word : arguments) {
    if (word == "-h" || word == "--help") {
      fmt::print(
          "What the results in these folders say, while workers run or after.\n"
          "Usage: duress merge DIR... [OPTIONS of the campaign's command, as --json or -v]\n\n"
          "DIR is what duress classify, explore or verify was given with --dir. Results from several folders "
          "are\n"
          "taken together. Nothing is run; the exit code is that of the command.\n");
      return kExitOk;
    }
    (word[0] == '-' ? more : dirs).push_back(word);
  }
  if (dirs.empty()) return wrong_use("merge", "no folder given");
  std::string first = fs::absolute(dirs[0]).lexically_normal().string();
  std::optional<cluster::Folder> folder = cluster::Folder::current(first);
  std::optional<cluster::CampaignFile> campaign = folder ? folder->campaign() : std::nullopt;
  if (!campaign) {
    say(fmt::format("no campaign of several machines in '{}'", dirs[0]));
    return kExitWrongUse;
  }
  Arguments words{"--executor", "recorded", "--dir", first};
  for (std::size_t i = 1; i < dirs.size(); ++i) {
    words.push_back("--from");
    words.push_back(fs::absolute(dirs[i]).lexically_normal().string());
  }
  words.insert(words.end(), more.begin(), more.end());
  bool ours = true;  // before the program's own words
  for (const std::string& word : campaign->arguments) {
    auto name = [](const std::string& text) { return text.substr(0, text.find('=')); };
    ours = ours && word != "--";
    // What is given now counts, not what was given then.
    bool again = ours && word[0] == '-' &&
                 std::any_of(more.begin(), more.end(),
                             [&](const std::string& other) { return name(other) == name(word); });
    if (!again) words.push_back(word);
  }
  if (chdir(campaign->folder.c_str()) != 0) {
    say(fmt::format("cannot enter the folder '{}' where the campaign was started", campaign->folder));
    return kExitToolFailed;
  }
  for (const Command& command : commands()) {
    if (campaign->command == command.name) return command.run(words);
  }
  say(fmt::format("the campaign's command '{}' is not known", campaign->command));
  return kExitToolFailed;
}

}  // namespace duress::cli
