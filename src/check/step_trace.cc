// SPDX-License-Identifier: Apache-2.0
#include "check/step_trace.h"

#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/prng.h"
#include "runtime/control.h"
#include "runtime/runtime.h"
#include "runtime/unwinding.h"

extern char** environ;

namespace duress {

const char* base_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

namespace {

using sched::Strand;

constexpr int kFrames = 6;

struct Step {
  u32 strand;
  Operation operation;
  u64 value;
  bool has_value;
  bool stale;  // there was a newer value
  u64 newest;
  bool stuck;            // it never got further
  bool watched;          // no schedule point: see CheckTrace::watch
  uptr frames[kFrames];  // in the executable, innermost first
  int frame_count;
};

constexpr u32 kMostSteps = 20000;
constexpr u32 kShown = 400;  // the last ones: the failure is at the end
Step* steps = nullptr;
u64 step_count = 0;
constexpr u32 kColumns = 8;
char names[kColumns][16];
u32 strands = 0;
bool tracing = false;
const DuressSite* watched_sites[2] = {};
uptr race_begin = 0, race_end = 0;
Operation last_of[kColumns];

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

// ---- source lines by llvm-symbolizer ----

/// Runs it with the addresses as arguments; the answer goes to `out`. False: there is none.
bool run_symbolizer(const char* program, const uptr* addresses, u32 count, char* out, size_t room) {
  static char path[4096], arguments[kShown * kFrames + 1][20];
  static char object[4200] = "--obj=";
  long n = raw_syscall(SYS_readlink, reinterpret_cast<long>("/proc/self/exe"), reinterpret_cast<long>(path),
                       sizeof path - 1);
  path[n > 0 ? n : 0] = 0;
  memcpy(object + 6, path, strlen(path) + 1);
  static char* words[kShown * kFrames + 8];
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

/// Addresses that were looked up before: a test that replays a token a hundred times asks once.
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

/// For each address the innermost frame outside system headers: "file:line". Empty if unknown.
void find_lines(const uptr* addresses, u32 count) {
  constexpr size_t kRoom = size_t{1} << 20;
  auto* text = static_cast<char*>(map_memory(kRoom));
  const char* programs[] = {"llvm-symbolizer-19", "llvm-symbolizer", "/usr/lib/llvm-19/bin/llvm-symbolizer"};
  bool done = false;
  for (const char* program : programs)
    done = done || (text && run_symbolizer(program, addresses, count, text, kRoom));
  // Per address: pairs of lines, function and file:line:column, innermost first; then an empty line.
  char* at = text;
  for (u32 i = 0; done && i < count; ++i) {
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
  if (text) unmap_memory(text, kRoom);
}

const char* place_of(uptr address) {
  SourceLine* line = line_of(address);
  return line && line->address == address ? line->place : "";
}

void put_number(Text& text, u64 value, u32 size) {
  // Small negative numbers read better with their sign.
  u64 sign = size && size < 8 ? u64{1} << (size * 8 - 1) : u64{1} << 63;
  u64 mask = size && size < 8 ? (u64{1} << size * 8) - 1 : ~u64{0};
  u64 negative = (~value + 1) & mask;
  if ((value & sign) && negative < 1'000'000) {
    text.put('-').number(negative);
  } else if (value > 0xffffffffu) {
    text.hex(value);
  } else {
    text.number(value);
  }
}

}  // namespace

/// By the order in which they appear.
u32 object_number(uptr object) {
  static uptr known[64];
  static u32 count = 0;
  if (!object) {
    count = 0;
    return 0;
  }
  for (u32 i = 0; i < count; ++i) {
    if (known[i] == object) return i + 1;
  }
  if (count == 64) return 64;
  known[count++] = object;
  return count;
}

/// A local is named after all functions around it: the last part is enough in a column.
void put_variable(Text& text, const char* name) {
  if (!*name) {
    text.put("memory");
    return;
  }
  const char* last = name;
  for (const char* at = strstr(name, ")::"); at; at = strstr(at + 3, ")::")) last = at + 3;
  if (memcmp(last, "(unnamed)::", 11) == 0) last += 11;
  if (*name == '*' && last != name) text.put('*');
  text.put(last);
}

const char* source_line(uptr return_address) {
  if (!executable.high) dl_iterate_phdr(find_executable, nullptr);
  if (return_address < executable.low || return_address >= executable.high) return "";
  SourceLine* line = line_of(return_address);
  if (line && line->address != return_address) find_lines(&return_address, 1);
  return place_of(return_address);
}

namespace {

bool is_of_race(const Step& step) {
  const Operation& o = step.operation;
  bool here = o.place == reinterpret_cast<uptr>(watched_sites[0]) ||
              o.place == reinterpret_cast<uptr>(watched_sites[1]);
  return o.place && here && o.object < race_end && o.object + o.size > race_begin;
}

bool is_in_library(const Step& step) {
  const char* file = g_runtime->points.source(reinterpret_cast<const DuressSite*>(step.operation.place)).file;
  size_t n = strlen(file);
  return memcmp(file, "/usr/", 5) == 0 || (n > 13 && memcmp(file + n - 13, "duress/test.h", 13) == 0);
}

/// What happens inside the C++ library's headers says little about the closure. But std::atomic is there: its
/// operations are shown where they are called from.
bool is_shown(const Step& step, const char* place) {
  if (!is_access(step.operation.kind)) return true;
  if (is_of_race(step)) return true;
  if (step.watched) return false;
  return *place || !is_in_library(step);
}

void put_value(Text& text, const Step& step) {
  if (!step.has_value) return;
  text.put(writes(step.operation.kind) ? " = " : " → ");
  put_number(text, step.value, step.operation.size);
  if (!step.stale) return;
  text.put(" (newest ");
  put_number(text, step.newest, step.operation.size);
  text.put(')');
}

void put_step_text(Text& text, const Step& step, const char* place) {
  const Operation& o = step.operation;
  if (is_access(o.kind) && *place && is_in_library(step)) {
    constexpr const char* kWords[] = {"load", "store", "update"};
    text.put(place).put(' ').put(kWords[raw(o.kind) - raw(OpKind::kAtomicRead)]).put(" #");
    text.number(object_number(o.object));
    put_value(text, step);
    return;
  }
  if (is_access(o.kind)) {
    SitePoints::Source source = g_runtime->points.source(reinterpret_cast<const DuressSite*>(o.place));
    text.put(base_name(source.file)).put(':').number(source.line).put(' ');
    put_variable(text, source.variable);
    if (!step.has_value) text.put(writes(o.kind) ? " written" : " read");
    put_value(text, step);
    if (is_of_race(step)) text.put("  (race)");
    return;
  }
  if (*place) text.put(place).put(' ');
  text.put(word_of(o.kind));
  if (o.kind == OpKind::kJoin) {
    text.put(" T").number(reinterpret_cast<const Strand*>(o.object)->number);
  } else if (o.object && o.kind != OpKind::kSleep && o.kind != OpKind::kYield) {
    text.put(" #").number(object_number(o.object));
  }
}

/// Columns, not bytes: an arrow is one of them.
size_t width_of(const char* s, size_t n) {
  size_t width = 0;
  for (size_t i = 0; i < n; ++i) width += (static_cast<u8>(s[i]) & 0xc0) != 0x80;
  return width;
}

}  // namespace

CheckTrace::CheckTrace(trail::Request& request) : request_(request) {
  if (!steps) steps = static_cast<Step*>(map_memory(kMostSteps * sizeof(Step)));
  if (!executable.high) dl_iterate_phdr(find_executable, nullptr);
  step_count = 0;
  strands = 0;
  memset(names, 0, sizeof names);
  watch(nullptr, nullptr);
  u64 newest;
  control_take_stale(&newest);  // of executions that nobody traced
  request_.trace = 1;
  tracing = steps != nullptr;
  g_trace_value = [](u64 value, u32 size) { CheckTrace::value(value, size); };
}

CheckTrace::~CheckTrace() {
  watch(nullptr, nullptr);
  request_.trace = 0;
  tracing = false;
  g_trace_value = nullptr;
}

void CheckTrace::step(const Strand& strand) {
  if (!tracing) return;
  Step& s = steps[step_count++ % kMostSteps];
  // A strand that comes to its lock a second time, after a wait for it, has only now got it.
  Operation& o = last_of[strand.number % kColumns];
  bool again = o.kind == OpKind::kLock && strand.next.kind == OpKind::kLock &&
               o.object == strand.next.object && o.place == strand.next.place;
  o = strand.next;
  if (again) {
    --step_count;
    return;
  }
  s = {strand.number, strand.next, 0, false, false, 0, strand.state == Strand::State::kBlocked, false, {}, 0};
  if (strand.number < kColumns) memcpy(names[strand.number], strand.name, sizeof strand.name);
  if (strand.number >= strands) strands = strand.number + 1;
  OpKind kind = strand.next.kind;
  if (kind == OpKind::kRead || kind == OpKind::kWrite) return;
  uptr frames[32];
  int count = unwind_stack(frames, 32, is_access(kind) ? t_hook_caller : strand.next.place);
  for (int i = 0; i < count && s.frame_count < kFrames; ++i) {
    if (frames[i] >= executable.low && frames[i] < executable.high) s.frames[s.frame_count++] = frames[i];
  }
}

void CheckTrace::watch(const DuressSite* first, const DuressSite* second) {
  watched_sites[0] = first;
  watched_sites[1] = second;
  race_begin = race_end = 0;
}

void CheckTrace::access(const void* p, u64 size, bool write, const DuressSite* site) {
  if (!tracing || !site || (site != watched_sites[0] && site != watched_sites[1])) return;
  if (g_runtime->points.point(site) || scheduler().request().points == trail::Points::kAll) return;
  Step& s = steps[step_count++ % kMostSteps];
  Operation o = {write ? OpKind::kWrite : OpKind::kRead, static_cast<u32>(size), address_of(p), 0,
                 reinterpret_cast<uptr>(site)};
  s = {controlled()->number, o, 0, !write && size <= 8, false, 0, false, true, {}, 0};
  if (s.has_value) memcpy(&s.value, p, size);
}

void CheckTrace::race_was_at(uptr address, u32 size) {
  race_begin = address;
  race_end = address + size;
}

bool CheckTrace::value(u64 value, u32 size) {
  if (!step_count || steps[(step_count - 1) % kMostSteps].watched) return false;
  Step& s = steps[(step_count - 1) % kMostSteps];
  if (s.has_value || !is_access(s.operation.kind) || size > 8) return false;
  s.value = size < 8 ? value & ((u64{1} << size * 8) - 1) : value;
  s.has_value = true;
  s.stale = s.operation.kind != OpKind::kAtomicWrite && control_take_stale(&s.newest);
  return true;
}

/// A strand that is stuck: what it waits for is its last row.
void CheckTrace::dump(Strand& strand) {
  if (!tracing || strand.state != Strand::State::kBlocked) return;
  last_of[strand.number % kColumns] = {};
  step(strand);
}

void CheckTrace::write(Text& text) {
  tracing = false;
  u64 first = step_count > kShown ? step_count - kShown : 0;
  static uptr addresses[kShown * kFrames];
  u32 count = 0;
  for (u64 i = first; i < step_count; ++i) {
    const Step& s = steps[i % kMostSteps];
    for (int f = 0; f < s.frame_count; ++f) {
      SourceLine* line = line_of(s.frames[f]);
      if (line && line->address != s.frames[f]) addresses[count++] = s.frames[f];
    }
  }
  if (count) find_lines(addresses, count);
  u32 columns = strands < kColumns ? strands : kColumns;
  const size_t wide = columns <= 2 ? 52 : 44;
  static constinit Arena cell_arena;
  Text cell(cell_arena);
  auto put_cut = [&](const char* data, size_t size) {
    size_t bytes = 0, width = 0;
    for (; bytes < size; ++bytes) {
      bool starts = (static_cast<u8>(data[bytes]) & 0xc0) != 0x80;
      if (starts && width == wide - 1 && width_of(data + bytes, size - bytes) > 1) break;
      width += starts;
    }
    text.put(data, bytes);
    if (bytes < size) text.put("…");
  };
  // `cell` in its column; a row ends where its text ends.
  auto put_row = [&](u32 column) {
    text.put("  ");
    for (u32 c = 0; c < column; ++c) {
      for (size_t width = 0; width < wide; ++width) text.put(' ');
      text.put("│ ");
    }
    if (column + 1 < columns) {
      put_cut(cell.data(), cell.size());
      for (size_t width = width_of(cell.data(), cell.size()); width < wide; ++width) text.put(' ');
      text.put("│");
    } else {
      text.put(cell.data(), cell.size());
    }
    text.put('\n');
    cell.clear();
  };
  text.put("  ");
  for (u32 c = 0; c < columns; ++c) {
    if (c) text.put("│ ");
    cell.put('T').number(c);
    if (names[c][0]) cell.put(' ').put(names[c]);
    text.put(cell.data(), cell.size());
    for (size_t width = cell.size(); width < wide && c + 1 < columns; ++width) text.put(' ');
    cell.clear();
  }
  text.put('\n');
  if (first) text.put("  ... ").number(first).put(" earlier steps\n");
  object_number(0);
  for (u64 i = first; i < step_count; ++i) {
    const Step& s = steps[i % kMostSteps];
    const char* place = "";
    for (int f = 0; f < s.frame_count && !*place; ++f) place = place_of(s.frames[f]);
    if (!is_shown(s, place)) continue;
    if (s.strand >= columns) cell.put('T').number(s.strand).put(": ");
    put_step_text(cell, s, place);
    if (s.stuck) cell.put(" (for ever)");
    put_row(s.strand < columns ? s.strand : 0);
  }
}

}  // namespace duress
