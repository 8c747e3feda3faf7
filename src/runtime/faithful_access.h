// SPDX-License-Identifier: Apache-2.0
//
// What the hooks of faithful bodies share: reporting an access to the scheduler and the analysis chain,
// asking the memory model, and accesses wider than a word, which a systematic execution takes word by word.
#pragma once

#include "event/access.h"
#include "runtime/adversary.h"
#include "runtime/control.h"
#include "runtime/gone_frames.h"
#include "runtime/parallel_adversary.h"

namespace duress {

/// Returns whether the access was a schedule point.
bool report_access(const void* p, u64 size, AccessKind kind, const DuressSite* site);

// ---- the memory model

inline bool replaces_memory() {
  return g_adversary != nullptr || g_parallel_adversary != nullptr;
}
/// What the memory model returns instead of what memory holds.
void replace_loaded(const void* p, u32 size, const DuressSite* site, void* value);
/// The same while threads run in parallel: true if the load is done.
bool load_in_parallel(const void* p, u32 size, const DuressSite* site, void* value);
bool store_in_parallel(void* p, u64 size, const DuressSite* site, memory::Source value);
/// Before a store of a whole range: true if it is done already.
bool store_by_model(void* p, u64 size, const DuressSite* site, memory::Source value);

// ---- steps

/// Whether a wide access is a step of a systematic execution. Then each word is a step of its own.
bool steps_by_words(u64 size, const DuressSite* site);
void load_by_steps(void* into, const void* from, u64 size, const DuressSite* site);
void store_by_steps(void* to, const void* from, u64 size, const DuressSite* site);

}  // namespace duress

#define DURESS_EXPORT extern "C" __attribute__((visibility("default")))
/// The access may be a step of a loop that waits.
#define DURESS_NOTE_CALLER() \
  if (DURESS_UNLIKELY(g_note_caller)) t_hook_caller = DURESS_CALLER_PC, t_hook_frame = DURESS_CALLER_FRAME
