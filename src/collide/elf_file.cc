// SPDX-License-Identifier: Apache-2.0
#include "collide/elf_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "collide/unwind_tables.h"

namespace duress::collide {
namespace {

constexpr Address kPage = 4096;

}  // namespace

std::unique_ptr<ElfFile> ElfFile::open(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return nullptr;
  struct stat info{};
  std::unique_ptr<ElfFile> file(new ElfFile);
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
    void* at = mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
    if (at != MAP_FAILED) {
      file->mapped_ = at;
      file->bytes_ = {static_cast<const char*>(at), static_cast<std::size_t>(info.st_size)};
    }
  }
  close(fd);
  return file->start() ? std::move(file) : nullptr;
}

std::unique_ptr<ElfFile> ElfFile::from_bytes(std::string bytes) {
  std::unique_ptr<ElfFile> file(new ElfFile);
  file->own_ = std::move(bytes);
  file->bytes_ = file->own_;
  return file->start() ? std::move(file) : nullptr;
}

ElfFile::~ElfFile() {
  if (mapped_ != nullptr) munmap(mapped_, bytes_.size());
}

bool ElfFile::start() {
  if (!read(0, header_) || std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 ||
      header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB ||
      header_.e_machine != EM_X86_64 || header_.e_phentsize != sizeof(Elf64_Phdr))
    return false;
  for (unsigned i = 0; i < header_.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!read(header_.e_phoff + std::uint64_t{i} * sizeof segment, segment)) return false;
    segments_.push_back(segment);
  }
  return true;
}

template <typename T>
bool ElfFile::read(std::uint64_t offset, T& out) const {
  std::string_view bytes = slice(offset, sizeof(T));
  if (bytes.size() != sizeof(T)) return false;
  std::memcpy(&out, bytes.data(), sizeof(T));
  return true;
}

std::string_view ElfFile::slice(std::uint64_t offset, std::uint64_t size) const {
  if (offset > bytes_.size() || bytes_.size() - offset < size) return {};
  return bytes_.substr(offset, size);
}

std::string_view ElfFile::rest_from(Address address) const {
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
    std::uint64_t within = address - segment.p_vaddr;
    if (within < segment.p_filesz) return slice(segment.p_offset + within, segment.p_filesz - within);
  }
  return {};
}

std::string_view ElfFile::loaded(Address address, std::uint64_t size) const {
  std::string_view rest = rest_from(address);
  return rest.size() < size ? std::string_view{} : rest.substr(0, size);
}

std::optional<Address> ElfFile::bias(Address start, Address offset) const {
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    Address first = segment.p_offset & ~(kPage - 1);
    if (offset < first || offset >= segment.p_offset + segment.p_filesz) continue;
    return start - (segment.p_vaddr + (offset - segment.p_offset));
  }
  return std::nullopt;
}

Range ElfFile::extent() const {
  Range range{~Address{0}, 0};
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type != PT_LOAD) continue;
    range.begin = std::min(range.begin, segment.p_vaddr & ~(kPage - 1));
    range.end = std::max(range.end, (segment.p_vaddr + segment.p_memsz + kPage - 1) & ~(kPage - 1));
  }
  return range.end == 0 ? Range{} : range;
}

bool ElfFile::writable(Address address) const {
  bool result = false;
  for (const Elf64_Phdr& segment : segments_) {
    if (address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_memsz) continue;
    if (segment.p_type == PT_LOAD) result = (segment.p_flags & PF_W) != 0;
    if (segment.p_type == PT_GNU_RELRO) return false;  // written by the loader alone
  }
  return result;
}

bool ElfFile::executable(Range range) const {
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0 || (segment.p_flags & PF_W) != 0) continue;
    if (range.begin >= segment.p_vaddr && range.end <= segment.p_vaddr + segment.p_filesz) return true;
  }
  return false;
}

std::optional<Elf64_Shdr> ElfFile::section(std::string_view name) const {
  Elf64_Shdr names;
  if (!read(header_.e_shoff + std::uint64_t{header_.e_shstrndx} * sizeof names, names)) return {};
  std::string_view strings = slice(names.sh_offset, names.sh_size);
  for (unsigned i = 0; i < header_.e_shnum; ++i) {
    Elf64_Shdr section;
    if (!read(header_.e_shoff + std::uint64_t{i} * sizeof section, section)) return {};
    if (section.sh_name >= strings.size()) continue;
    std::string_view rest = strings.substr(section.sh_name);
    if (rest.substr(0, rest.find('\0')) == name) return section;
  }
  return {};
}

