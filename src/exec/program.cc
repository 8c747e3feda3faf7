// SPDX-License-Identifier: Apache-2.0
#include "exec/program.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/hash.h"
#include "exec/child.h"
#include "exec/files.h"
#include "finding/plain_file.h"

namespace duress::exec {
namespace {

std::string hex(std::string_view bytes) {
  std::string text;
  for (char c : bytes) {
    auto byte = static_cast<unsigned char>(c);
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

template <typename T>
bool read_at(std::string_view bytes, u64 at, T& out) {
  if (at > bytes.size() || bytes.size() - at < sizeof out) return false;
  std::memcpy(&out, bytes.data() + at, sizeof out);
  return true;
}

/// The build id in these notes, or "".
std::string build_id_in(std::string_view notes) {
  Elf64_Nhdr header;
  while (read_at(notes, 0, header)) {
    u64 name = (u64{header.n_namesz} + 3) / 4 * 4, text = (u64{header.n_descsz} + 3) / 4 * 4;
    u64 size = sizeof header + name + text;
    if (size > notes.size()) break;
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4)
      return hex(notes.substr(sizeof header + name, header.n_descsz));
    notes.remove_prefix(size);
  }
  return {};
}

}  // namespace

std::string program_problem(const std::string& program) {
  std::string path = program_path(program);
  struct stat info{};
  if (path.empty() || stat(path.c_str(), &info) != 0) return {};
  if (!S_ISREG(info.st_mode)) return "cannot start '" + program + "': it is not a regular file";
  Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  char head[256];
  ssize_t got = file ? read(file.get(), head, sizeof head) : 0;
  if (got <= 0) return {};
  // execvp() gives the shell what the kernel does not know, and a shell reads binary data to its end.
  std::string_view text(head, static_cast<std::size_t>(got));
  Elf64_Half machine = EM_X86_64;  // 32-bit programs are refused where it can be said what they are
  if (text.starts_with(ELFMAG) && text.size() > EI_CLASS && text[EI_CLASS] == ELFCLASS64)
    read_at(text, offsetof(Elf64_Ehdr, e_machine), machine);
  if (machine != EM_X86_64)
    return "cannot start '" + program + "': it is a program for another machine, not for x86-64";
  if (text.starts_with(ELFMAG) || text.starts_with("#!") || text.find('\0') == std::string_view::npos)
    return {};
  return "cannot start '" + program + "': it is neither an ELF file nor a script";
}

std::string build_of(const std::string& path) {
  finding::PlainFile file(path);
  if (!file.good()) return {};
  std::string_view bytes = file.bytes();
  Elf64_Ehdr head{};
  if (bytes.starts_with(ELFMAG) && !read_at(bytes, 0, head)) head = {};
  // Only the note in the program headers: it is there in stripped programs too.
  for (unsigned i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!read_at(bytes, head.e_phoff + u64{i} * sizeof segment, segment)) break;
    if (segment.p_type != PT_NOTE || segment.p_offset > bytes.size() ||
        segment.p_filesz > bytes.size() - segment.p_offset)
      continue;
    std::string id = build_id_in(bytes.substr(segment.p_offset, segment.p_filesz));
    if (!id.empty()) return id;
  }
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash_of(bytes)));
  return std::string("hash ") + text;
}

}  // namespace duress::exec
