// SPDX-License-Identifier: Apache-2.0
#include "runtime/debugger.h"

#include "runtime/control.h"
#include "runtime/runtime.h"

#define DURESS_FOR_DEBUGGER __attribute__((visibility("default"), used))

extern "C" {
DURESS_FOR_DEBUGGER volatile duress::u64 __duress_debugger_stop_step = 0;
DURESS_FOR_DEBUGGER volatile duress::u64 __duress_debugger_stop_strand = 0;
DURESS_FOR_DEBUGGER volatile duress::u64 __duress_debugger_stop_switch = 0;
DURESS_FOR_DEBUGGER volatile duress::u64 __duress_debugger_switches = 0;
DURESS_FOR_DEBUGGER volatile duress::u64 __duress_debugger_strand = 0;
DURESS_FOR_DEBUGGER volatile duress::u64 __duress_debugger_reason = 0;
DURESS_FOR_DEBUGGER volatile duress::u64 __duress_debugger_code = 0;

DURESS_FOR_DEBUGGER __attribute__((noinline)) void __duress_debugger_stop() {
  __asm__ volatile("" ::: "memory");
}
}

namespace duress {
namespace {

using sched::Strand;

enum class Reason : u8 { kStep = 1, kSwitch = 2, kEnd = 3 };

constinit bool g_debugged = false;
// Not the runtime's: the program may be stopped while the runtime holds that arena's lock.
constinit Arena g_arena;

void stop_for(Reason reason) {
  __duress_debugger_reason = static_cast<u64>(reason);
  __duress_debugger_stop();
}

const char* state_of(const Strand& s) {
  if (s.state == Strand::State::kEnded) return "ended";
  return s.state == Strand::State::kBlocked ? "blocked" : "runnable";
}

void put_thread(Text& text, const Strand& s) {
  const Operation& next = s.next;
  text.put('{').key("strand").number(s.number).key("name").quoted(s.name);
  text.key("id").number(static_cast<u64>(s.kernel.os_id)).key("state").quoted(state_of(s));
  text.key("running").put(scheduler().running() == &s ? "true" : "false");
  text.key("op").quoted(word_of(next.kind)).key("object").address(next.object);
  if (next.kind == OpKind::kJoin && next.object)
    text.key("joins").number(reinterpret_cast<const Strand*>(next.object)->number);
  if (const Strand* holder = is_access(next.kind) ? nullptr : scheduler().holder_of(next.object))
    text.key("held_by").number(holder->number);
  text.key("holds").put('[');
  for (u32 i = 0; i < s.held.count; ++i) {
    if (i) text.put(',');
    text.address(s.held.locks[i].address);
  }
  text.put("]}");
}

}  // namespace

bool debugger_begin() {
  const Options& options = g_runtime->options;
  g_debugged = options.debugger_ != 0;
  __duress_debugger_stop_step = options.stop_step_;
  __duress_debugger_stop_strand = options.stop_strand_;
  __duress_debugger_stop_switch = options.stop_switch_;
  return g_debugged;
}

void debugger_step(const Strand& s) {
  bool changed = s.number != __duress_debugger_strand;
  if (changed) {
    __duress_debugger_strand = s.number;
    __duress_debugger_switches = __duress_debugger_switches + 1;
  }
  if (__duress_debugger_stop_step != 0 && scheduler().record().steps == __duress_debugger_stop_step &&
      s.number == __duress_debugger_stop_strand) {
    __duress_debugger_stop_step = 0;
    stop_for(Reason::kStep);
  } else if (changed && __duress_debugger_switches == __duress_debugger_stop_switch) {
    stop_for(Reason::kSwitch);
  }
}

void debugger_ending(int code) {
  if (!g_debugged) return;
  __duress_debugger_code = static_cast<u64>(code);
  stop_for(Reason::kEnd);
}

}  // namespace duress

extern "C" DURESS_FOR_DEBUGGER const char* __duress_debugger_threads() {
  using namespace duress;
  if (!g_scheduler) return "[]";
  static Text* text = nullptr;
  if (!text) text = g_arena.make<Text>(g_arena);
  text->clear();
  text->put('[');
  bool first = true;
  for (sched::Strand* s = scheduler().strands(); s; s = s->next_strand) {
    if (!first) text->put(',');
    first = false;
    put_thread(*text, *s);
  }
  text->put(']').put('\0');
  return text->data();
}
