// SPDX-License-Identifier: Apache-2.0
#include "runtime/control_log.h"

#include <string.h>

#include "runtime/control.h"
#include "runtime/misuse.h"
#include "runtime/rollback.h"
#include "runtime/runtime.h"
#include "runtime/unwinding.h"

namespace duress {
namespace {

using sched::Strand;

constinit Strand* traced = nullptr;  // its operation's value is not known yet
constinit bool traced_stale = false;
constinit u64 traced_newest = 0;

constexpr int kMostFrames = 64;

struct Dump {
  uptr frames[kMostFrames];
  int count;
};
constexpr u32 kMostDumps = 4096;
Dump* dumps = nullptr;  // by strand number; mapped when needed

}  // namespace

void keep_stack(Strand& strand) {
  Uncontrolled here;
  if (!dumps) dumps = static_cast<Dump*>(map_memory(kMostDumps * sizeof(Dump)));
  if (!dumps || strand.number >= kMostDumps) return;
  Dump& dump = dumps[strand.number];
  dump.count = unwind_stack(dump.frames, kMostFrames, strand.next.place);
}

namespace {

const char* state_word(const Strand& s) {
  if (s.state == Strand::State::kEnded) return "ended";
  return s.state == Strand::State::kBlocked ? "blocked" : "runnable";
}

void put_strand(Text& text, Strand& s) {
  text.put('{').key("strand").number(s.number).key("name").quoted(s.name).key("state").quoted(state_word(s));
  text.key("op").quoted(word_of(s.next.kind)).key("object").address(s.next.object);
  text.key("place").address(s.next.place).key("held_by").put('[');
  if (s.next.kind == OpKind::kLock || s.next.kind == OpKind::kReadLock || s.next.kind == OpKind::kOnce) {
    if (Strand* holder = scheduler().holder_of(s.next.object)) text.number(holder->number);
  } else if (s.next.kind == OpKind::kJoin) {
    text.number(reinterpret_cast<Strand*>(s.next.object)->number);
  }
  text.put(']').key("stack").put('[');
  for (int i = 0; dumps && s.number < kMostDumps && i < dumps[s.number].count; ++i) {
    if (i) text.put(',');
    text.address(dumps[s.number].frames[i]);
  }
  text.put("]}");
}

const char* outcome_word(trail::Outcome outcome) {
  switch (outcome) {
    case trail::Outcome::kDeadlock:
      return "deadlock";
    case trail::Outcome::kLivelock:
      return "livelock";
    case trail::Outcome::kStepLimit:
      return "step-limit";
    default:
      break;
  }
  const trail::Misuse* misuse = trail::misuse_of(outcome);
  return misuse ? misuse->word : "stuck";
}

}  // namespace

[[noreturn]] void log_stuck(trail::Outcome outcome) {
  Uncontrolled here;
  Runtime& rt = *g_runtime;
  if (outcome == trail::Outcome::kEnded) {  // not a failure
    rt.finish(0);
    rollback_end(0);
    exit_process(0);
  }
  rt.modules.log_new();
  Text text(rt.arena);
  const Strand& by = *scheduler().running();
  if (g_misuse_calls.count && dumps && by.number < kMostDumps) {
    memcpy(dumps[by.number].frames, g_misuse_calls.pc, sizeof g_misuse_calls.pc);
    dumps[by.number].count = static_cast<int>(g_misuse_calls.count);
  }
  text.put('{').key("t").quoted("stuck").key("outcome").quoted(outcome_word(outcome));
  text.key("strands").put('[');
  bool first = true;
  if (trail::misuse_of(outcome)) {  // the strand that made the mistake comes first
    put_strand(text, *scheduler().running());
    first = false;
  }
  for (Strand* s = scheduler().strands(); s; s = s->next_strand) {
    if (s->state == Strand::State::kEnded || (!first && s == &by && trail::misuse_of(outcome))) continue;
    if (!first) text.put(',');
    first = false;
    put_strand(text, *s);
  }
  text.put("]}");
  rt.log.write(text);
  rt.finish(66);
  exit_process(66);
}

namespace {

bool is_left_out() {
  return scheduler().record().steps < scheduler().request().trace_from;
}

/// What all lines of steps begin with.
void put_head(Text& text, const Strand& s, OpKind kind, uptr object, u64 size) {
  text.put('{').key("t").quoted("step").key("n").number(scheduler().record().steps);
  text.key("strand").number(s.number).key("name").quoted(s.name).key("op").quoted(word_of(kind));
  text.key("object").address(object).key("size").number(size);
}

/// How a value is to be shown, if not as an integer.
void put_type(Text& text, const DuressSite& site) {
  if (site.flags & (DURESS_SITE_FLOAT | DURESS_SITE_POINTER))
    text.key("as").quoted(site.flags & DURESS_SITE_FLOAT ? "float" : "pointer");
}

/// The operation's place is mostly in the C++ library; the line that people know is some frames further out.
void put_stack(Text& text, const Strand& s) {
  constexpr int kMost = 12;  // std::scoped_lock without optimisation takes 8
  if (!s.next.place) return;
  uptr frames[kMost];
  int count = unwind_stack(frames, kMost, s.next.place);
  text.key("stack").put('[');
  for (int i = 0; i < count; ++i) {
    if (i) text.put(',');
    text.address(frames[i]);
  }
  text.put(']');
}

void put_step(const Strand& s, bool has_value, u64 value) {
  if (is_left_out()) {
    traced_stale = false;
    return;
  }
  Uncontrolled here;
  Runtime& rt = *g_runtime;
  rt.modules.log_new();
  Text text(rt.arena);
  put_head(text, s, s.next.kind, s.next.object, s.next.size);
  if (s.next.kind == OpKind::kJoin && s.next.object) {
    const auto* joined = reinterpret_cast<const Strand*>(s.next.object);
    if (joined->state == Strand::State::kEnded) text.key("joins").number(joined->number);
  }
  if (has_value) text.key("value").address(value);
  if (has_value && traced_stale) text.key("newest").address(traced_newest);
  traced_stale = false;
  text.key("site");
  if (is_access(s.next.kind)) {
    const auto* site = reinterpret_cast<const DuressSite*>(s.next.place);
    rt.modules.put_site(text, rt.modules.site_id(site));
    put_type(text, *site);
  } else {
    text.put("null").key("place").address(s.next.place);
    put_stack(text, s);
  }
  text.put('}');
  rt.log.write(text);
}

}  // namespace

void log_early_timeout(const Strand& s) {
  constexpr u32 kMost = 16;
  static u32 count = 0;
  if (++count > kMost) return;
  Uncontrolled here;
  Runtime& rt = *g_runtime;
  rt.modules.log_new();
  bool alarm = s.alarm.expire != nullptr;
  uptr frames[kMostFrames] = {s.next.place};
  int depth = alarm ? 1 : unwind_stack(frames, kMostFrames, s.next.place);
  Text text(rt.arena);
  text.put('{').key("t").quoted("timeout");
  if (!alarm) text.key("strand").number(s.number);
  text.key("op").quoted(alarm ? "timer" : word_of(s.next.kind)).key("ns").number(s.wait.timeout);
  text.key("stack").put('[');
  for (int i = 0; i < depth; ++i) {
    if (i) text.put(',');
    text.address(frames[i]);
  }
  text.put("]}");
  rt.log.write(text);
}

void log_traced_value(u64 value, u32 size) {
  if (!traced) return;
  Strand* s = traced;
  traced = nullptr;
  if (size < 8) value &= (u64{1} << size * 8) - 1;
  put_step(*s, size <= 8, value);
}

void log_plain_access(const void* p, u32 size, bool write, u64 value, const DuressSite* site) {
  static u32 count = 0;
  const Strand* s = controlled();
  if (!s || count == trail::kMostPlain || is_left_out()) return;
  ++count;
  Uncontrolled here;
  Runtime& rt = *g_runtime;
  rt.modules.log_new();
  Text text(rt.arena);
  put_head(text, *s, write ? OpKind::kWrite : OpKind::kRead, address_of(p), size);
  text.key("plain").number(1);
  if (size < 8) value &= (u64{1} << size * 8) - 1;
  if (size <= 8) text.key("value").address(value);
  text.key("site");
  rt.modules.put_site(text, rt.modules.site_id(site));
  put_type(text, *site);
  text.put('}');
  rt.log.write(text);
}

void log_step(const Strand& strand) {
  if (is_access(strand.next.kind)) {
    traced = const_cast<Strand*>(&strand);
  } else {
    put_step(strand, false, 0);
  }
}

void control_trace_stale(u64 newest) {
  traced_stale = true;
  traced_newest = newest;
}

bool control_take_stale(u64* newest) {
  bool stale = traced_stale;
  if (stale) *newest = traced_newest;
  traced_stale = false;
  return stale;
}

}  // namespace duress
