// SPDX-License-Identifier: Apache-2.0
//
// An instrumented function begins with a look at its byte in section `duress_flags`, and its own atomics are
// only in this first, plain body. So a function is unseen if it has an atomic instruction and no such look;
// and inline assembly if a checked body, where atomics are calls of hooks, has one. A function that nothing
// refers to does not run: objects of a static library bring more than is used.
#include "collide/unseen_atomics.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
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

/// Addresses where functions begin, and those of them that something refers to: code by a distance from
/// itself, or any loaded bytes by the address.
class References {
 public:
  /// `all`: in the order of their addresses. `wanted`: those that references are looked for.
  References(const ElfFile& file, const std::vector<ElfFile::Named>& all,
             const std::vector<ElfFile::Named>& wanted)
      : file_(file), all_(all) {
    for (const ElfFile::Named& one : wanted) functions_.emplace(one.range.begin, one.range);
  }
  bool has(Address function) const { return referred_.count(function) != 0; }

  void search() {
    file_.each_segment([&](Address start, std::string_view bytes, bool executable) {
      for (std::size_t at = 0; at + 4 <= bytes.size(); ++at) {
        if (at + 8 <= bytes.size()) note(read<std::uint64_t>(bytes, at), start + at);
        if (!executable) continue;
        if (file_.fixed()) note(read<std::uint32_t>(bytes, at), start + at);
        if (at != 0 && takes_distance(static_cast<std::uint8_t>(bytes[at - 1])))
          note_distance(start + at, 4, read<std::int32_t>(bytes, at));
        auto byte = static_cast<std::uint8_t>(bytes[at]);
        if (byte == 0xeb || (byte & 0xf0) == 0x70)  // a short jump
          note_distance(start + at + 1, 1, read<std::int8_t>(bytes, at + 1));
      }
    });
  }

 private:
  template <typename T>
  static T read(std::string_view bytes, std::size_t at) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
  }
  /// Whether four bytes of distance can follow: a call, a jump, a condition, an operand relative to %rip.
  static bool takes_distance(std::uint8_t byte) {
    return byte == 0xe8 || byte == 0xe9 || (byte & 0xf0) == 0x80 || (byte & 0xc7) == 0x05;
  }
  /// `size` bytes of code that may be a distance from where they end. They are if an instruction ends there:
  /// in a program of a megabyte other bytes often look so, because large numbers in code are rare.
  void note_distance(Address at, u32 size, std::int64_t distance) {
    const Address target = at + size + static_cast<Address>(distance);
    if (functions_.count(target) != 0 && may_end_instruction(at + size)) note(target, at);
  }
  /// False: a function is known there, and none of its instructions ends at that address.
  bool may_end_instruction(Address end) const {
    auto next = std::upper_bound(all_.begin(), all_.end(), end - 1,
                                 [](Address at, const ElfFile::Named& one) { return at < one.range.begin; });
    while (next != all_.begin()) {
      const Range& range = (--next)->range;
      if (range.begin == range.end) continue;  // a mark without code
      if (end > range.end) return true;
      Address at = range.begin;
      for (std::string_view code = file_.code(range); at < end;) {
        std::optional<Instruction> one = decode(code.substr(at - range.begin), at);
        if (!one || one->length == 0) return true;
        at += one->length;
      }
      return at == end;
    }
    return true;
  }
  void note(Address target, Address from) {
    if (target < functions_.begin()->first || target > functions_.rbegin()->first) return;
    auto found = functions_.find(target);
    if (found == functions_.end()) return;
    bool itself = from >= found->second.begin && from < found->second.end;
    if (!itself) referred_.insert(target);
  }

  const ElfFile& file_;
  const std::vector<ElfFile::Named>& all_;
  std::map<Address, Range> functions_;
  std::set<Address> referred_;
};

/// Of a stripped file unwind tables tell where functions are, and dynamic symbols the names of some.
std::vector<ElfFile::Named> functions_of(ElfFile& file) {
  std::vector<ElfFile::Named> named = file.named_functions();
  if (!file.stripped()) return named;
  std::map<Address, std::string> names;
  for (const ElfFile::Named& one : named) names.emplace(one.range.begin, one.name);
  for (const Range& range : file.functions()) {
    if (names.count(range.begin) == 0) named.push_back({"", range});
  }
  return named;
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
  std::vector<ElfFile::Named> functions = functions_of(*file);
  std::sort(functions.begin(), functions.end(),
            [](const auto& a, const auto& b) { return a.range.begin < b.range.begin; });
  Range runtime{0, 0};
  for (const ElfFile::Named& function : functions) {
    if (function.name.ends_with("duress_text_begin")) runtime.begin = function.range.begin;
    if (function.name.ends_with("duress_text_end")) runtime.end = function.range.end;
  }
  std::optional<Range> flags = file->section_range("duress_flags");
  std::set<Address> done;
  std::vector<ElfFile::Named> unseen;
  for (const ElfFile::Named& function : functions) {
    if (function.name.ends_with(kExcluded)) done.insert(function.range.begin);
  }
  for (const ElfFile::Named& function : functions) {
    bool ours = function.range.begin >= runtime.begin && function.range.begin < runtime.end;
    if (ours || is_runtime(function.name) || !done.insert(function.range.begin).second) continue;
    Seen seen = look_at(*file, function, flags);
    if (seen.atomic && !seen.chooses) unseen.push_back(function);
  }
  if (unseen.empty()) return found;
  References references(*file, functions, unseen);
  references.search();
  for (const ElfFile::Named& function : unseen) {
    if (!references.has(function.range.begin)) continue;
    found.push_back(function.name.empty() ? fmt::format("a function at {:#x}", function.range.begin)
                                          : readable(function.name));
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
