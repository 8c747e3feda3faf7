// SPDX-License-Identifier: Apache-2.0
//
// FastTrack (Flanagan and Freund): precise happens-before race detection with epochs. A location
// keeps its last write and its last read; reads become a set only while they are concurrent. It
// reports the first race on every location and never a false one.
//
// Here a location is a byte: eight share a cell (shadow/cell.h). An "epoch" is a range of access
// numbers of one thread (access_records.h). Accesses that the thread's filter contains
// (shadow/epoch_filter.h) do not come here: inline code has asked it, so this code runs for the first access
// of an epoch only.
//
// Atomics: accesses to atomics are remembered apart (atomic_history.h) and marked in the cell; a
// plain access to a marked cell is checked against them and the other way round.
#pragma once

#include "analysis/analysis.h"
#include "analysis/fasttrack/access_records.h"
#include "analysis/fasttrack/atomic_history.h"
#include "analysis/fasttrack/read_pages.h"
#include "analysis/fasttrack/spill_pool.h"
#include "clock/sync_table.h"
#include "clock/thread_clock.h"
#include "finding/race.h"
#include "shadow/epoch_filter.h"
#include "shadow/shadow_map.h"

namespace duress {

/// Sites that are not in any binary: accesses made by library functions on the program's behalf.
constexpr SiteId kNoSite{0};
constexpr SiteId kFreeSite{1};
constexpr SiteId kLibraryReadSite{2};
constexpr SiteId kLibraryWriteSite{3};
constexpr SiteId kAllocationSite{4};
constexpr u32 kFirstModuleSite = 16;

/// Counters named after the paper's rules. "Same epoch" is mostly decided inline and not counted.
struct FastTrackRules {
  u64 read_same_epoch = 0, read_exclusive = 0, read_share = 0, read_shared = 0;
  u64 write_same_epoch = 0, write_exclusive = 0, write_shared = 0;

  template <typename Visit>
  void each(Visit visit) {
    visit("READ SAME EPOCH", read_same_epoch);
    visit("READ EXCLUSIVE", read_exclusive);
    visit("READ SHARE", read_share);
    visit("READ SHARED", read_shared);
    visit("WRITE SAME EPOCH", write_same_epoch);
    visit("WRITE EXCLUSIVE", write_exclusive);
    visit("WRITE SHARED", write_shared);
  }
  void add(const FastTrackRules& o) {
    read_same_epoch += o.read_same_epoch, read_exclusive += o.read_exclusive, read_share += o.read_share;
    read_shared += o.read_shared, write_same_epoch += o.write_same_epoch,
        write_exclusive += o.write_exclusive;
    write_shared += o.write_shared;
  }
};

/// What one place in the code did to the last cell that it accessed. Code that is called element by element
/// (ThreadSanitizer's hooks) mostly does the same to the next one. Which place it is says the caller, by
/// `key` and `stack`.
struct alignas(64) AccessRun {
  u64 key = 0;
  u64 old_writes = 0, old_reads = 0, new_writes = 0, new_reads = 0;
  SiteId site{};
  StackId stack{};
  AccessId id = 0;  // 0: nothing is known but the site
  u32 collections = 0;
  u32 seen = 0;  // the epoch in which the place was last seen
  LockSetId locks{};
  u16 region = 0;  // of the shadow
};
static_assert(sizeof(AccessRun) == 64);

/// What FastTrack keeps for one thread.
/// Threads: its own thread, except `busy` and the chunk, which a collection reads while all are stopped.
struct FastTrackThread {
  FastTrackThread(ThreadClock& c, DuressSelf* s) : clock(c), self(s) {}

  ThreadClock& clock;
  DuressSelf* self;  // what inline code sees of the fields below
  LockSetId locks{};
  u8 ignore = 0;  // > 0: accesses are not checked (annotations)
  /// Faithful bodies and chains: all accesses come here, not the first of an epoch alone. The last place of
  /// an epoch is kept, so that executions that differ name all places that race.
  bool every_access = false;
  std::atomic<bool> busy{false};

  AccessId low = 0;   // the current epoch's numbers are [low, next)
  AccessId next = 0;  // the next number to hand out
  AccessId end = 0;   // end of the chunk
  Clock epoch = 0;    // the counter they belong to

  struct CachedPlace {
    Place place;
    AccessId id;
    LockSetId locks;
  };
  CachedPlace places[64] = {};  // numbers given in this epoch, by place

  /// Numbers of allocations are of other chunks than [low, next): the first write to a new block is then not
  /// "same epoch", and a report names the write.
  struct Allocations {
    AccessId next = 0, end = 0;
    struct Known {
      StackId stack;
      Clock epoch;
      AccessId id;
    };
    Known known[8] = {};  // by call stack
  };
  Allocations allocations;

