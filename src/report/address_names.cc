// SPDX-License-Identifier: Apache-2.0
#include "report/address_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "report/openmp_names.h"
#include "trail/site_key.h"

namespace duress::report {

using finding::Address;
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

bool is_runtime(const Frame& frame) {
  return starts_with(frame.function, "__duress_") || starts_with(frame.function, "duress::") ||
         starts_with(frame.function, "duress_");
}

/// Not the user's own code: the system's libraries and headers, the C++ library wherever it is installed,
/// and our runtime. Containers often build in /usr/src, and people in whatever folder they are in.
bool is_library(const Frame& frame, const finding::ProcessLog& process) {
  if (is_runtime(frame)) return true;
  if (frame.file.find("/include/c++/") != std::string::npos) return true;
  // Rust's standard library: /rustc/HASH/library/..., Debian's /usr/src/rustc-1.63.0/library/...
  if ((starts_with(frame.file, "/rustc/") || starts_with(frame.file, "/usr/src/rustc-")) &&
      frame.file.find("/library/") != std::string::npos)
    return true;
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

void AddressNames::warn(const std::string& text) {
  if (warned_.insert(text).second) warnings_.push_back(text);
}

const finding::ModuleRecord* AddressNames::module_at(const LoadedModules& loaded, Address address) const {
  // The newest first: an address may have belonged to a library that was closed before.
  for (std::size_t i = loaded.modules_loaded; i-- > 0;) {
    const finding::ModuleRecord& module = loaded.process.modules[i];
    if (module.low <= address && address < module.high) return &module;
  }
  return nullptr;
}

const finding::ModuleRecord* AddressNames::module_with_id(const LoadedModules& loaded, int id) const {
  for (std::size_t i = loaded.modules_loaded; i-- > 0;) {
    if (loaded.process.modules[i].id == id) return &loaded.process.modules[i];
  }
  return nullptr;
}

const SiteTable& AddressNames::sites_of(const finding::ModuleRecord& module) {
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

const Site* AddressNames::site_of(const LoadedModules& loaded,
                                  const std::optional<finding::SiteRecord>& where) {
  if (!where || trail::is_code_site(where->index)) return nullptr;
  const finding::ModuleRecord* module = module_with_id(loaded, where->module);
  return module ? sites_of(*module).find(where->index) : nullptr;
}

void AddressNames::add_code(const LoadedModules& loaded, Address address, std::vector<Frame>& frames) {
  const finding::ModuleRecord* module = module_at(loaded, address);
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
      frame.library = is_library(frame, loaded.process);
    }
    // What is inlined into the runtime is of the runtime, whatever debug information calls it: helpers
    // without linkage come without their namespace.
    if (!it->second.empty() && is_runtime(it->second.back()))
      for (Frame& frame : it->second) frame.library = true;
  }
  frames.insert(frames.end(), it->second.begin(), it->second.end());
}

std::vector<Frame> AddressNames::stack(const LoadedModules& loaded, const std::vector<Address>& addresses) {
  std::vector<Frame> frames;
  for (Address address : addresses) {
    if (address != 0) add_code(loaded, address - 1, frames);
  }
  return frames;
}

/// Under control it is a matter of timing which executions share a process, and addresses are the same in
/// all.
static std::pair<int, Address> object_key(const LoadedModules& loaded, Address address) {
  return {loaded.process.mode == "controlled" ? 0 : loaded.process.pid, address};
}

void AddressNames::forget_objects() {
  learned_.clear();
  objects_named_.clear();
  object_numbers_.clear();
}

std::string AddressNames::part_of(const finding::ModuleRecord& module, std::uint64_t offset,
                                  const DataSymbol& symbol) {
  // Debug information of a large program takes time to read: a lock that is no part of anything needs none.
  constexpr std::uint64_t kMutexBytes = 40;
  if (offset == symbol.start && symbol.size <= kMutexBytes) return symbol.name;
  DebugTypes& types = types_.try_emplace(module.path, module.path).first->second;
  if (std::string path = types.path_in_global(offset); !path.empty()) return symbol.name + path;
  return offset == symbol.start ? symbol.name : fmt::format("{}+{}", symbol.name, offset - symbol.start);
}

void AddressNames::learn_object(const LoadedModules& loaded, Address address, const std::string& name) {
  const std::pair<int, Address> object = object_key(loaded, address);
  if (learned_.try_emplace(object, name).second) objects_named_[name].push_back(object);
}

std::string AddressNames::learned_name(const std::pair<int, Address>& object) const {
  auto known = learned_.find(object);
  if (known == learned_.end()) return {};
  const auto& alike = objects_named_.at(known->second);
  if (alike.size() == 1) return known->second;
  auto position = std::find(alike.begin(), alike.end(), object) - alike.begin();
  return fmt::format("{} #{}", known->second, position + 1);
}

std::string AddressNames::object_name(const LoadedModules& loaded, Address address) {
  if (const finding::ModuleRecord* module = module_at(loaded, address)) {
    std::uint64_t offset = address - module->base;
    if (auto symbol = symbolizer_.data(module->path, offset); symbol && !symbol->name.empty())
      return part_of(*module, offset, *symbol);
  }
  const std::pair<int, Address> object = object_key(loaded, address);
  if (std::string name = learned_name(object); !name.empty()) return name;
  auto [it, fresh] = object_numbers_.try_emplace(object, 0);
  if (fresh) it->second = static_cast<int>(object_numbers_.size());
  return fmt::format("M{}", it->second);
}

std::vector<Frame> AddressNames::site_frames(const LoadedModules& loaded, const finding::SiteRecord& where) {
  std::vector<Frame> frames;
  if (trail::is_code_site(where.index)) {
    if (const finding::ModuleRecord* in = module_with_id(loaded, where.module))
      add_code(loaded, in->base + trail::code_site_offset(where.index) - 1, frames);
    return frames;
  }
  const Site* site = site_of(loaded, where);
  if (site == nullptr) return frames;
  const finding::ModuleRecord* module = module_with_id(loaded, where.module);
  const SiteTable& table = sites_of(*module);
  for (int depth = 0; site != nullptr && depth < kMaxInlineDepth; ++depth) {
    Frame frame;
    frame.function = openmp_name(site->function);
    frame.signature = site->function;
    frame.file = normal(site->file);
    frame.line = site->line;
    frame.column = site->column;
    frame.module = module->path;
    frame.library = is_library(frame, loaded.process);
    frames.push_back(std::move(frame));
    site = site->inlined_at ? table.find(*site->inlined_at) : nullptr;
  }
  return frames;
}

std::optional<DataSymbol> AddressNames::data(const finding::ModuleRecord& module, std::uint64_t offset) {
  return symbolizer_.data(module.path, offset);
}

}  // namespace duress::report
