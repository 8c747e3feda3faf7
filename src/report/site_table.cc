// SPDX-License-Identifier: Apache-2.0
//
// A walk from header to header over `duress_sites`. The file is not trusted: it may have been replaced
// since the run, cut off, or made by another tool, so every offset is checked against the bytes at hand
// and a fault ends the walk with what was read so far.
#include "report/site_table.h"

#include <elf.h>

#include <cstddef>
#include <cstring>
#include <iterator>
#include <string_view>

#include "duress/hooks.h"
#include "finding/plain_file.h"
#include "report/openmp_names.h"

namespace duress::report {
namespace {

static_assert(sizeof(DuressSite) == 32 && sizeof(DuressSiteHeader) == 32);

/// The part of an ELF file that we need, with every access checked.
class Elf {
 public:
  explicit Elf(std::string_view bytes) : bytes_(bytes) {
    valid_ = read(0, header_) && std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0 &&
             header_.e_ident[EI_CLASS] == ELFCLASS64 && header_.e_ident[EI_DATA] == ELFDATA2LSB;
  }
  bool valid() const { return valid_; }

  template <typename T>
  bool read(std::uint64_t offset, T& out) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return false;
    std::memcpy(&out, bytes_.data() + offset, sizeof(T));
    return true;
  }

  std::string_view slice(std::uint64_t offset, std::uint64_t size) const {
    if (offset > bytes_.size() || bytes_.size() - offset < size) return {};
    return bytes_.substr(offset, size);
  }

  std::optional<Elf64_Shdr> section(std::string_view name) const {
    Elf64_Shdr names;
    if (!read(header_.e_shoff + std::uint64_t{header_.e_shstrndx} * sizeof(Elf64_Shdr), names)) return {};
    std::string_view strings = slice(names.sh_offset, names.sh_size);
    for (unsigned i = 0; i < header_.e_shnum; ++i) {
      Elf64_Shdr section;
      if (!read(header_.e_shoff + std::uint64_t{i} * sizeof(Elf64_Shdr), section)) return {};
      if (section.sh_name >= strings.size()) continue;
      std::string_view rest = strings.substr(section.sh_name);
      if (rest.substr(0, rest.find('\0')) == name) return section;
    }
    return {};
  }

  /// The bytes that are loaded at `address`, at most `size`.
  std::string_view loaded(std::uint64_t address, std::uint64_t size) const {
    for (unsigned i = 0; i < header_.e_phnum; ++i) {
      Elf64_Phdr segment;
      if (!read(header_.e_phoff + std::uint64_t{i} * sizeof(Elf64_Phdr), segment)) return {};
      if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
      std::uint64_t within = address - segment.p_vaddr;
      if (within >= segment.p_filesz || size > segment.p_filesz - within) continue;
      return slice(segment.p_offset + within, size);
    }
    return {};
  }

 private:
  std::string_view bytes_;
  Elf64_Ehdr header_{};
  bool valid_ = false;
};

std::string build_id_of(const Elf& elf) {
  auto section = elf.section(".note.gnu.build-id");
  Elf64_Nhdr note;
  if (!section || !elf.read(section->sh_offset, note)) return {};
  std::uint64_t name_size = (std::uint64_t{note.n_namesz} + 3) & ~std::uint64_t{3};
  std::string hex;
  for (unsigned char byte : elf.slice(section->sh_offset + sizeof note + name_size, note.n_descsz)) {
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  return hex;
}

std::string text_at(std::string_view strings, std::uint32_t offset) {
  if (offset == 0 || offset >= strings.size()) return {};
  std::string_view rest = strings.substr(offset);
  return std::string(rest.substr(0, rest.find('\0')));
}

}  // namespace

SiteTable SiteTable::load(const std::string& path) {
  finding::PlainFile file(path);
  if (file.good()) return parse(file.bytes());
  SiteTable table;
  table.problem_ = "cannot be read";
  return table;
}

SiteTable SiteTable::parse(std::string_view bytes) {
  SiteTable table;
  Elf elf(bytes);
  if (!elf.valid()) {
    table.problem_ = "not a 64-bit ELF file";
    return table;
  }
  table.build_id_ = build_id_of(elf);
  auto section = elf.section("duress_sites");
  if (!section) return table;
  std::string_view sites = elf.slice(section->sh_offset, section->sh_size);
  const std::uint64_t total = sites.size() / sizeof(DuressSite);

  for (std::uint64_t at = 0; at < total;) {
    DuressSiteHeader header;
    std::memcpy(&header, sites.data() + at * sizeof header, sizeof header);
    if (std::memcmp(header.magic, "DURS", 4) != 0) {
      static const DuressSiteHeader kPadding{};
      if (std::memcmp(&header, &kPadding, sizeof header) == 0) {  // the linker aligned the next unit
        table.entries_.emplace_back();
        ++at;
        continue;
      }
      table.problem_ = "damaged site table";
      break;
    }
    if (header.version != DURESS_HOOK_VERSION) {
      table.problem_ = "site table of another version of duress";
      table.other_version_ = true;
      break;
    }
    if (header.sites > total - at - 1) {
      table.problem_ = "damaged site table";
      break;
    }
    std::uint64_t field = section->sh_addr + at * sizeof header + offsetof(DuressSiteHeader, rel_strings);
    std::string_view strings =
        elf.loaded(field + static_cast<std::int64_t>(header.rel_strings), header.strings_size);
    table.entries_.emplace_back();
    for (std::uint32_t i = 0; i < header.sites; ++i) {
      DuressSite raw;
      std::memcpy(&raw, sites.data() + (at + 1 + i) * sizeof raw, sizeof raw);
      Site site;
      site.file = text_at(strings, raw.file);
      site.function = text_at(strings, raw.function);
      site.variable = openmp_name(std::string(text_at(strings, raw.variable)));
      site.line = raw.line;
      site.column = raw.column;
      site.access = raw.access;
      site.size = raw.size;
      site.variable_kind = raw.variable_kind;
      site.faithful = (raw.flags & DURESS_SITE_FAITHFUL) != 0;
      if (raw.inlined_at != 0 && raw.inlined_at <= header.sites) {
        site.inlined_at = static_cast<std::uint32_t>(at + raw.inlined_at);  // at + 1 + (inlined_at - 1)
      }
      table.entries_.emplace_back(std::move(site));
      ++table.count_;
    }
    at += 1 + std::uint64_t{header.sites};
  }
  return table;
}

const Site* SiteTable::find(std::uint32_t index) const {
  return index < entries_.size() && entries_[index] ? &*entries_[index] : nullptr;
}

}  // namespace duress::report
