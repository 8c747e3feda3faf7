// SPDX-License-Identifier: Apache-2.0
#include "cluster/status.h"

#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "exec/files.h"

namespace duress::cluster {

using Json = nlohmann::ordered_json;

void WorkerStatus::look(bool again) {
  bool heard = false;
  reader.poll([&](const LogRecord& record) {
    heard = true;
    Json json = record.kind == RecordKind::kHello ? Json::parse(record.payload, nullptr, false) : Json();
    if (json.is_object()) {
      shard = json.value("shard", u64{0});
      of = json.value("of", u64{0});
      host = json.value("host", std::string());
    }
    runs += record.kind == RecordKind::kResult;
    if (record.kind == RecordKind::kBye) {
      state = "ended";
      why = std::string(record.payload);
    }
    if (record.kind == RecordKind::kProblem) {
      state = "failed";
      if (record.key == Key{}) why = std::string(record.payload);
    }
  });
  if (again && state != "ended" && state != "failed") state = heard ? "works" : "silent";
}

u64 CampaignStatus::runs() const {
  u64 sum = 0;
  for (const auto& [name, worker] : workers) sum += worker.runs;
  return sum;
}

void CampaignStatus::look(const Folder& folder, bool again) {
  if (std::optional<CampaignFile> file = folder.campaign()) campaign = std::move(*file);
  std::optional<DriverFile> now = folder.driver();
  if (again) driven = now && (!driver || now->beat != driver->beat);
  driver = now;
  for (const std::string& name : folder.workers())
    workers.try_emplace(name, folder.shards() + "/" + name).first->second.look(again);
  array = exec::read_file(folder.slurm() + "/array").value_or("");
  std::string ignored;
  if (again && !array.empty() && check_slurm().empty()) array_tasks(array, tasks, ignored);
}

std::string text_of(const CampaignStatus& status) {
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
    text += fmt::format("  job array {}: task {} {}\n", status.array, ranges_text(numbers), state);
  return text;
}

std::string document_of(const CampaignStatus& status) {
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

}  // namespace duress::cluster