  EpochFilter filter;
  ReadPages::Hint read_page;
  ReadPageWord* stray_word = nullptr;  // see FastTrack::forget_stray()
  u32 seen_generation = 0;
  const std::atomic<u32>* generation =
      nullptr;  // grows when memory that threads had read together is used anew

  FastTrackThread* next_thread = nullptr;
  /// The thread that this one waits for to end: it will know all that the other one knows. See collect.cc.
  std::atomic<const FastTrackThread*> joining{nullptr};
  const FastTrackThread* waits_for = nullptr;  // the same, if it has not ended; of the collector

  FastTrackRules rules;

  // Large tables that few programs fill lie behind what all write: rollback puts back every page that an
  // execution has written to.
  static constexpr u32 kRuns = 32;
  AccessRun runs[kRuns][2] = {};  // of two places that share a row the newer one is the first

  /// Where in the read sets of cells this thread's entry was last; a guess. With 300 readers of a cell
  /// looking for it took three times as long as everything else.
  static constexpr u32 kSetHints = 2048;
  u16 set_hints[kSetHints] = {};
  u16& set_hint(uptr granule) { return set_hints[(granule >> 3) % kSetHints]; }
};

class FastTrack final : public Analysis {
 public:
  FastTrack(Arena& arena, ShadowMap& shadow, SyncTable& syncs, RaceSink& sink)
      : arena_(arena), shadow_(shadow), syncs_(syncs), sink_(sink) {}
  ~FastTrack() override;

  // As an analysis of a chain. Nothing is to be done at synchronisation, because the clocks of threads are
  // the engine's, nor for fresh memory: see forget().
  const char* name() const override { return "FastTrack"; }
  Pass access(AnalysisThread& thread, const Access& access) override;
  void counters(CounterSink& out) const override;
  bool has_inline_path() const override { return true; }

  void attach(FastTrackThread& t);
  void detach(FastTrackThread& t);

  /// A plain access. Returns true if it is part of a race.
  bool access(FastTrackThread& t, uptr address, u64 size, bool write, Place place);
  /// The same within one cell, in the simple cases of hot_path.h. Otherwise nothing was done: call access(),
  /// or access_slow() after kNotSimple. kAlone: one system thread applies the events of all threads
  /// (offline), so nothing is locked.
  enum class Outcome : u8 { kDone, kNotTried, kNotSimple };
  /// `run` is told what was done.
  template <bool kWrite, bool kAlone = false>
  Outcome try_access(FastTrackThread& t, uptr address, u32 size, Place place, AccessRun* run = nullptr);
  /// Does to the cell of `address` what the run has done before, if that is what is to be done. REQUIRES: the
  /// access has the size, the place and the offset in its cell that the run was told.
  template <bool kWrite>
  bool repeat(FastTrackThread& t, uptr address, u8 mask, const AccessRun& run);
  template <bool kWrite>
  Outcome try_pair(FastTrackThread& t, uptr address, Place place);
  bool access_slow(FastTrackThread& t, uptr address, u64 size, bool write, Place place);
  /// `count` plain accesses of `size` bytes (at most 8), `stride` bytes apart.
  bool strided(FastTrackThread& t, uptr address, u64 count, i64 stride, u32 size, bool write, Place place);
  /// An atomic operation: begin, lock the object, perform it, acquire what it read, atomic_access, release,
  /// unlock, end. Between begin and end no collection can run, so the object's lock may be waited for.
  void begin_atomic(FastTrackThread& t);
  bool atomic_access(FastTrackThread& t, SyncObject* object, AccessKind kind, Place place);
  void end_atomic(FastTrackThread& t) { leave(t); }
  /// Around what a thread acquires: between begin and end no collection, which looks at all clocks, can run.
  void begin_acquire(FastTrackThread& t) { enter(t); }
  void end_acquire(FastTrackThread& t) { leave(t); }
  /// A thread was created, and has acquired what its creator knew (or will never run).
  void thread_created() { starting_.fetch_add(1, std::memory_order_relaxed); }
  void thread_started() { starting_.fetch_sub(1, std::memory_order_release); }
  bool has_starting_threads() const { return starting_.load(std::memory_order_acquire) != 0; }
  /// Remembers in the shadow that a synchronisation object lives at an address, so that it goes when the
  /// memory does.
  void mark_sync(FastTrackThread& t, uptr address);

  /// The thread's clock may have changed (any synchronisation): the filter contains nothing until
  /// open_epoch().
  static void after_sync(FastTrackThread& t) {
    if (t.clock.released() || t.clock.own() != t.epoch ||
        t.generation->load(std::memory_order_relaxed) != t.seen_generation) {
      EpochFilter::close(*t.self);
    }
  }

