// SPDX-License-Identifier: Apache-2.0
#include "report/resolver.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "duress/hooks.h"
#include "report/path.h"

namespace duress::report {

using finding::Address;
using finding::blamed_frame;
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

const Site* Resolver::site_of(const Context& context, const std::optional<finding::SiteRecord>& where) {
  if (!where) return nullptr;
  const finding::ModuleRecord* module = module_with_id(context, where->module);
  return module ? sites_of(*module).find(where->index) : nullptr;
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
  const Site* site = site_of(context, access.site);
  if (site == nullptr || site->variable_kind != kDuressField) return {};
  const std::string& path = module_with_id(context, access.site->module)->path;
  auto layout = layouts_.try_emplace(path, path).first;
  auto distance = static_cast<std::int64_t>(lock - access.address);
  return layout->second.neighbour(site->variable, distance).value_or("");
}

std::string Resolver::object_name(const Context& context, Address address) {
  if (const finding::ModuleRecord* module = module_at(context, address)) {
    std::uint64_t offset = address - module->base;
    if (auto symbol = symbolizer_.data(module->path, offset); symbol && !symbol->name.empty())
      return offset == symbol->start ? symbol->name
                                     : fmt::format("{}+{}", symbol->name, offset - symbol->start);
  }
  auto [it, fresh] = object_numbers_.try_emplace({context.process.pid, address}, 0);
  if (fresh) it->second = static_cast<int>(object_numbers_.size());
  return fmt::format("M{}", it->second);
}

std::string Resolver::lock_name(const Context& context, const finding::AccessRecord& access,
                                const finding::LockRecord& lock) {
  std::string name = lock_beside(context, access, lock.address);
  if (name.empty()) name = object_name(context, lock.address);
  if (lock.shared) name += " (shared)";
  return name;
}

/// The access itself, and the calls that were inlined around it.
std::vector<Frame> Resolver::site_frames(const Context& context, const finding::SiteRecord& where) {
  std::vector<Frame> frames;
  const Site* site = site_of(context, where);
  if (site == nullptr) return frames;
  const finding::ModuleRecord* module = module_with_id(context, where.module);
  const SiteTable& table = sites_of(*module);
  for (int depth = 0; site != nullptr && depth < kMaxInlineDepth; ++depth) {
    Frame frame;
    frame.function = frame.signature = site->function;
    frame.file = normal(site->file);
    frame.line = site->line;
    frame.column = site->column;
    frame.module = module->path;
    frame.library = is_library(frame, context.process);
    frames.push_back(std::move(frame));
    site = site->inlined_at ? table.find(*site->inlined_at) : nullptr;
  }
  return frames;
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

  if (record.site) report.stack = site_frames(context, *record.site);
  if (report.stack.empty() && record.access == finding::Access::kFree) {
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

finding::BlockReport Resolver::block(const Context& context, const finding::BlockRecord& record,
                                     Address address) {
  finding::BlockReport report;
  report.kind = record.kind;
  report.size = record.size;
  report.thread = record.thread;
  if (record.start != 0) report.offset = static_cast<std::int64_t>(address - record.start);
  report.stack = stack(context, record.stack);
  const finding::ModuleRecord* module = module_at(context, address);
  if (module != nullptr && (report.kind == BlockKind::kGlobal || report.kind == BlockKind::kUnknown)) {
    std::uint64_t offset = address - module->base;
    if (auto symbol = symbolizer_.data(module->path, offset)) {
      report.kind = BlockKind::kGlobal;
      report.name = symbol->name;
      report.size = symbol->size;
      report.offset = static_cast<std::int64_t>(offset - symbol->start);
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

NamingSite Resolver::naming_site(const Context& context, const finding::AccessRecord& record,
                                 const finding::AccessReport& named) {
  return {site_of(context, record.site), !named.stack.empty() && named.stack[0].library};
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
  race.block = block(context, record.block, record.address);
  race.pid = process.pid;
  race.exe = process.exe;
  VariableName name = variable_name(
      {naming_site(context, record.prev, race.sites[0]), naming_site(context, record.cur, race.sites[1])},
      race.block, record.address);
  race.variable = name.text;
  race.variable_key = name.key;
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
    suspicion.variable = variable_name({naming_site(context, record.sites.front(), suspicion.sites.front()),
                                        naming_site(context, record.sites.back(), suspicion.sites.back())},
                                       block(context, record.block, record.address), record.address)
                             .text;
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

std::vector<Frame> Resolver::stack(const finding::ProcessLog& process,
                                   const std::vector<Address>& addresses) {
  return stack(Context{process, process.modules.size()}, addresses);
}

std::string Resolver::object(const finding::ProcessLog& process, Address address) {
  return object_name(Context{process, process.modules.size()}, address);
}

finding::NamedSite Resolver::site(const finding::ProcessLog& process, const finding::SiteRecord& where,
                                  Address address) {
  Context context{process, process.modules.size()};
  std::vector<Frame> frames = site_frames(context, where);
  NamingSite naming{site_of(context, where), !frames.empty() && frames[0].library};
  VariableName name = variable_name({naming}, block(context, {}, address), address);
  return {frames.empty() ? Frame{} : frames[blamed_frame(frames)], name.text};
}

}  // namespace duress::report