bool ElfFile::only_gcc() const {
  auto comment = section(".comment");
  if (!comment) return false;
  std::string_view text = slice(comment->sh_offset, comment->sh_size);
  bool gcc = false;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\0'));
    if (line.substr(0, 5) == "GCC: ")
      gcc = true;
    else if (!line.empty() && line.substr(0, 8) != "Linker: ")
      return false;
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return gcc;
}

const std::vector<Range>& ElfFile::functions() {
  if (functions_known_) return functions_;
  functions_known_ = true;
  if (Address start = unwind_tables(); start != 0) functions_ = unwound_functions(rest_from(start), start);
  if (functions_.empty()) functions_from_symbols();
  std::sort(functions_.begin(), functions_.end(), [](const Range& a, const Range& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  // Aliases name the same bytes.
  functions_.erase(
      std::unique(functions_.begin(), functions_.end(),
                  [](const Range& a, const Range& b) { return a.begin == b.begin && a.end == b.end; }),
      functions_.end());
  // Two claims to the same bytes: neither is believed.
  std::vector<Range> kept;
  Address reached = 0;
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    const Range& range = functions_[i];
    bool overlaps =
        range.begin < reached || (i + 1 < functions_.size() && functions_[i + 1].begin < range.end);
    reached = std::max(reached, range.end);
    if (!overlaps && executable(range)) kept.push_back(range);
  }
  functions_ = std::move(kept);
  return functions_;
}

/// Where the unwind tables begin; 0 if there are none.
Address ElfFile::unwind_tables() const {
  auto segment = std::find_if(segments_.begin(), segments_.end(),
                              [](const Elf64_Phdr& s) { return s.p_type == PT_GNU_EH_FRAME; });
  if (segment != segments_.end()) {
    if (auto start = unwind_tables_from_header(rest_from(segment->p_vaddr), segment->p_vaddr)) return *start;
  }
  // Static programs may lack the header.
  auto frames = section(".eh_frame");
  return frames ? frames->sh_addr : 0;
}

void ElfFile::functions_from_symbols() {
  for (const char* name : {".symtab", ".dynsym"}) {
    auto table = section(name);
    if (!table) continue;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table->sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      if (!read(table->sh_offset + at, symbol)) break;
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_size == 0 || symbol.st_shndx == SHN_UNDEF)
        continue;
      functions_.push_back({symbol.st_value, symbol.st_value + symbol.st_size});
    }
    if (!functions_.empty()) return;
  }
}

std::vector<ElfFile::Named> ElfFile::named_functions() const {
  std::vector<Named> found;
  auto table = section(".symtab"), strings = section(".strtab");
  if (!table || !strings) table = section(".dynsym"), strings = section(".dynstr");
  if (!table || !strings) return found;
  std::string_view names = slice(strings->sh_offset, strings->sh_size);
  for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table->sh_size; at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    if (!read(table->sh_offset + at, symbol)) break;
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_size == 0 || symbol.st_shndx == SHN_UNDEF ||
        symbol.st_name >= names.size())
      continue;
    std::string_view name = names.substr(symbol.st_name);
    found.push_back(
        {std::string(name.substr(0, name.find('\0'))), {symbol.st_value, symbol.st_value + symbol.st_size}});
  }
  return found;
}

std::optional<Range> ElfFile::section_range(std::string_view name) const {
  auto found = section(name);
  if (!found) return std::nullopt;
  return Range{found->sh_addr, found->sh_addr + found->sh_size};
}

int elf_class(const std::string& path) {
  unsigned char ident[EI_NIDENT] = {};
  int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t got = ::read(fd, ident, sizeof ident);
  close(fd);
  if (got != EI_NIDENT || std::memcmp(ident, ELFMAG, SELFMAG) != 0) return 0;
  return ident[EI_CLASS] == ELFCLASS64 ? 64 : ident[EI_CLASS] == ELFCLASS32 ? 32 : 0;
}

}  // namespace duress::collide
