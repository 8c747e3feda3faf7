// SPDX-License-Identifier: Apache-2.0
//
// An instrumented function begins with a look at its byte in section `duress_flags`, and its own atomics are
// only in this first, plain body. So a function is unseen if it has an atomic instruction and no such look;
// and inline assembly if a checked body, where atomics are calls of hooks, has one.
#include "collide/unseen_atomics.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>
#include <string_view>

#include "collide/decoder.h"
#include "collide/elf_file.h"

namespace duress::collide {
namespace {

constexpr std::string_view kChecked = ".duress.checked";
constexpr std::string_view kExcluded =
    ".duress.excluded";  // a second name: its author does not want it watched

/// Ours: the runtime, and the allocator's functions that it stands in for.
bool is_runtime(const std::string& name) {
  static const std::set<std::string, std::less<>> kAllocator = {
      "malloc",        "calloc",         "realloc", "reallocarray",      "free", "memalign", "valloc",
      "aligned_alloc", "posix_memalign", "pvalloc", "malloc_usable_size"};
  bool body = name.size() > kChecked.size() && name.ends_with(kChecked);
  if (body) return false;
  return name.find("duress") != std::string::npos || name.starts_with("_Zn") || name.starts_with("_Zd") ||
         kAllocator.count(name) != 0;
}

struct Seen {
  bool atomic = false;   // has an atomic instruction
  bool chooses = false;  // looks at its byte in `duress_flags`
};

Seen look_at(const ElfFile& file, const ElfFile::Named& function, const std::optional<Range>& flags) {
  Seen seen;
  std::string_view code = file.code(function.range);
  for (std::size_t at = 0; at < code.size() && !seen.chooses;) {
    std::optional<Instruction> one = decode(code.substr(at), function.range.begin + at);
    if (!one || one->length == 0) break;
    seen.atomic = seen.atomic || (one->atomic && one->operands != 0);
    for (std::uint8_t i = 0; flags && i < one->operands; ++i) {
      auto address = static_cast<Address>(one->operand[i].displacement);
      bool relative = one->operand[i].base == kRip;
      seen.chooses = seen.chooses || (relative && address >= flags->begin && address < flags->end);
    }
    at += one->length;
  }
  return seen;
}

std::string readable(std::string name) {
  if (name.ends_with(kChecked)) name.resize(name.size() - kChecked.size());
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                              std::free);
  return status == 0 && name.starts_with("_Z") ? text.get() : name + "()";
}

}  // namespace

std::vector<std::string> unseen_atomics(const std::string& path) {
  std::vector<std::string> found;
  std::unique_ptr<ElfFile> file = ElfFile::open(path);
  if (!file) return found;
  std::vector<ElfFile::Named> functions = file->named_functions();
  std::sort(functions.begin(), functions.end(),
            [](const auto& a, const auto& b) { return a.range.begin < b.range.begin; });
  Range runtime{0, 0};
  for (const ElfFile::Named& function : functions) {
    if (function.name == "duress_text_begin") runtime.begin = function.range.begin;
    if (function.name == "duress_text_end") runtime.end = function.range.end;
  }
  std::optional<Range> flags = file->section_range("duress_flags");
  std::set<Address> done;
  for (const ElfFile::Named& function : functions) {
    if (function.name.ends_with(kExcluded)) done.insert(function.range.begin);
  }
  for (const ElfFile::Named& function : functions) {
    bool ours = function.range.begin >= runtime.begin && function.range.begin < runtime.end;
    if (ours || is_runtime(function.name) || !done.insert(function.range.begin).second) continue;
    Seen seen = look_at(*file, function, flags);
    if (seen.atomic && !seen.chooses) found.push_back(readable(function.name));
  }
  return found;
}

std::string unseen_text(const std::vector<std::string>& functions) {
  constexpr std::size_t kShown = 3;
  std::string text = functions[0];
  for (std::size_t i = 1; i < functions.size() && i < kShown; ++i) text += ", " + functions[i];
  if (functions.size() <= kShown) return text;
  std::size_t more = functions.size() - kShown;
  return text + " and " + std::to_string(more) + (more == 1 ? " other" : " others");
}

}  // namespace duress::collide
