// SPDX-License-Identifier: Apache-2.0
#include "finding/log_writer.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace duress::finding {
namespace {

using Json = nlohmann::ordered_json;

std::string hex(Address address) {
  char text[20];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

Json to_json(const std::vector<Address>& stack) {
  Json list = Json::array();
  for (Address address : stack) list.push_back(hex(address));
  return list;
}

Json to_json(const AccessRecord& access) {
  Json json{{"thread", access.thread}, {"access", access_name(access.access)}, {"addr", hex(access.address)},
            {"size", access.size},     {"stack", to_json(access.stack)},       {"locks", Json::array()}};
  if (access.site) json["site"] = {access.site->module, access.site->index};
  for (const LockRecord& lock : access.locks)
    json["locks"].push_back(
        {{"addr", hex(lock.address)}, {"kind", lock.kind}, {"mode", lock.shared ? "read" : "write"}});
  return json;
}

Json to_json(const BlockRecord& block) {
  static constexpr const char* kKinds[] = {"unknown", "heap", "global", "stack", "tls", "mmap"};
  return {{"kind", kKinds[static_cast<std::size_t>(block.kind)]},
          {"start", hex(block.start)},
          {"size", block.size},
          {"thread", block.thread},
          {"stack", to_json(block.stack)}};
}

Json to_json(const char* kind, const RaceRecord& race) {
  return {{"t", kind},
          {"analysis", race.analysis},
          {"addr", hex(race.address)},
          {"size", race.size},
          {"prev", to_json(race.prev)},
          {"cur", to_json(race.cur)},
          {"block", to_json(race.block)}};
}

Json to_json(const WarningRecord& warning) {
  Json json{{"t", "warning"},         {"analysis", warning.analysis},
            {"what", warning.what},   {"addr", hex(warning.address)},
            {"sites", Json::array()}, {"block", to_json(warning.block)}};
  for (const AccessRecord& site : warning.sites) json["sites"].push_back(to_json(site));
  return json;
}

Json to_json(const CrashRecord& crash) {
  return {{"t", "crash"},
          {"signal", crash.signal},
          {"addr", hex(crash.address)},
          {"thread", crash.thread},
          {"stack", to_json(crash.stack)}};
}

Json to_json(const ModuleRecord& module) {
  return {{"t", "module"},
          {"id", module.id},
          {"path", module.path},
          {"base", hex(module.base)},
          {"low", hex(module.low)},
          {"high", hex(module.high)},
          {"build_id", module.build_id}};
}

Json to_json(const ThreadRecord& thread) {
  return {{"t", "thread"},
          {"id", thread.id},
          {"parent", thread.parent},
          {"name", thread.name},
          {"stack", to_json(thread.stack)},
          {"path", thread.path}};
}

class Writer {
 public:
  void put(const Json& line) { text_ += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

  /// What was seen when so many modules were loaded.
  void findings(const ProcessLog& process, std::size_t modules) {
    for (const RaceRecord& race : process.races) {
      if (race.modules_loaded == modules) put(to_json("race", race));
    }
    for (const RaceRecord& race : process.potentials) {
      if (race.modules_loaded == modules) put(to_json("potential", race));
    }
    for (const WarningRecord& warning : process.warnings) {
      if (warning.modules_loaded == modules) put(to_json(warning));
    }
    for (const CrashRecord& crash : process.crashes) {
      if (crash.modules_loaded == modules) put(to_json(crash));
    }
  }

  std::string text_;
};

}  // namespace

std::string log_text(const ProcessLog& process) {
  Writer writer;
  writer.put({{"t", "start"},
              {"version", 1},
              {"pid", process.pid},
              {"ppid", process.ppid},
              {"exe", process.exe},
              {"argv", process.argv},
              {"cwd", process.cwd},
              {"chain", process.chain},
              {"mode", process.mode}});
  for (const auto& [id, thread] : process.threads) writer.put(to_json(thread));
  writer.findings(process, 0);
  for (std::size_t i = 0; i < process.modules.size(); ++i) {
    writer.put(to_json(process.modules[i]));
    writer.findings(process, i + 1);
  }
  for (const std::string& what : process.incomplete) writer.put({{"t", "incomplete"}, {"what", what}});
  for (const auto& [name, value] : process.stats)
    writer.put({{"t", "stat"}, {"name", name}, {"value", value}});
  if (process.exit) writer.put({{"t", "end"}, {"exit", *process.exit}});
  return writer.text_;
}

}  // namespace duress::finding
