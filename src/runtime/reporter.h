// SPDX-License-Identifier: Apache-2.0
//
// Writes races to the log: with both stacks, the locks held, the threads and the block of memory; for
// each pair of sites the first few locations, because two lines of code may race on several variables
// through pointers. Everything else (names, source lines, grouping) is the host's.
#pragma once

#include "analysis/analysis.h"
#include "clock/lock_set.h"
#include "finding/race.h"
#include "runtime/heap_table.h"
#include "runtime/memory_guard.h"
#include "runtime/modules.h"
#include "runtime/site_points.h"
#include "runtime/stack_depot.h"
#include "runtime/thread_table.h"

namespace duress {

/// Threads: any; one lock, held while a race is written. The program waits meanwhile, which is rare.
class Reporter final : public RaceSink, public LineSink, public CounterSink {
 public:
  struct Parts {
    Arena& arena;
    Log& log;
    Modules& modules;
    StackDepot& stacks;
    LockSets& locks;
    HeapTable& heap;
    ThreadTable& threads;
  };
  Reporter(const Parts& parts, bool halt) : parts_(parts), halt_(halt) {}

  void race(const Race& race) override;  // a `race` line, or a `potential` one
  void warning(const Warning& warning) override;
  void memory_error(const MemoryError& error);        // a `memory` line
  void line(const char* text, size_t size) override;  // an `event` line
  /// `known`: the thread is in the table of threads.
  /// `signal`: kExit, if the process ends by an exit code.
  static constexpr int kExit = 0;
  void crash(int signal, uptr address, Tid thread, StackId stack, uptr pc, bool known);
  /// A thread that is not: a strand of an execution where nothing is detected.
  void thread(Tid thread, Tid parent, const char* name);
  /// Says who a thread is, if that was not said yet.
  void known_thread(Tid thread);
  void stat(const char* name, u64 value);
  void counter(const char* name, u64 value) override { stat(name, value); }
  void incomplete(const char* what);
  /// The last line: the process ends with that code.
  void end(int code);

  /// In controlled mode: each race also says the keys of its sites.
  void tell_points(const SitePoints* points) { points_ = points; }

  /// In executions of duress::check: races of strands go there instead. Null: nowhere else.
  void listen(void (*listener)(const Race& race)) { listener_ = listener; }

  u64 races() const { return races_; }
  void lock() { lock_.lock(); }
  void unlock() { lock_.unlock(); }

 private:
  static constexpr u32 kPairs = 1u << 16;
  static constexpr u8 kLocationsPerPair = 16;

  Tid thread_of(const RaceSide& side) const;
  void put_points(const RaceSide* sides, u32 count);
  bool is_new(u64 key);
  bool is_worth_writing(u64 pair, uptr address);
  void put_side(Text& text, const RaceSide& side, Tid thread, uptr address, u32 size);
  void put_stack(Text& text, StackId stack);
  void put_block(Text& text, uptr address);
  void put_heap_block(Text& text, const HeapBlock& block);
  void log_thread(Tid thread);

  Parts parts_;
  bool halt_;
  const SitePoints* points_ = nullptr;
  void (*listener_)(const Race& race) = nullptr;
  SpinLock lock_;
  u64 races_ = 0;
  u64 reported_[kPairs] = {};  // hashes of what was written
  u32 reported_count_ = 0;
  u8 locations_[kPairs] = {};  // of a pair, by a part of its hash: how many were written
};

}  // namespace duress
