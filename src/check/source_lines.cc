// SPDX-License-Identifier: Apache-2.0
#include "check/source_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/prng.h"
#include "base/raw.h"
#include "runtime/own_file.h"

extern char** environ;

namespace duress {
namespace {

struct Executable {
  uptr base = 0, low = ~uptr{0}, high = 0;
};
constinit Executable executable;

int find_executable(dl_phdr_info* info, size_t, void*) {
  executable.base = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = info->dlpi_phdr[i];
    if (p.p_type != PT_LOAD) continue;
    uptr begin = info->dlpi_addr + p.p_vaddr;
    executable.low = begin < executable.low ? begin : executable.low;
    executable.high = begin + p.p_memsz > executable.high ? begin + p.p_memsz : executable.high;
  }
  return 1;
}

/// The command line that asks for these addresses.
char** command_line(const char* program, const uptr* addresses, u32 count) {
  static char path[4096], arguments[kMostLookups + 1][20];
  static char object[4200] = "--obj=";
  long n = raw_syscall(SYS_readlink, reinterpret_cast<long>("/proc/self/exe"), reinterpret_cast<long>(path),
                       sizeof path - 1);
  path[n > 0 ? n : 0] = 0;
  memcpy(object + 6, path, strlen(path) + 1);
  static char* words[kMostLookups + 8];
  u32 w = 0;
  words[w++] = const_cast<char*>(program);
  words[w++] = object;
  words[w++] = const_cast<char*>("--inlines");
  for (u32 i = 0; i < count; ++i) {
    char* text = arguments[i];
    memcpy(text, "0x", 2);
    for (int digit = 0; digit < 16; ++digit) {
      text[2 + digit] = "0123456789abcdef"[(addresses[i] - executable.base - 1) >> (60 - 4 * digit) & 15];
    }
    text[18] = 0;
    words[w++] = text;
  }
  words[w] = nullptr;
  return words;
}

/// Runs it with the addresses as arguments; the answer goes to `out`. False: there is none.
bool run_symbolizer(const char* program, const uptr* addresses, u32 count, char* out, size_t room) {
  if (has_raised_privileges()) return false;  // PATH comes from somebody with fewer rights
  char** words = command_line(program, addresses, count);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  pid_t pid;
  int error = posix_spawnp(&pid, program, &actions, nullptr, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  size_t size = 0;
  ssize_t got;
  while (error == 0 && size + 1 < room && (got = read(ends[0], out + size, room - 1 - size)) > 0) {
    size += static_cast<size_t>(got);
  }
  close(ends[0]);
  out[size] = 0;
  if (error != 0) return false;
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status == 0 && size > 0;
}

/// An address that was looked up.
struct SourceLine {
  uptr address;
  char place[64];
};
constexpr u32 kLines = 4096;
SourceLine* known_lines = nullptr;

SourceLine* line_of(uptr address) {
  if (!known_lines) known_lines = static_cast<SourceLine*>(map_memory(kLines * sizeof(SourceLine)));
  if (!known_lines) return nullptr;
  for (u32 i = static_cast<u32>(mix(address)) % kLines, tries = 0; tries < 64;
       i = (i + 1) % kLines, ++tries) {
    if (known_lines[i].address == address || !known_lines[i].address) return &known_lines[i];
  }
  return nullptr;
}

/// The symbolizer's answer. Per address: pairs of lines, function and file:line:column, innermost first; then
/// an empty line.
void read_answer(char* at, const uptr* addresses, u32 count) {
  for (u32 i = 0; i < count; ++i) {
    SourceLine* line = line_of(addresses[i]);
    if (line) *line = {addresses[i], {}};
    bool function = true;
    while (*at && *at != '\n') {
      char* end = strchr(at, '\n');
      if (end) *end = 0;
      if (!function && line && !line->place[0] && memcmp(at, "/usr/", 5) != 0 && *at != '?') {
        char* column = strrchr(at, ':');
        if (column) *column = 0;
        const char* name = base_name(at);
        size_t n = strlen(name) < sizeof line->place - 1 ? strlen(name) : sizeof line->place - 1;
        memcpy(line->place, name, n);
      }
      function = !function;
      if (!end) break;
      at = end + 1;
    }
    if (*at == '\n') ++at;
  }
}

/// For each address the innermost frame outside system headers: "file:line". Empty if unknown.
void ask_symbolizer(const uptr* addresses, u32 count) {
  constexpr size_t kRoom = size_t{1} << 20;
  auto* text = static_cast<char*>(map_memory(kRoom));
  const char* programs[] = {"llvm-symbolizer-19", "llvm-symbolizer", "/usr/lib/llvm-19/bin/llvm-symbolizer"};
  bool done = false;
  for (const char* program : programs)
    done = done || (text && run_symbolizer(program, addresses, count, text, kRoom));
  if (done) read_answer(text, addresses, count);
  if (text) unmap_memory(text, kRoom);
}

}  // namespace

const char* base_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

bool in_executable(uptr address) {
  if (!executable.high) dl_iterate_phdr(find_executable, nullptr);
  return address >= executable.low && address < executable.high;
}

void look_up_lines(const uptr* return_addresses, u32 count) {
  static uptr unknown[kMostLookups];
  u32 n = 0;
  for (u32 i = 0; i < count && n < kMostLookups; ++i) {
    const SourceLine* line = line_of(return_addresses[i]);
    if (line && line->address != return_addresses[i]) unknown[n++] = return_addresses[i];
  }
  if (n) ask_symbolizer(unknown, n);
}

const char* known_line(uptr return_address) {
  SourceLine* line = line_of(return_address);
  return line && line->address == return_address ? line->place : "";
}

const char* source_line(uptr return_address) {
  if (!in_executable(return_address)) return "";
  look_up_lines(&return_address, 1);
  return known_line(return_address);
}

}  // namespace duress
