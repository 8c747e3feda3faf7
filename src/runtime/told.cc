// SPDX-License-Identifier: Apache-2.0
#include "runtime/told.h"

#include "runtime/control.h"
#include "runtime/runtime.h"
#include "runtime/unwinding.h"

namespace duress {
namespace {

constexpr u32 kEntries = trail::kToldEntries;

bool same(const trail::Prediction* a, const trail::Prediction* b) {
  for (u32 i = 0; i < kEntries; ++i) {
    if (!(a[i] == b[i])) return false;
  }
  return true;
}

}  // namespace

bool tell(trail::Told what, u64 first, u64 second, uptr caller) {
  trail::Record& record = scheduler().record();
  if (record.profiled + kEntries > trail::kMostProfiled) return false;
  Uncontrolled here;
  uptr calls[trail::kToldCalls] = {};
  unwind_stack(calls, trail::kToldCalls, caller);
  trail::Prediction* told = record.profile() + record.profiled;
  told[0] = {raw(what), 0, 0, 0, {first, second}};
  for (u32 i = 0; i + 1 < kEntries; ++i) told[1 + i] = {0, 0, 0, 0, {calls[2 * i], calls[2 * i + 1]}};
  for (u64 i = 0; i + kEntries <= record.profiled; i += kEntries) {
    if (same(record.profile() + i, told)) return true;  // each once
  }
  record.profiled += kEntries;
  g_runtime->modules.log_new();
  return true;
}

void tell_clock(uptr caller) {
  if (!tell(trail::Told::kClock, 0, 0, caller)) scheduler().note_clock();
}

}  // namespace duress
