// SPDX-License-Identifier: Apache-2.0
//
// Writes events to a trace (event/trace_format.h) instead of analysing them: `duress trace record`. Threads
// collect events without locks; when enough came together all are stopped for a moment and the round is
// written.
#pragma once

#include "analysis/analysis.h"
#include "event/trace_codec.h"
#include "shadow/shadow_map.h"

namespace duress {

struct Runtime;
struct Thread;

/// What a thread has recorded and not written. Threads: its own; a round reads it while the thread is kept
/// out.
struct RecordBuffer {
  u8* begin = nullptr;
  u8* at = nullptr;
  u8* end = nullptr;
  recording::CodecState state;
  Tid thread{};
  std::atomic<bool> busy{false};
  RecordBuffer* next = nullptr;
};

/// As the only tool of a chain it records every event. In checked bodies first_access() is called instead of
/// FastTrack, and what it has seen in this epoch inline code does not bring again.
class Recorder final : public Analysis {
 public:
  Recorder(Runtime& runtime, bool first_only) : rt_(runtime), first_only_(first_only) {}

  bool open(const char* dir);
  bool first_only() const { return first_only_; }
  const char* name() const override { return "Record"; }
  Pass access(AnalysisThread& thread, const Access& access) override;
  void sync(AnalysisThread& thread, const Sync& sync) override;
  void finish(LineSink& out) override;

  /// A plain access of a checked body.
  void first_access(Thread& t, uptr address, u64 size, bool write, Place place);
  void first_strided(Thread& t, uptr address, u64 count, i64 stride, u32 size, bool write, Place place);
  void new_epoch(Thread& t);
  /// A forked child writes a trace of its own.
  void after_fork(const char* dir);

 private:
  RecordBuffer& enter(Thread& t);
  void leave(RecordBuffer& b) { b.busy.store(false, std::memory_order_release); }
  void stay_in(RecordBuffer& b);
  void ready(RecordBuffer& b);
  static void remember(Thread& t, uptr address, u64 size, bool write);
  void write_buffer(RecordBuffer& b);
  void write_chunk(recording::ChunkKind kind, u32 thread, const void* data, size_t size);
  void write_stacks();
  void write_round(RecordBuffer* own);
  void end_buffer(Thread& t);

  Runtime& rt_;
  bool first_only_;
  int fd_ = -1;
  SpinLock lock_;  // the list, the file
  RecordBuffer* buffers_ = nullptr;
  std::atomic<bool> stopping_{false};
  std::atomic<u64> ticket_{0};
  std::atomic<u64> unwritten_{0};  // bytes in chunks since the last round
  Tid last_{~0u};                  // controlled mode: whose event was the last
  u32 stacks_written_ = 1;
};

}  // namespace duress
