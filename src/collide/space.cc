// SPDX-License-Identifier: Apache-2.0
#include "collide/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace duress::collide {

namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kSeldom = 16;

}  // namespace

Space::Space(pid_t pid, Guard* guard) : pid_(pid), memory_(pid), breakpoints_(memory_, guard) {
  std::error_code code;
  fs::path theirs = fs::read_symlink(fmt::format("/proc/{}/root", pid), code);
  fs::path ours = fs::read_symlink("/proc/self/root", code);
  struct Namespace {
    std::string text;
    explicit Namespace(const std::string& who) {
      std::error_code ignored;
      text = fs::read_symlink("/proc/" + who + "/ns/mnt", ignored).string();
    }
  };
  // A container: its files are reached through the process.
  if (theirs != ours || Namespace(std::to_string(pid)).text != Namespace("self").text)
    root_ = fmt::format("/proc/{}/root", pid);
}

void Space::refresh() {
  std::vector<Mapping> mappings = read_maps(pid_);
  if (mappings.empty()) return;  // it is ending
  std::vector<std::unique_ptr<Module>> now;
  for (const Mapping& mapping : mappings) {
    // Code that is writable, or not from a file, belongs to a just-in-time compiler.
    if (!mapping.executable || mapping.writable || mapping.shared || mapping.path.empty() ||
        mapping.path[0] != '/')
      continue;
    const std::string path = root_ + mapping.path;
    if (unusable_.count(path) != 0) continue;
    auto same = [&](const std::unique_ptr<Module>& module) {
      return module && module->path() == path && module->holds(mapping.begin);
    };
    if (std::any_of(now.begin(), now.end(), same)) continue;
    if (auto it = std::find_if(modules_.begin(), modules_.end(), same); it != modules_.end()) {
      now.push_back(std::move(*it));
      continue;
    }
    std::shared_ptr<ElfFile> file = ElfFile::open(path);
    auto bias = file ? file->bias(mapping.begin, mapping.offset) : std::nullopt;
    if (!bias) {
      unusable_.insert(path);
      continue;
    }
    now.push_back(std::make_unique<Module>(static_cast<int>(records_.size()), path, std::move(file), *bias));
    finding::ModuleRecord record;
    record.id = now.back()->id();
    record.path = path;
    record.base = *bias;
    record.low = now.back()->begin();
    record.high = now.back()->end();
    records_.push_back(std::move(record));
  }
  for (const auto& gone : modules_) {
    if (gone) breakpoints_.forget(gone->begin(), gone->end());
  }
  modules_ = std::move(now);
}

Module* Space::module_at(Address address) {
  for (const auto& module : modules_) {
    if (module->holds(address)) return module.get();
  }
  return nullptr;
}

std::size_t Space::arm(std::size_t wanted, Prng& prng) {
  std::uint64_t total = 0;
  for (const auto& module : modules_) {
    if (!module->runtime()) total += module->weight();
  }
  if (total == 0) return 0;
  std::size_t set = 0;
  // Most bytes do not begin an instruction to sample; the number of tries is bounded.
  for (std::size_t tries = 0; set < wanted && tries < 32 * wanted; ++tries) {
    std::uint64_t at = prng.below(total);
    for (const auto& module : modules_) {
      if (module->runtime()) continue;
      if (at >= module->weight()) {
        at -= module->weight();
        continue;
      }
      auto found = module->pick(prng);
      if (found && (retired_.count(found->address) == 0 || prng.chance(1, kSeldom)) &&
          breakpoints_.arm(found->address, module->bytes(found->address, found->length)))
        ++set;
      break;
    }
  }
  return set;
}

}  // namespace duress::collide
