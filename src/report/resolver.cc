// SPDX-License-Identifier: Apache-2.0
//
// Which name a variable gets matters more than any other line of a report. The compiler's own name for
// the accessed thing (`Cache::size_`) beats the linker's (`cache`), which beats where the memory came
// from (`heap block of 40 bytes from make_node()`), which beats the pointer it was reached through (`*p`):
// the same block is `*p` here and `*q` there, and one race must have one name.
#include "report/resolver.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "duress/hooks.h"
#include "report/path.h"

namespace duress::report {

using finding::Address;
using finding::BlockKind;
using finding::Frame;

namespace {

constexpr int kMaxInlineDepth = 256;  // a damaged table may hold a cycle

bool starts_with(const std::string& text, const char* prefix) {
  return text.rfind(prefix, 0) == 0;
}

bool is_below(const std::string& path, const std::string& folder) {
  return folder.size() > 1 && starts_with(path, folder.c_str()) && path.size() > folder.size() &&
         path[folder.size()] == '/';
}

/// Not the user's own code: the system's libraries and headers, the C++ library wherever it is installed,
/// and our runtime. Containers often build in /usr/src, and people in whatever folder they are in.
bool is_library(const Frame& frame, const finding::ProcessLog& process) {
  if (starts_with(frame.function, "__duress_") || starts_with(frame.function, "duress::") ||
      starts_with(frame.function, "duress_"))
    return true;
  if (frame.file.find("/include/c++/") != std::string::npos) return true;
  bool system_module = frame.module != process.exe && !is_below(frame.module, "/usr/local") &&
                       (is_below(frame.module, "/usr") || starts_with(frame.module, "/lib"));
  if (system_module) return true;
  if (frame.file.empty())
    return starts_with(frame.function, "std::") || starts_with(frame.function, "__gnu_cxx::");
  return is_below(frame.file, "/usr") && !is_below(frame.file, "/usr/src") &&
         !is_below(frame.file, "/usr/local/src") && !is_below(frame.file, process.cwd);
}

std::size_t blamed_frame(const std::vector<Frame>& stack) {
  for (std::size_t i = 0; i < stack.size(); ++i) {
    if (!stack[i].library && (!stack[i].file.empty() || !stack[i].function.empty())) return i;
  }
  return 0;
}

/// How good a site's name for its variable is; 0 is best. From `kWeak` on, where the memory lies says more:
/// what the C++ library calls its own fields (`_M_start`) names no variable of the user's, and gives a race
/// on one vector as many names as the vector has fields.
enum Rank { kNamed = 0, kElement = 1, kLocal = 2, kWeak = 3, kNone = 4 };

Rank rank(const Site& site, bool in_library) {
  if (site.variable.empty()) return kNone;
  if (in_library || starts_with(site.variable, "std::")) return kWeak;
  switch (site.variable_kind) {
    case kDuressGlobal:
    case kDuressField:
      return kNamed;
    case kDuressArray:
      return kElement;
    case kDuressLocal:
      return kLocal;
    case kDuressPointee:
      return kWeak;
    default:
      return kNone;
  }
}

std::string normal(const std::string& path) {
  return path.empty() ? path : std::filesystem::path(path).lexically_normal().string();
}

}  // namespace

void Resolver::warn(const std::string& text) {
  if (warned_.insert(text).second) warnings_.push_back(text);
}

const finding::ModuleRecord* Resolver::module_at(const Context& context, Address address) const {
  // The newest first: an address may have belonged to a library that was closed before.
  for (std::size_t i = context.modules_loaded; i-- > 0;) {
    const finding::ModuleRecord& module = context.process.modules[i];
    if (module.low <= address && address < module.high) return &module;
  }
  return nullptr;
}

const finding::ModuleRecord* Resolver::module_with_id(const Context& context, int id) const {
  for (std::size_t i = context.modules_loaded; i-- > 0;) {
    if (context.process.modules[i].id == id) return &context.process.modules[i];
  }
  return nullptr;
}

const SiteTable& Resolver::sites_of(const finding::ModuleRecord& module) {
  auto [it, fresh] = tables_.try_emplace(module.path);
  if (fresh) {
    it->second = SiteTable::load(module.path);
    const SiteTable& table = it->second;
    if (!table.problem().empty())
      warn(fmt::format("{}: {}; names are missing", module.path, table.problem()));
    if (!module.build_id.empty() && !table.build_id().empty() && module.build_id != table.build_id()) {
      warn(fmt::format("{}: was rebuilt since the run; names and lines may be wrong", module.path));
    }
  }
  return it->second;
}

const Site* Resolver::site_of(const Context& context, const finding::AccessRecord& access) {
  if (!access.site) return nullptr;
  const finding::ModuleRecord* module = module_with_id(context, access.site->module);
  return module ? sites_of(*module).find(access.site->index) : nullptr;
}

void Resolver::add_code(const Context& context, Address address, std::vector<Frame>& frames) {
  const finding::ModuleRecord* module = module_at(context, address);
  if (module == nullptr) {
    Frame frame;
    frame.module_offset = address;
    frames.push_back(std::move(frame));
    return;
  }
  std::uint64_t offset = address - module->base;
  auto [it, fresh] = frames_.try_emplace({module->path, offset});
  if (fresh) {
    it->second = symbolizer_.code(module->path, offset);
    for (Frame& frame : it->second) {
      frame.file = normal(frame.file);
      frame.library = is_library(frame, context.process);
    }
  }
  frames.insert(frames.end(), it->second.begin(), it->second.end());
}

std::vector<Frame> Resolver::stack(const Context& context, const std::vector<Address>& addresses) {
  std::vector<Frame> frames;
  for (Address address : addresses) {
    if (address != 0) add_code(context, address - 1, frames);
  }
  return frames;
}

/// The name of a lock that is a field of the object whose other field `access` touches, or "".
std::string Resolver::lock_beside(const Context& context, const finding::AccessRecord& access, Address lock) {
  const Site* site = site_of(context, access);
  if (site == nullptr || site->variable_kind != kDuressField) return {};
  const std::string& path = module_with_id(context, access.site->module)->path;
  auto layout = layouts_.try_emplace(path, path).first;
  auto distance = static_cast<std::int64_t>(lock - access.address);
  return layout->second.neighbour(site->variable, distance).value_or("");
}

std::string Resolver::lock_name(const Context& context, const finding::AccessRecord& access,
                                const finding::LockRecord& lock) {
  std::string name = lock_beside(context, access, lock.address);
  const finding::ModuleRecord* module = module_at(context, lock.address);
  if (name.empty() && module != nullptr) {
    std::uint64_t address = lock.address - module->base;
    if (auto symbol = symbolizer_.data(module->path, address)) {
      name = symbol->name;
      if (address != symbol->start) name += fmt::format("+{}", address - symbol->start);
    }
  }
  if (name.empty()) {
    auto [it, fresh] = lock_numbers_.try_emplace({context.process.pid, lock.address}, 0);
    if (fresh) it->second = static_cast<int>(lock_numbers_.size());
    name = fmt::format("M{}", it->second);
  }
  if (lock.shared) name += " (shared)";
  return name;
}

finding::AccessReport Resolver::access(const Context& context, const finding::AccessRecord& record) {
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

  if (const Site* site = site_of(context, record)) {
    const finding::ModuleRecord* module = module_with_id(context, record.site->module);
    const SiteTable& table = sites_of(*module);
    for (int depth = 0; site != nullptr && depth < kMaxInlineDepth; ++depth) {
      Frame frame;
      frame.function = frame.signature = site->function;
      frame.file = normal(site->file);
      frame.line = site->line;
      frame.column = site->column;
      frame.module = module->path;
      frame.library = is_library(frame, context.process);
      report.stack.push_back(std::move(frame));
      site = site->inlined_at ? table.find(*site->inlined_at) : nullptr;
    }
  } else if (record.access == finding::Access::kFree) {
    Frame frame;
    frame.function = frame.signature = "free";
    frame.library = true;
    report.stack.push_back(std::move(frame));
  }
  std::vector<Frame> callers = stack(context, record.stack);
  report.stack.insert(report.stack.end(), callers.begin(), callers.end());
  report.blamed = blamed_frame(report.stack);
  return report;
}

finding::BlockReport Resolver::block(const Context& context, const finding::RaceRecord& record) {
  finding::BlockReport report;
  report.kind = record.block.kind;
  report.size = record.block.size;
  report.thread = record.block.thread;
  if (record.block.start != 0) report.offset = static_cast<std::int64_t>(record.address - record.block.start);
  report.stack = stack(context, record.block.stack);
  const finding::ModuleRecord* module = module_at(context, record.address);
  if (module != nullptr && (report.kind == BlockKind::kGlobal || report.kind == BlockKind::kUnknown)) {
    std::uint64_t address = record.address - module->base;
    if (auto symbol = symbolizer_.data(module->path, address)) {
      report.kind = BlockKind::kGlobal;
      report.name = symbol->name;
      report.size = symbol->size;
      report.offset = static_cast<std::int64_t>(address - symbol->start);
    }
  }
  return report;
}

finding::ThreadReport Resolver::thread(const Context& context, int id) {
  finding::ThreadReport report;
  report.id = id;
  if (auto it = context.process.threads.find(id); it != context.process.threads.end()) {
    report.parent = it->second.parent;
    report.name = it->second.name;
    report.stack = stack(context, it->second.stack);
  }
  return report;
}

void Resolver::name_variable(const Context& context, const finding::RaceRecord& record, finding::Race& race) {
  const Site* best = nullptr;
  Rank best_rank = kNone;
  for (std::size_t i : {0, 1}) {
    const Site* site = site_of(context, i == 0 ? record.prev : record.cur);
    if (site == nullptr) continue;
    bool in_library = !race.sites[i].stack.empty() && race.sites[i].stack[0].library;
    Rank this_rank = rank(*site, in_library);
    if (this_rank == kNone) continue;
    // Of two equally good names the same one whatever the order of the accesses.
    if (this_rank < best_rank || (this_rank == best_rank && site->variable < best->variable)) {
      best = site;
      best_rank = this_rank;
    }
  }
  if (best_rank < kWeak) {
    race.variable = race.variable_key = best->variable;
  } else if (!race.block.name.empty()) {
    race.variable = race.variable_key = race.block.name;
  } else if (race.block.kind == BlockKind::kHeap) {
    const Frame origin =
        race.block.stack.empty() ? Frame{} : race.block.stack[blamed_frame(race.block.stack)];
    race.variable = fmt::format("heap block of {} bytes", race.block.size);
    race.variable_key = "heap block";
    if (!origin.function.empty()) {
      race.variable += fmt::format(" from {}()", origin.function);
      race.variable_key += " from " + origin.function;
      if (!origin.file.empty()) race.variable += fmt::format(" ({}:{})", base_name(origin.file), origin.line);
    }
  } else if (best != nullptr) {
    race.variable = race.variable_key = best->variable;
  } else if (race.block.kind == BlockKind::kStack || race.block.kind == BlockKind::kTls) {
    const char* what = race.block.kind == BlockKind::kStack ? "stack" : "thread-local memory";
    race.variable_key = what;
    race.variable = fmt::format("{} of T{}", what, race.block.thread);
  } else {
    race.variable_key = "";
    race.variable = fmt::format("{:#x}", record.address);
  }
}

void Resolver::judge(const Context& context, const finding::RaceRecord& record, finding::Race& race) {
  auto side = [&](const finding::AccessRecord& access, const finding::AccessReport& report) {
    Address code = access.instruction ? access.instruction->address : 0;
    return CollisionSide{access, report, code != 0 ? module_at(context, code) : nullptr};
  };
  CollisionSide met = side(record.prev, race.sites[0]), held = side(record.cur, race.sites[1]);
  judge_.judge(record, held, met, module_at(context, record.address), race);
}

finding::Race Resolver::race(const finding::ProcessLog& process, const finding::RaceRecord& record) {
  Context context{process, std::min(record.modules_loaded, process.modules.size())};
  finding::Race race;
  race.sites[0] = access(context, record.prev);
  race.sites[1] = access(context, record.cur);
  race.found_by = {record.analysis};
  race.address = record.address;
  race.block = block(context, record);
  race.pid = process.pid;
  race.exe = process.exe;
  name_variable(context, record, race);
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
  Context context{process, std::min(record.modules_loaded, process.modules.size())};
  finding::Suspicion suspicion{record.analysis, record.what, {}, {}, process.pid};
  for (const finding::AccessRecord& site : record.sites) suspicion.sites.push_back(access(context, site));
  if (record.address != 0 && !record.sites.empty()) {
    finding::RaceRecord as_race;
    as_race.address = record.address;
    as_race.prev = record.sites.front();
    as_race.cur = record.sites.back();
    as_race.block = record.block;
    as_race.modules_loaded = record.modules_loaded;
    suspicion.variable = race(process, as_race).variable;
  }
  return suspicion;
}

finding::Crash Resolver::crash(const finding::ProcessLog& process, const finding::CrashRecord& record) {
  Context context{process, std::min(record.modules_loaded, process.modules.size())};
  finding::Crash crash;
  crash.signal = record.signal;
  crash.address = record.address;
  crash.thread = record.thread;
  if (auto it = process.threads.find(record.thread); it != process.threads.end())
    crash.thread_name = it->second.name;
  crash.stack = stack(context, record.stack);
  crash.blamed = blamed_frame(crash.stack);
  crash.pid = process.pid;
  crash.exe = process.exe;
  return crash;
}

}  // namespace duress::report
