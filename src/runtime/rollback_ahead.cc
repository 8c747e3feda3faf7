// SPDX-License-Identifier: Apache-2.0
#include "runtime/rollback_ahead.h"

#include "runtime/rollback_pages.h"
#include "trail/ahead.h"

namespace duress {
namespace {

using trail::Ahead;
using trail::AheadResult;

/// Moves record and steps behind the results before. False: there is no room.
bool keep_result(Ahead& ahead, const trail::Request& request, const trail::Record& record,
                 const exhaustive::StepLog& log) {
  u64 at = ahead.results;
  if (ahead.performed != 0) {
    u64 last = ahead.result_at[ahead.performed - 1];
    at = last + reinterpret_cast<AheadResult*>(ahead.at(last))->layout(sizeof(exhaustive::Step)).end;
  }
  if (at % 8 != 0 || at > trail::kAheadBytes - sizeof(AheadResult)) return false;
  auto& result = *reinterpret_cast<AheadResult*>(ahead.at(at));
  copy_bytes(&result.record, &record, sizeof record);
  result.limits = request.systematic ? log.limits : 0;
  result.step_count = request.systematic ? log.count : 0;
  if (!result.fits()) return false;
  AheadResult::Layout layout = result.layout(sizeof(exhaustive::Step));
  if (layout.end > trail::kAheadBytes - at) return false;
  auto& from = const_cast<trail::Record&>(record);
  auto copy = [&](u64 begin, const void* list, u64 end) {
    copy_bytes(ahead.at(at + begin), list, end - begin);
  };
  copy(layout.trail, record.trail(), layout.future_values);
  copy(layout.future_values, from.future_values(), layout.atomic_profile);
  copy(layout.atomic_profile, from.atomic_profile(), layout.side_events);
  copy(layout.side_events, from.side_events(), layout.observed_pairs);
  copy(layout.observed_pairs, from.observed_pairs(),
       layout.observed_pairs + record.observed_pair_count * sizeof(u32));
  copy(layout.switch_points, from.switch_points(), layout.steps);
  copy(layout.steps, log.steps, layout.end);
  ahead.result_at[ahead.performed] = at;
  return true;
}

}  // namespace

bool rollback_begin_ahead(trail::Request& request, trail::Record& record, exhaustive::StepLog& log) {
  if (DURESS_LIKELY(request.ahead_count == 0) || !trail::is_quiet(record)) return false;
  // The program can write here, so nothing is taken for granted.
  Ahead& ahead = trail::ahead_of(&record);
  if (request.ahead_count > Ahead::kMost || ahead.performed >= request.ahead_count) return false;
  if (request.systematic && (log.strands != ahead.strands || log.spins != ahead.spins)) return false;
  u64 at = ahead.request_at[ahead.performed];
  if (at % 8 != 0 || at > trail::kAheadBytes - Ahead::kMostRequestBytes) return false;
  u64 bytes = reinterpret_cast<const trail::Request*>(ahead.at(at))->bytes();
  if (bytes > Ahead::kMostRequestBytes || !keep_result(ahead, request, record, log)) return false;
  clear_bytes(&record, sizeof record);
  log.count = log.limits = log.room = 0;
  copy_bytes(&request, ahead.at(at), bytes);
  ++ahead.performed;
  return true;
}

}  // namespace duress
