// SPDX-License-Identifier: Apache-2.0
#include "check/step_trace.h"

#include <string.h>

#include "check/source_lines.h"
#include "runtime/control.h"
#include "runtime/runtime.h"
#include "runtime/unwinding.h"

namespace duress {
namespace {

using sched::Strand;

TracedStep* steps = nullptr;
u64 step_count = 0;
char names[StepTrace::kNamed][16];
u32 strand_count = 0;
bool tracing = false;
const DuressSite* watched_sites[2] = {};
uptr race_begin = 0, race_end = 0;
Operation last_of[StepTrace::kNamed];

TracedStep& last_step() {
  return steps[(step_count - 1) % StepTrace::kMostSteps];
}
TracedStep& add_step() {
  return steps[step_count++ % StepTrace::kMostSteps];
}

}  // namespace

StepTrace::StepTrace(trail::Request& request) : request_(request) {
  if (!steps) steps = static_cast<TracedStep*>(map_memory(kMostSteps * sizeof(TracedStep)));
  step_count = 0;
  strand_count = 0;
  memset(names, 0, sizeof names);
  watch(nullptr, nullptr);
  u64 newest;
  control_take_stale(&newest);  // of executions that were not traced
  request_.trace = true;
  tracing = steps != nullptr;
  g_trace_value = value;
}

StepTrace::~StepTrace() {
  watch(nullptr, nullptr);
  request_.trace = false;
  tracing = false;
  g_trace_value = nullptr;
}

void StepTrace::step(const Strand& strand) {
  if (!tracing) return;
  // A strand that comes to its lock a second time, after a wait for it, has only now got it.
  Operation& o = last_of[strand.number % kNamed];
  bool again = o.kind == OpKind::kLock && strand.next.kind == OpKind::kLock &&
               o.object == strand.next.object && o.place == strand.next.place;
  o = strand.next;
  if (again) return;
  TracedStep& s = add_step();
  s = {strand.number, strand.next, 0, false, false, 0, strand.state == Strand::State::kBlocked, false, {}, 0};
  if (strand.number < kNamed) memcpy(names[strand.number], strand.name, sizeof strand.name);
  if (strand.number >= strand_count) strand_count = strand.number + 1;
  OpKind kind = strand.next.kind;
  if (kind == OpKind::kRead || kind == OpKind::kWrite) return;
  uptr frames[32];
  int count = unwind_stack(frames, 32, is_access(kind) ? t_hook_caller : strand.next.place);
  for (int i = 0; i < count && s.frame_count < TracedStep::kFrames; ++i) {
    if (in_executable(frames[i])) s.frames[s.frame_count++] = frames[i];
  }
}

void StepTrace::watch(const DuressSite* first, const DuressSite* second) {
  watched_sites[0] = first;
  watched_sites[1] = second;
  race_begin = race_end = 0;
}

void StepTrace::access(const void* p, u64 size, bool write, const DuressSite* site) {
  if (!tracing || !site || (site != watched_sites[0] && site != watched_sites[1])) return;
  if (g_runtime->points.point(site) || scheduler().request().points == trail::Points::kAll) return;
  TracedStep& s = add_step();
  Operation o = {write ? OpKind::kWrite : OpKind::kRead, static_cast<u32>(size), address_of(p), 0,
                 reinterpret_cast<uptr>(site)};
  s = {controlled()->number, o, 0, !write && size <= 8, false, 0, false, true, {}, 0};
  if (s.has_value) memcpy(&s.value, p, size);
}

void StepTrace::set_race(uptr address, u32 size) {
  race_begin = address;
  race_end = address + size;
}

void StepTrace::value(u64 value, u32 size) {
  if (!step_count || last_step().watched) return;
  TracedStep& s = last_step();
  if (s.has_value || !is_access(s.operation.kind) || size > 8) return;
  s.value = size < 8 ? value & ((u64{1} << size * 8) - 1) : value;
  s.has_value = true;
  s.stale = s.operation.kind != OpKind::kAtomicWrite && control_take_stale(&s.newest);
}

/// Of a stuck strand: the operation that blocks it is its last step.
void StepTrace::dump(Strand& strand) {
  if (!tracing || strand.state != Strand::State::kBlocked) return;
  last_of[strand.number % kNamed] = {};
  step(strand);
}

u64 StepTrace::count() const {
  return step_count;
}
const TracedStep& StepTrace::operator[](u64 i) const {
  return steps[i % kMostSteps];
}
u32 StepTrace::strands() const {
  return strand_count;
}
const char* StepTrace::name(u32 strand) const {
  return names[strand];
}

bool StepTrace::is_of_race(const TracedStep& step) const {
  const Operation& o = step.operation;
  bool here = o.place == reinterpret_cast<uptr>(watched_sites[0]) ||
              o.place == reinterpret_cast<uptr>(watched_sites[1]);
  return o.place && here && o.object < race_end && o.object + o.size > race_begin;
}

}  // namespace duress