  /// Offline: prefetches the cell of one of the next accesses.
  void prefetch(uptr address) { __builtin_prefetch(shadow_.cell_in_region(address), 1); }

  /// The filter can contain accesses again. For the first access after a synchronisation; try_access() needs
  /// it.
  void open_epoch(FastTrackThread& t);

  /// Memory is freed: a write to all of it, which later accesses must follow.
  bool freed(FastTrackThread& t, uptr address, u64 size, Place place);
  /// Fresh memory (an allocation, a new stack, a new mapping): what was there before is another location. Its
  /// free orders nothing else: docs/adr/0003-heap-reuse.md.
  void forget(FastTrackThread& t, uptr begin, uptr end);
  /// Heap memory [begin, end), of which the program asked for `size` bytes, is fresh, and allocating it is a
  /// write to its first bytes: a thread that uses it must follow the allocation.
  void allocated(FastTrackThread& t, uptr begin, uptr end, u64 size, StackId stack);
  /// Whether there is a thread that does not follow all that the calling one does.
  bool has_several_threads() const {
    return attached_.load(std::memory_order_relaxed) > 1 || has_starting_threads();
  }

  SpillPool& spills() { return spills_; }
  u64 collections() const { return collections_; }
  /// Accesses that collections have dropped because all threads follow them.
  u64 dropped() const { return dropped_; }
  u32 record_chunks() const { return records_.chunks_in_use(); }
  /// Collects when more than this many chunks of records are in use (tests make it small).
  void set_chunk_budget(u32 chunks) { chunk_budget_ = chunks; }
  void use_huge_pages() { records_.use_huge_pages(); }
  /// Keeps every thread out of the detector until resume(): for fork, so that the child finds it whole.
  void pause();
  void resume();
  /// After fork in the child: only `survivor` is left.
  void after_fork(FastTrackThread& survivor);

 private:
  struct Found;  // found.h

  void enter(FastTrackThread& t) {
    t.busy.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the collector runs barrier_all_threads()
    if (DURESS_UNLIKELY(collecting_.load(std::memory_order_relaxed))) enter_slow(t);
  }
  void enter_slow(FastTrackThread& t);
  void leave(FastTrackThread& t) { t.busy.store(false, std::memory_order_release); }
  AccessId number(FastTrackThread& t, Place place);
  AccessId number_in_chunk(FastTrackThread& t, Place place);
  AccessId new_number_in_chunk(FastTrackThread& t, Place place);
  AccessId allocation_number(FastTrackThread& t, StackId stack);
  AccessId next_chunk(FastTrackThread& t, AccessId& end);
  u64 reads_on(const FastTrackThread& t, u64 r, AccessId id) const;
  u32 budget() const;
  void take_chunk(FastTrackThread& t);
  bool ordered(const FastTrackThread& t, AccessId id) const {
    const ChunkTime& chunk = records_.chunk_time(id);
    Slot slot = chunk.slot.load(std::memory_order_relaxed);
    if (slot == t.clock.slot() || chunk.last.load(std::memory_order_relaxed) <= t.clock.get(slot))
      return true;
    const AccessTime& r = records_.time(id);
    return r.slot == t.clock.slot() || r.clock <= t.clock.get(r.slot);
  }
  bool harmless(const FastTrackThread& t, AccessId id) const { return !id || ordered(t, id); }
  struct Transition;
  class Mover;
  template <bool kWrite>
  bool transition(const FastTrackThread& t, u64 w, u64 r, u8 mask, AccessId id, Transition& result) const;
  template <bool kWrite>
  __attribute__((preserve_most)) bool spilled_transition(const FastTrackThread& t, u64 w, u64 r, u8 mask,
                                                         AccessId id, Transition& result) const;
  template <bool kWrite>
  class Strider;  // strides.cc
  bool shared_read_seen(FastTrackThread& t, Cell* cell, uptr granule, u8 mask);
  void lost(FastTrackThread& t, u64 count);
  bool all_same_epoch(FastTrackThread& t, Cell* cell, uptr address, uptr stop, bool write);
  bool own_reads(const FastTrackThread& t, const Word& r, u8 mask) const;
  bool follows_reads(const FastTrackThread& t, const Word& reads, u8 mask, u8& unread) const;
  static u64 pack(const FastTrackThread& t, Word w);
  u64 shared_word(const FastTrackThread& t, u32 index, AccessId id);
  template <bool kWrite>
  uptr sweep(FastTrackThread& t, uptr address, uptr end, AccessId id);
  static bool own_epoch(const FastTrackThread& t, AccessId id) { return id - t.low < t.next - t.low; }
  static bool same_epoch(const FastTrackThread& t, u64 word, u8 mask) {
    return own_epoch(t, static_cast<AccessId>(word >> kIdShift)) && !(word & mask);
  }

