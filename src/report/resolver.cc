// SPDX-License-Identifier: Apache-2.0
#include "report/resolver.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "duress/hooks.h"
#include "trail/site_key.h"

namespace duress::report {

using finding::Address;
using finding::blamed_frame;
using finding::BlockKind;
using finding::Frame;

/// The name of a lock that is a field of the object whose other field, at `accessed`, `where` touches, or "".
std::string Resolver::lock_beside(const LoadedModules& context,
                                  const std::optional<finding::SiteRecord>& where, Address accessed,
                                  Address lock) {
  const Site* site = names_.site_of(context, where);
  if (site == nullptr || site->variable_kind != kDuressField) return {};
  const std::string& path = names_.module_with_id(context, where->module)->path;
  auto layout = layouts_.try_emplace(path, path).first;
  auto distance = static_cast<std::int64_t>(lock - accessed);
  return layout->second.neighbour(site->variable, distance).value_or("");
}

void Resolver::learn_locks(const finding::ProcessLog& process, const std::vector<finding::Step>& steps) {
  constexpr Address kFar = 4096;  // a lock that is further from all that is accessed keeps its number
  constexpr int kMostTries = 64;
  static const std::set<std::string> kWords = {"lock",          "try lock", "unlock", "read lock",
                                               "try read lock", "signal",   "wait",   "broadcast"};
  LoadedModules context{process, process.modules.size()};
  std::map<Address, finding::SiteRecord> fields;
  std::set<Address> locks;
  std::vector<Address> in_order;
  for (const finding::Step& step : steps) {
    if (step.site && step.object != 0)
      fields.try_emplace(step.object, *step.site);
    else if (kWords.count(step.operation) != 0 && step.object != 0)
      if (locks.insert(step.object).second) in_order.push_back(step.object);
  }
  names_.forget_objects();
  for (Address lock : locks) {
    int tries = 0;
    auto after = fields.lower_bound(lock);
    auto before = std::make_reverse_iterator(after);
    std::string name;
    auto look = [&](const auto& field) {
      name = lock_beside(context, field.second, field.first, lock);
      if (name.rfind("std::", 0) == 0) name.clear();  // the library's own field of the lock itself
      return !name.empty() || ++tries >= kMostTries;
    };
    // What protects something is mostly declared before it.
    for (; after != fields.end() && after->first - lock < kFar && !look(*after);) ++after;
    tries = 0;
    for (; name.empty() && before != fields.rend() && lock - before->first < kFar && !look(*before);)
      ++before;
    if (!name.empty()) names_.learn_object(context, lock, name);
  }
  // The others are numbered as they come, so that a card and its lanes say the same.
  for (Address lock : in_order) names_.object_name(context, lock);
}

std::string Resolver::lock_name(const LoadedModules& context, const finding::AccessRecord& access,
                                const finding::LockRecord& lock) {
  std::string name = lock_beside(context, access.site, access.address, lock.address);
  if (name.empty()) name = names_.object_name(context, lock.address);
  if (lock.shared) name += " (shared)";
  return name;
}

finding::AccessReport Resolver::access(const LoadedModules& context, const finding::AccessRecord& record) {
  finding::AccessReport report;
  report.access = record.access;
  report.size = record.size;
  report.thread = record.thread;
  if (record.instruction) report.instruction = record.instruction->text;
  if (auto it = context.process.threads.find(record.thread); it != context.process.threads.end()) {
    report.thread_name = it->second.name;
  }
  for (const finding::LockRecord& lock : record.locks)
    report.locks.push_back(lock_name(context, record, lock));

  if (record.site) report.stack = names_.site_frames(context, *record.site);
  if (report.stack.empty() && record.access == finding::Access::kFree) {
    Frame frame;
    frame.function = frame.signature = "free";
    frame.library = true;
    report.stack.push_back(std::move(frame));
  }
  std::vector<Frame> callers = names_.stack(context, record.stack);
  report.stack.insert(report.stack.end(), callers.begin(), callers.end());
  report.blamed = blamed_frame(report.stack);
  return report;
}

finding::BlockReport Resolver::block(const LoadedModules& context, const finding::BlockRecord& record,
                                     Address address) {
  finding::BlockReport report;
  report.kind = record.kind;
  report.size = record.size;
  report.thread = record.thread;
  if (record.start != 0) report.offset = static_cast<std::int64_t>(address - record.start);
  report.stack = names_.stack(context, record.stack);
  const finding::ModuleRecord* module = names_.module_at(context, address);
  if (module != nullptr && (report.kind == BlockKind::kGlobal || report.kind == BlockKind::kUnknown)) {
    std::uint64_t offset = address - module->base;
    if (auto symbol = names_.data(*module, offset)) {
      report.kind = BlockKind::kGlobal;
      report.name = symbol->name;
      report.size = symbol->size;
      report.offset = static_cast<std::int64_t>(offset - symbol->start);
    }
  }
  return report;
}

finding::ThreadReport Resolver::thread(const LoadedModules& context, int id) {
  finding::ThreadReport report;
  report.id = id;
  if (auto it = context.process.threads.find(id); it != context.process.threads.end()) {
    report.parent = it->second.parent;
    report.name = it->second.name;
    report.stack = names_.stack(context, it->second.stack);
  }
  return report;
}

NamingSite Resolver::naming_site(const LoadedModules& context, const finding::AccessRecord& record,
                                 const finding::AccessReport& named) {
  return {names_.site_of(context, record.site), !named.stack.empty() && named.stack[0].library};
}

void Resolver::judge(const LoadedModules& context, const finding::RaceRecord& record, finding::Race& race) {
  auto side = [&](const finding::AccessRecord& access, const finding::AccessReport& report) {
    Address code = access.instruction ? access.instruction->address : 0;
    return CollisionSide{access, report, code != 0 ? names_.module_at(context, code) : nullptr};
  };
  CollisionSide met = side(record.prev, race.sites[0]), held = side(record.cur, race.sites[1]);
  judge_.judge(record, held, met, names_.module_at(context, record.address), race);
}

/// Code without a site table says nothing of variables: of a global the declaration does.
void Resolver::name_by_declaration(const LoadedModules& context, const finding::RaceRecord& record,
                                   finding::Race& race) {
  auto nameless = [](const finding::AccessRecord& access) {
    return !access.site || trail::is_code_site(access.site->index);
  };
  bool code = (record.prev.site && trail::is_code_site(record.prev.site->index)) ||
              (record.cur.site && trail::is_code_site(record.cur.site->index));
  const finding::ModuleRecord* data = names_.module_at(context, record.address);
  if (!code || !nameless(record.prev) || !nameless(record.cur) || data == nullptr) return;
  DebugTypes& types = types_.try_emplace(data->path, data->path).first->second;
  if (auto declared = types.global(record.address - data->base, record.size))
    race.variable = race.variable_key = declared->name;
}

/// The allocation of a block is a write to it that no instruction of the program makes: it is logged without
/// a site, and from the place where the block was allocated.
static void name_allocation(const finding::BlockRecord& block, const finding::AccessRecord& record,
                            finding::AccessReport& report) {
  bool allocates = record.access == finding::Access::kWrite && !record.site &&
                   block.kind == BlockKind::kHeap && record.thread == block.thread && !block.stack.empty() &&
                   record.stack == block.stack;
  if (!allocates) return;
  Frame frame;
  frame.function = frame.signature = "malloc";
  frame.library = true;
  report.stack.insert(report.stack.begin(), std::move(frame));
  report.blamed = blamed_frame(report.stack);
}

finding::Race Resolver::race(const finding::ProcessLog& process, const finding::RaceRecord& record) {
  LoadedModules context{process, std::min(record.modules_loaded, process.modules.size())};
  finding::Race race;
  race.sites[0] = access(context, record.prev);
  race.sites[1] = access(context, record.cur);
  name_allocation(record.block, record.prev, race.sites[0]);
  race.found_by = {record.analysis};
  race.address = record.address;
  race.block = block(context, record.block, record.address);
  race.pid = process.pid;
  race.exe = process.exe;
  VariableName name = variable_name(
      {naming_site(context, record.prev, race.sites[0]), naming_site(context, record.cur, race.sites[1])},
      race.block, record.address);
  race.variable = name.text;
  race.variable_key = name.key;
  name_by_declaration(context, record, race);
  if (record.collision) judge(context, record, race);

  // The threads of both accesses, with those that created them, so that no T7 is left unexplained.
  std::vector<int> wanted{record.prev.thread, record.cur.thread};
  if (record.block.kind != BlockKind::kUnknown && record.block.thread >= 0)
    wanted.push_back(record.block.thread);
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  for (int id : wanted) {
    if (id >= 0) race.threads.push_back(thread(context, id));
  }
  return race;
}

finding::Suspicion Resolver::suspicion(const finding::ProcessLog& process,
                                       const finding::WarningRecord& record) {
  LoadedModules context{process, std::min(record.modules_loaded, process.modules.size())};
  finding::Suspicion suspicion{record.analysis, record.what, {}, {}, process.pid};
  for (const finding::AccessRecord& site : record.sites) suspicion.sites.push_back(access(context, site));
  if (record.address != 0 && !record.sites.empty()) {
    suspicion.variable = variable_name({naming_site(context, record.sites.front(), suspicion.sites.front()),
                                        naming_site(context, record.sites.back(), suspicion.sites.back())},
                                       block(context, record.block, record.address), record.address)
                             .text;
  }
  return suspicion;
}

finding::Crash Resolver::crash(const finding::ProcessLog& process, const finding::CrashRecord& record) {
  LoadedModules context{process, std::min(record.modules_loaded, process.modules.size())};
  finding::Crash crash;
  crash.signal = record.signal;
  crash.address = record.address;
  crash.thread = record.thread;
  if (auto it = process.threads.find(record.thread); it != process.threads.end())
    crash.thread_name = it->second.name;
  crash.stack = names_.stack(context, record.stack);
  crash.blamed = blamed_frame(crash.stack);
  crash.pid = process.pid;
  crash.exe = process.exe;
  return crash;
}

std::vector<Frame> Resolver::stack(const finding::ProcessLog& process,
                                   const std::vector<Address>& addresses) {
  return names_.stack(LoadedModules{process, process.modules.size()}, addresses);
}

std::string Resolver::object(const finding::ProcessLog& process, Address address) {
  return names_.object_name(LoadedModules{process, process.modules.size()}, address);
}

finding::NamedSite Resolver::site(const finding::ProcessLog& process, const finding::SiteRecord& where,
                                  Address address) {
  LoadedModules context{process, process.modules.size()};
  std::vector<Frame> frames = names_.site_frames(context, where);
  NamingSite naming{names_.site_of(context, where), !frames.empty() && frames[0].library};
  VariableName name = variable_name({naming}, block(context, {}, address), address);
  return {frames.empty() ? Frame{} : frames[blamed_frame(frames)], name.text};
}

}  // namespace duress::report
