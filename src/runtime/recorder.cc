// SPDX-License-Identifier: Apache-2.0
//
// Costs: an event is 4 to 8 bytes and about 5 ns beyond the hook. Which accesses are the first of their epoch
// is what the filters of threads say (shadow/epoch_filter.h).
#include "runtime/recorder.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/check.h"
#include "runtime/own_file.h"
#include "runtime/runtime.h"

namespace duress {

using recording::ChunkKind;
using recording::Encoder;

bool Recorder::open(const char* dir) {
  Text path(rt_.arena);
  path.put(dir).put('/').number(static_cast<u64>(process_number())).put(".trace").put('\0');
  long fd = open_own_file(path.data());
  if (fd < 0) return false;
  raw_syscall(SYS_ftruncate, fd, 0);  // of what this process was before it called exec
  long high = raw_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 901);
  if (high >= 0) {
    raw_syscall(SYS_close, fd);
    fd = high;
  }
  fd_ = static_cast<int>(fd);
  recording::FileHeader header = {{}, recording::kVersion, first_only_ ? recording::kFirstOnly : 0};
  memcpy(header.magic, recording::kMagic, sizeof header.magic);
  return write_all(fd_, reinterpret_cast<const char*>(&header), sizeof header);
}

inline void Recorder::stay_in(RecordBuffer& b) {
  b.busy.store(true, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);  // write_round() runs barrier_all_threads()
  while (DURESS_UNLIKELY(stopping_.load(std::memory_order_relaxed))) {
    leave(b);
    while (stopping_.load(std::memory_order_acquire)) yield_processor();
    b.busy.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
}

RecordBuffer& Recorder::enter(Thread& t) {
  RecordBuffer* b = t.record;
  if (DURESS_UNLIKELY(!b)) {
    b = rt_.arena.make<RecordBuffer>();
    b->begin = b->at = static_cast<u8*>(rt_.arena.allocate(recording::kEventChunkBytes));
    b->end = b->begin + recording::kEventChunkBytes;
    b->thread = t.tid;
    t.record = b;
    SpinGuard guard(lock_);
    b->next = buffers_;
    buffers_ = b;
  }
  stay_in(*b);
  if (DURESS_UNLIKELY(b->at + 2 * recording::kMostEventBytes > b->end)) ready(*b);
  if (rt_.controlled && last_ != t.tid) {  // one at a time: the order of accesses is known exactly
    last_ = t.tid;
    Encoder::mark(b->at, ticket_.fetch_add(1, std::memory_order_relaxed));
  }
  return *b;
}

/// Makes room. REQUIRES: entered.
void Recorder::ready(RecordBuffer& b) {
  // Left while it waits for the lock: who writes a round holds it and waits for all that are entered.
  leave(b);
  bool round;
  {
    SpinGuard guard(lock_);
    write_buffer(b);
    round = unwritten_.load(std::memory_order_relaxed) >= recording::kRoundBytes;
  }
  if (round) write_round(nullptr);
  stay_in(b);
}

void Recorder::write_chunk(ChunkKind kind, u32 thread, const void* data, size_t size) {
  recording::ChunkHeader header = {recording::kChunkMagic, kind, 0, 0, thread, static_cast<u32>(size),
                                   static_cast<u32>(size)};
  // One write, so that a kill leaves whole chunks, as far as the kernel lets it.
  struct Part {
    const void* base;
    size_t length;
  } parts[2] = {{&header, sizeof header}, {data, size}};
  long done = raw_syscall(SYS_writev, fd_, reinterpret_cast<long>(parts), 2);
  if (done >= 0 && static_cast<size_t>(done) == sizeof header + size) return;
  auto written = done < 0 ? 0 : static_cast<size_t>(done);
  bool whole =
      written >= sizeof header && write_all(fd_, static_cast<const char*>(data) + (written - sizeof header),
                                            size - (written - sizeof header));
  if (!whole) rt_.log.lost();
}

/// REQUIRES: lock_ held, and its thread entered or kept out.
void Recorder::write_buffer(RecordBuffer& b) {
  if (b.at == b.begin) return;
  auto size = static_cast<size_t>(b.at - b.begin);
  write_chunk(ChunkKind::kEvents, raw(b.thread), b.begin, size);
  unwritten_.fetch_add(size, std::memory_order_relaxed);
  b.at = b.begin;
  b.state = {};
}

void Recorder::write_stacks() {
  constexpr u32 kMost = 4096;
  struct __attribute__((packed)) Entry {
    u64 address;
    u32 caller;
  };
  struct __attribute__((packed)) Chunk {
    u32 first;
    Entry entries[kMost];
  };
  auto* chunk = static_cast<Chunk*>(rt_.arena.allocate(sizeof(Chunk)));
  u32 end = rt_.stacks.count();
  for (bool complete = true; stacks_written_ < end && complete;) {
    chunk->first = stacks_written_;
    u32 n = 0;
    for (; n < kMost && stacks_written_ < end; ++n, ++stacks_written_) {
      StackId id = static_cast<StackId>(stacks_written_);
      if (!rt_.stacks.return_address(id)) {  // being made; the next round has it
        complete = false;
        break;
      }
      chunk->entries[n] = {rt_.stacks.return_address(id), raw(rt_.stacks.caller(id))};
    }
    if (n) write_chunk(ChunkKind::kStacks, 0, chunk, sizeof(u32) + n * sizeof(Entry));
  }
  rt_.arena.free(chunk, sizeof(Chunk));
}

/// Keeps every thread out, writes what all have, and says that the round is complete.
void Recorder::write_round(RecordBuffer* own) {
  SpinGuard guard(lock_);
  stopping_.store(true, std::memory_order_seq_cst);
  barrier_all_threads();
  for (RecordBuffer* b = buffers_; b; b = b->next) {
    while (b != own && b->busy.load(std::memory_order_acquire)) yield_processor();
  }
  write_stacks();
  for (RecordBuffer* b = buffers_; b; b = b->next) write_buffer(*b);
  write_chunk(ChunkKind::kRound, 0, nullptr, 0);
  unwritten_.store(0, std::memory_order_relaxed);
  stopping_.store(false, std::memory_order_release);
}

Pass Recorder::access(AnalysisThread& thread, const Access& access) {
  RecordBuffer& b = enter(*t_current);
  Encoder::access(b.at, b.state, access);
  leave(b);
  return Pass::kKeep;
}

void Recorder::sync(AnalysisThread& thread, const Sync& sync) {
  RecordBuffer& b = enter(*t_current);
  Encoder::sync(b.at, b.state, sync, ticket_.fetch_add(1, std::memory_order_relaxed));
  leave(b);
  if (DURESS_UNLIKELY(sync.kind == SyncKind::kThreadEnd)) end_buffer(*t_current);
}

void Recorder::end_buffer(Thread& t) {
  SpinGuard guard(lock_);
  write_buffer(*t.record);
  for (RecordBuffer** link = &buffers_; *link; link = &(*link)->next) {
    if (*link != t.record) continue;
    *link = t.record->next;
    break;
  }
  rt_.arena.free(t.record->begin, recording::kEventChunkBytes);
  rt_.arena.free(t.record, sizeof(RecordBuffer));
  t.record = nullptr;
}

void Recorder::finish(LineSink&) {
  rt_.reporter.lock();
  rt_.modules.log_new();
  rt_.modules.log_sites();
  rt_.reporter.unlock();
  for (u32 i = 0; i < rt_.threads.count(); ++i) rt_.reporter.known_thread(static_cast<Tid>(i));
  Thread* t = t_current;
  write_round(t ? t->record : nullptr);
}

void Recorder::after_fork(const char* dir) {
  new (&lock_) SpinLock;
  stopping_.store(false, std::memory_order_relaxed);
  Thread* t = t_current;
  buffers_ = t ? t->record : nullptr;
  if (buffers_) {
    buffers_->next = nullptr;
    buffers_->at = buffers_->begin;
    buffers_->state = {};
  }
  stacks_written_ = 1;
  if (!open(dir)) fatal("cannot write a trace after fork");
}

// ---- checked bodies ------------------------------------------------------------------------------------

void Recorder::new_epoch(Thread& t) {
  t.clock.tick_if_released();
  t.fasttrack.epoch = t.clock.own();
  t.fasttrack.seen_generation = t.fasttrack.generation->load(std::memory_order_relaxed);
  t.fasttrack.filter.new_epoch();
  t.fasttrack.filter.open(*t.fasttrack.self);  // no access number is there: try_access() tries nothing
}

void Recorder::remember(Thread& t, uptr address, u64 size, bool write) {
  // One that spans two granules is recorded again each time; that is rare.
  if ((address ^ (address + size - 1)) >> 3) return;
  u8 mask = static_cast<u8>(((1u << size) - 1) << (address & 7));
  DuressSelf& self = *t.fasttrack.self;
  write ? EpochFilter::add<true>(self, address, mask) : EpochFilter::add<false>(self, address, mask);
}

void Recorder::first_access(Thread& t, uptr address, u64 size, bool write, Place place) {
  if (t.fasttrack.ignore) return;
  if (!EpochFilter::is_open(*t.fasttrack.self)) new_epoch(t);
  RecordBuffer& b = enter(t);
  Encoder::access(b.at, b.state,
                  {address, static_cast<u32>(size), write ? AccessKind::kWrite : AccessKind::kRead, place});
  leave(b);
  if (size <= 8) remember(t, address, size, write);
}

void Recorder::first_strided(Thread& t, uptr address, u64 count, i64 stride, u32 size, bool write,
                             Place place) {
  if (t.fasttrack.ignore || !count) return;
  if (!EpochFilter::is_open(*t.fasttrack.self)) new_epoch(t);
  RecordBuffer& b = enter(t);
  Encoder::strided(b.at, b.state, {address, size, write ? AccessKind::kWrite : AccessKind::kRead, place},
                   count, stride);
  leave(b);
}

}  // namespace duress
