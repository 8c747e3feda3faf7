// SPDX-License-Identifier: Apache-2.0
//
// From an address to what was released there: mutexes, atomics, semaphores, anything that carries
// happens-before (which event does what to them: analysis/sync_engine.h). Objects are grouped by the eight
// bytes they lie in, because a plain access must find every atomic that overlaps it.
#pragma once

#include "clock/vector_clock.h"

namespace duress {

/// One synchronisation object. Its memory is never given back, only reused for another one, so a
/// stale pointer (the program freed a mutex in use) is wrong but harmless.
struct SyncObject {
  SpinLock lock;                        // guards everything below
  u8 size = 0;                          // bytes of an atomic; 0: a primitive (mutex, semaphore, ...)
  std::atomic<bool> overlapped{false};  // another atomic covers some of its bytes
  uptr address = 0;
  ReleaseClock released;    // by the last unlock, store or post
  ReleaseClock readers;     // by read-unlocks since the last write-unlock; by waiters at a barrier
  void* history = nullptr;  // who accessed an atomic; owned by the analysis, see AtomicHistory
  std::atomic<u32> version{
      0};  // atomics: grows before and after each change, so an even one that stays is no change
  SyncObject* next = nullptr;  // in its bucket

  /// REQUIRES: locked; so it needs no atomic addition, of which an operation would do two.
  void change_version(u32 by = 1) {
    version.store(version.load(std::memory_order_relaxed) + by, std::memory_order_release);
  }
};

/// Threads: any; a lock per bucket.
class SyncTable {
 public:
  explicit SyncTable(Arena& arena);
  ~SyncTable();

  /// The object at an address, made if there is none. Atomics of different sizes are different objects.
  /// *made says if it was made now.
  SyncObject* get(uptr address, u8 size, bool* made = nullptr);
  SyncObject* find(uptr address, u8 size);

  /// Calls visit(SyncObject*) for every atomic that overlaps [address, address + size), with no lock held.
  template <typename Visit>
  void each_overlapping(uptr address, u32 size, Visit visit) {
    // 16-byte atomics start in the granule before. Numbers of granules are compared, not addresses: behind
    // the last granule of memory (damaged traces name it) comes address 0.
    for (uptr granule = (address >> 3) - 1, last = (address + size - 1) >> 3; granule <= last; ++granule) {
      SyncObject* found[kMostInGranule];
      u32 count = 0;
      Bucket& bucket = buckets_[index(granule)];
      if (!bucket.first) continue;
      {
        SpinGuard guard(bucket.lock);
        for (SyncObject* o = bucket.first; o && count < kMostInGranule; o = o->next) {
          bool overlaps = o->address < address + size && address < o->address + o->size;
          if (o->address >> 3 == granule && o->size && overlaps) found[count++] = o;
        }
      }
      for (u32 i = 0; i < count; ++i) visit(found[i]);
    }
  }

  template <typename Visit>
  void each(Visit visit) {
    for (u32 i = 0; i < kBuckets; ++i) {
      if (!buckets_[i].first) continue;
      SpinGuard guard(buckets_[i].lock);
      for (SyncObject* o = buckets_[i].first; o; o = o->next) visit(o);
    }
  }

  /// How many objects there are, with those that wait to be used again.
  u32 objects() const { return objects_.load(std::memory_order_relaxed); }

  /// Forgets objects in [begin, end). `drop` is called for each, to free its history.
  template <typename Drop>
  void remove(uptr begin, uptr end, Drop drop) {
    for (uptr granule = begin >> 3; granule <= (end - 1) >> 3; ++granule) {
      Bucket& bucket = buckets_[index(granule)];
      if (!bucket.first) continue;
      SpinGuard guard(bucket.lock);
      for (SyncObject** link = &bucket.first; *link;) {
        SyncObject* o = *link;
        if (o->address >= begin && o->address < end) {
          *link = o->next;
          drop(o);
          retire(o);
        } else {
          link = &o->next;
        }
      }
    }
  }

  /// After fork in the child.
  void reset_locks();

  /// The last objects a thread used, so that a hot atomic is found without the table. An object that was
  /// forgotten has another address, or none.
  class Cache {
   public:
    static constexpr u32 kNever = ~0u;  // odd: no atomic rests there
    struct Entry {
      SyncObject* object;  // null: nothing else here means anything
      // The thread's last load: another one acquires nothing new while neither of these has changed.
      u32 version;
      Clock epoch;
      bool acquired;
      // At this version nothing was released there: until it changes, a relaxed update by a thread without a
      // release fence neither learns nor leaves anything.
      u32 idle;
    };
    /// The entry of an object, or null.
    Entry* find(uptr address, u8 size) {
      Entry& e = entries_[index(address)];
      return e.object && e.object->address == address && e.object->size == size ? &e : nullptr;
    }
    Entry* put(SyncObject* o) {
      Entry& e = entries_[index(o->address)];
      e = {o, kNever, 0, false, kNever};
      return &e;
    }

   private:
    static constexpr u32 kEntries = 128;
    // Multiplied, so that the 64 locks of a striped table, 64 bytes apart, do not meet in a few entries.
    static u32 index(uptr address) { return static_cast<u32>(address * 0x9e3779b97f4a7c15u >> 57); }
    Entry entries_[kEntries] = {};  // zeros: rollback puts back such pages without reading them
  };

 private:
  static constexpr u32 kGroups = 1u << 13;
  static constexpr u32 kInGroup = 64;
  static constexpr u32 kBuckets = kGroups * kInGroup;
  static constexpr u32 kMostInGranule = 8 + 4 + 2 + 1 + 1;  // aligned atomics of every size
  struct Bucket {
    SyncObject* first;
    SpinLock lock;
  };
  /// Neighbours in memory are neighbours here: an array of atomics is walked in order.
  static u32 index(uptr granule) {
    u64 group = granule / kInGroup * 0x9e3779b97f4a7c15u >> 51;
    return static_cast<u32>(group * kInGroup + granule % kInGroup);
  }
  SyncObject* make();
  void retire(SyncObject* o);

  Arena& arena_;
  SpinLock retired_lock_;
  SyncObject* retired_ = nullptr;  // to be used again as SyncObjects only
  std::atomic<u32> objects_{0};
  Bucket* buckets_;  // 8 MiB of address space; pages exist where objects do
};

}  // namespace duress
