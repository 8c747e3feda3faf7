// SPDX-License-Identifier: Apache-2.0
//
// What sampling needs from a binary's file: where its functions are, what can be written, who compiled it.
//
// Unwind tables name the functions of stripped binaries too, since exceptions and signal handlers need them
// at run time. Where there are none, the symbols' sizes serve. The file is not trusted: every offset is
// checked.
#pragma once

#include <elf.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collide/unwind_tables.h"

namespace duress::collide {

class ElfFile {
 public:
  /// Maps the file at `path`. Null unless it is a 64-bit ELF file for x86.
  static std::unique_ptr<ElfFile> open(const std::string& path);
  /// The same from memory, for tests.
  static std::unique_ptr<ElfFile> from_bytes(std::string bytes);
  ~ElfFile();
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  /// Run-time address minus address in the file, if the bytes at `offset` of the file were mapped at `start`.
  std::optional<Address> bias(Address start, Address offset) const;
  /// Of all loaded segments.
  Range extent() const;

  /// The functions, in order, without overlaps. Read when first asked for.
  const std::vector<Range>& functions();

  /// The functions that the symbol table names, or, in a stripped file, the dynamic one; an address may have
  /// several names.
  struct Named {
    std::string name;
    Range range;
  };
  std::vector<Named> named_functions() const;
  bool stripped() const { return !section(".symtab"); }
  /// Whether code may hold addresses as they are: not position independent.
  bool fixed() const { return header_.e_type == ET_EXEC; }
  /// Calls visit(address, bytes, executable) for each loaded segment.
  template <typename Visit>
  void each_segment(Visit visit) const {
    for (const Elf64_Phdr& segment : segments_)
      if (segment.p_type == PT_LOAD)
        visit(Address{segment.p_vaddr}, slice(segment.p_offset, segment.p_filesz),
              (segment.p_flags & PF_X) != 0);
  }
  /// Where the section is loaded; nothing if there is none.
  std::optional<Range> section_range(std::string_view name) const;

  /// The bytes that are loaded from `address` to the end of its segment.
  std::string_view rest_from(Address address) const;
  std::string_view code(Range range) const { return loaded(range.begin, range.end - range.begin); }
  /// Whether the program can write there once it has started.
  bool writable(Address address) const;
  /// Whether GCC, and nothing else, compiled it. Other compilers write some atomic accesses as plain updates.
  bool only_gcc() const;

 private:
  ElfFile() = default;
  bool start();
  template <typename T>
  bool read(std::uint64_t offset, T& out) const;
  std::string_view slice(std::uint64_t offset, std::uint64_t size) const;
  std::string_view loaded(Address address, std::uint64_t size) const;
  std::optional<Elf64_Shdr> section(std::string_view name) const;
  Address unwind_tables() const;
  void functions_from_symbols();
  bool executable(Range range) const;

  std::string own_;
  void* mapped_ = nullptr;
  std::string_view bytes_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> segments_;
  bool functions_known_ = false;
  std::vector<Range> functions_;
};

/// 32 for a 32-bit ELF file, 64 for one that can be sampled, 0 for anything else.
int elf_class(const std::string& path);

}  // namespace duress::collide
