// SPDX-License-Identifier: Apache-2.0
//
// Plays events to a chain, with clocks and sets of held locks as the runtime keeps them. This is how traces
// are analysed, and how analyses are tested: with no compiler and no threads.
#pragma once

#include "analysis/growing_array.h"
#include "analysis/sync_engine.h"
#include "clock/slots.h"
#include "event/event.h"

namespace duress {

/// Threads: one.
class Player {
 public:
  /// `shadow` is open and empty in the range of the events.
  Player(Arena& arena, ShadowMap& shadow, RaceSink& findings, LineSink& lines);
  ~Player();
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  /// False: the chain is wrong at *bad.
  bool build(const char* chain, const char** bad);
  /// Before build(): analyses that support it print their state after each event.
  void show_steps(const Namer& names) { context_.steps = &names; }
  void play(const Event& event);
  /// Accesses of one thread with nothing between them: 20 million a second leave no room for a call each.
  void play(Tid thread, const Access* accesses, size_t count);
  void finish();

  Chain& chain() { return chain_; }
  LockSets& lock_sets() { return lock_sets_; }
  FastTrack& fasttrack() { return fasttrack_; }
  u32 threads() const { return static_cast<u32>(threads_.size()); }
  /// The thread that had a slot at a counter, because FastTrack's races name threads by slot and counter.
  Tid owner(Slot slot, Clock clock) const;
  bool exact() const { return slots_.inexact() == 0; }

 private:
  struct Thread;
  struct Owner {
    Slot slot;
    Clock first;
  };

  Thread& thread(Tid tid);
  Thread& make_thread(Tid tid, const VectorClock& creator);
  bool quickly(Thread& t, const Access& access);
  void access(Thread& t, const Access& access);
  void sync(Thread& t, const Sync& sync);
  void atomic_sync(Thread& t, const Sync& sync);
  void end_thread(Thread& t, const Sync& sync);

  Arena& arena_;
  LineSink& lines_;
  LockSets lock_sets_{arena_};
  SyncTable syncs_{arena_};
  FastTrack fasttrack_;
  Chain chain_{arena_};
  AnalysisContext context_;
  SyncEngine engine_{{arena_, syncs_, lock_sets_, fasttrack_, chain_}};
  Slots slots_{arena_};
  bool has_inline_path_ = false, is_inline_ = false;  // of the chain
  GrowingArray<Thread*> threads_{arena_};             // by tid; null once ended and joined
  GrowingArray<Owner> owners_{arena_};                // by tid
  GrowingArray<u32> last_owner_{arena_};              // by slot: 1 + tid
  GrowingArray<u32> owner_before_{arena_};            // by tid: 1 + tid
};

}  // namespace duress
