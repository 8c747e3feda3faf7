// SPDX-License-Identifier: Apache-2.0
//
// The interleaving of a failing execution of duress::check, a column per thread. Source lines of accesses
// come from the site table; those of locks and the like from llvm-symbolizer, if there is one.
#include <string.h>

#include "check/source_lines.h"
#include "check/step_trace.h"
#include "runtime/control.h"
#include "runtime/runtime.h"
#include "trail/value_text.h"

namespace duress {
namespace {

constexpr u32 kShown = kMostLookups / TracedStep::kFrames;  // the last ones: the failure is at the end

void put_number(Text& text, u64 value, u32 size) {
  trail::ShownInteger shown = trail::shown_integer(value, size);
  if (!shown.decimal) {
    text.hex(shown.bits);
  } else if (shown.number < 0) {
    text.put('-').number(static_cast<u64>(-shown.number));
  } else {
    text.number(static_cast<u64>(shown.number));
  }
}

bool is_in_library(const TracedStep& step) {
  const char* file = g_runtime->points.source(reinterpret_cast<const DuressSite*>(step.operation.place)).file;
  size_t n = strlen(file);
  return memcmp(file, "/usr/", 5) == 0 || (n > 13 && memcmp(file + n - 13, "duress/test.h", 13) == 0);
}

/// What happens inside the C++ library's headers says little about the closure. But std::atomic is there: its
/// operations are shown where they are called from.
bool is_shown(const StepTrace& trace, const TracedStep& step, const char* place) {
  if (!is_access(step.operation.kind)) return true;
  if (trace.is_of_race(step)) return true;
  if (step.watched) return false;
  return *place || !is_in_library(step);
}

void put_value(Text& text, const TracedStep& step) {
  if (!step.has_value) return;
  text.put(writes(step.operation.kind) ? " = " : " → ");
  put_number(text, step.value, step.operation.size);
  if (!step.stale) return;
  text.put(" (newest ");
  put_number(text, step.newest, step.operation.size);
  text.put(')');
}

void put_step(Text& text, const StepTrace& trace, const TracedStep& step, const char* place) {
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
    if (trace.is_of_race(step)) text.put("  (race)");
    return;
  }
  if (*place) text.put(place).put(' ');
  text.put(word_of(o.kind));
  if (o.kind == OpKind::kJoin) {
    text.put(" T").number(reinterpret_cast<const sched::Strand*>(o.object)->number);
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

/// A table whose cells are written one at a time; a row has one cell.
class Columns {
 public:
  Columns(Text& text, u32 count) : text_(text), count_(count), wide_(count <= 2 ? 52 : 44) {}

  void put_heads(const StepTrace& trace) {
    text_.put("  ");
    for (u32 c = 0; c < count_; ++c) {
      if (c) text_.put("│ ");
      Text head(arena_);
      head.put('T').number(c);
      if (trace.name(c)[0]) head.put(' ').put(trace.name(c));
      text_.put(head.data(), head.size());
      if (c + 1 < count_) put_spaces(head.size());
    }
    text_.put('\n');
  }

  /// A row ends where its text ends.
  void put_row(u32 column, const Text& cell) {
    text_.put("  ");
    for (u32 c = 0; c < column; ++c) {
      put_spaces(0);
      text_.put("│ ");
    }
    if (column + 1 < count_) {
      put_cut(cell.data(), cell.size());
      put_spaces(width_of(cell.data(), cell.size()));
      text_.put("│");
    } else {
      text_.put(cell.data(), cell.size());
    }
    text_.put('\n');
  }

  Arena& arena() { return arena_; }

 private:
  void put_spaces(size_t from) {
    for (size_t width = from; width < wide_; ++width) text_.put(' ');
  }
  void put_cut(const char* data, size_t size) {
    size_t bytes = 0, width = 0;
    for (; bytes < size; ++bytes) {
      bool starts = (static_cast<u8>(data[bytes]) & 0xc0) != 0x80;
      if (starts && width == wide_ - 1 && width_of(data + bytes, size - bytes) > 1) break;
      width += starts;
    }
    text_.put(data, bytes);
    if (bytes < size) text_.put("…");
  }

  static inline constinit Arena arena_;
  Text& text_;
  u32 count_;
  size_t wide_;
};

void look_up_steps(const StepTrace& trace, u64 first) {
  static uptr addresses[kMostLookups];
  u32 count = 0;
  for (u64 i = first; i < trace.count(); ++i) {
    for (int f = 0; f < trace[i].frame_count; ++f) addresses[count++] = trace[i].frames[f];
  }
  look_up_lines(addresses, count);
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

void put_interleaving(Text& text, const StepTrace& trace) {
  u64 first = trace.count() > kShown ? trace.count() - kShown : 0;
  look_up_steps(trace, first);
  u32 columns = trace.strands() < StepTrace::kNamed ? trace.strands() : StepTrace::kNamed;
  Columns table(text, columns);
  table.put_heads(trace);
  if (first) text.put("  ... ").number(first).put(" earlier steps\n");
  object_number(0);
  for (u64 i = first; i < trace.count(); ++i) {
    const TracedStep& s = trace[i];
    const char* place = "";
    for (int f = 0; f < s.frame_count && !*place; ++f) place = known_line(s.frames[f]);
    if (!is_shown(trace, s, place)) continue;
    Text cell(table.arena());
    if (s.strand >= columns) cell.put('T').number(s.strand).put(": ");
    put_step(cell, trace, s, place);
    if (s.stuck) cell.put(" (for ever)");
    table.put_row(s.strand < columns ? s.strand : 0, cell);
  }
}

}  // namespace duress