  bool read_cell(FastTrackThread& t, Cell* cell, uptr granule, u8 mask, AccessId id, Found& found);
  bool write_cell(FastTrackThread& t, Cell* cell, uptr granule, u8 mask, AccessId id, Found& found);
  void check_writes(const FastTrackThread& t, Word w, u8 mask, uptr granule, Found& found);
  void check_reads(const FastTrackThread& t, u64 r, u8 mask, uptr granule, Found& found);
  void check_atomics(const FastTrackThread& t, uptr granule, u8 mask, bool write, Found& found);
  void check(const FastTrackThread& t, AccessId id, u8 bytes, AccessKind kind, uptr granule, Found& found);
  /// What the first bytes of fresh memory hold.
  struct Fill {
    uptr end;
    u64 writes;
  };
  bool write_block(const FastTrackThread& t, uptr block, AccessId id);
  bool owns_block(const FastTrackThread& t, uptr block);
  bool write_and_summarise(FastTrackThread& t, uptr begin, uptr end, Place place);
  void wipe(uptr begin, uptr end, const Fill& fill);
  void fill_cells(uptr begin, const Fill& fill);
  bool wipe_cell(Cell* cell, uptr granule);
  u64 with_write(const FastTrackThread& t, Word w, u8 mask, AccessId id);
  u64 with_read(const FastTrackThread& t, u64 r, uptr granule, u8 mask, AccessId id);
  struct ReadOf;
  u64 shared(const FastTrackThread& t, uptr granule, const ReadOf* reads, u32 count);
  bool to_pages(uptr granule, const ReadOf* reads, u32 count);
  u32 to_set(uptr granule);
  void clear_pages(uptr granule);
  bool read_paged(FastTrackThread& t, Cell* cell, uptr granule, u8 mask, Place place);
  static void forget_stray(FastTrackThread& t, const Cell* cell);
  class PageGuard;  // whole_pages.cc, like the next
  bool whole_page(FastTrackThread& t, uptr page, bool write, AccessId id);
  bool read_page(FastTrackThread& t, uptr page, AccessId id);
  bool share_page(FastTrackThread& t, uptr page, AccessId id);
  bool write_page(FastTrackThread& t, uptr page, AccessId id);
  bool wipe_page(uptr page);
  bool follows_writes(const FastTrackThread& t, const Cell* cells) const;
  u64 without_reads(const FastTrackThread& t, u64 r, uptr granule, u8 mask);
  void report(const FastTrackThread& t, const Found& found, AccessKind kind, Place place);
  template <bool kWrite>
  bool try_cell(FastTrackThread& t, Cell* cell, uptr granule, u8 mask, AccessId id);
  bool read_again(FastTrackThread& t, Cell* cell, uptr granule, u8 mask, AccessId id);
  static constexpr u64 kFewBytes = 64;  // accesses up to here are done cell by cell, longer ones in bulk
  bool access_part(FastTrackThread& t, uptr address, u32 size, bool write, Place place);
  bool access_cell(FastTrackThread& t, uptr address, u64 size, bool write, Place place);
  bool range(FastTrackThread& t, uptr address, u64 size, bool write, AccessKind kind, Place place);
  void collect(FastTrackThread& t);
  void collect_cell(Mover& mover, Cell* cell);
  void known_to_all(VectorClock& known);
  void wait_until_idle(const FastTrackThread* except);
  void wait_for_collection();
  void end_collection();

  Arena& arena_;
  ShadowMap& shadow_;
  SyncTable& syncs_;
  RaceSink& sink_;
  AccessRecords records_;
  SpillPool spills_;
  ReadPages pages_;
  mutable SpinLock threads_lock_;  // of the next two
  FastTrackThread* threads_ = nullptr;
  FastTrackRules ended_rules_;  // of threads that were detached
  std::atomic<u32> attached_{0};
  std::atomic<u32> collecting_{0};
  std::atomic<u32> generation_{1};
  std::atomic<u64> filter_bytes_{0};  // of all threads
  u32 chunk_budget_ = 3072;           // 12 MiB of records at least; see budget()
  u32 live_chunks_ = 0;               // after the last collection
  u64 collections_ = 0, dropped_ = 0;
  std::atomic<u32> starting_{0};  // threads that were created and have acquired nothing yet
  Mover* mover_ = nullptr;        // collect.cc
};

}  // namespace duress
