// SPDX-License-Identifier: Apache-2.0
//
// Reading and writing trace files (event/trace_format.h). Hostile input: a file may be cut off anywhere, or
// be no trace at all; what is wrong is said with its offset, and what comes before it is still read.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "event/trace_codec.h"

namespace duress::trace {

/// Where bytes come from: a file, or memory.
class Source {
 public:
  virtual ~Source() = default;
  /// Reads up to n bytes; fewer only at the end.
  virtual std::size_t read(void* into, std::size_t n) = 0;
};
/// Null if it cannot be opened; `error` says why.
std::unique_ptr<Source> open_source(const std::string& path, std::string& error);
std::unique_ptr<Source> memory_source(std::string_view bytes);

/// A chunk, unpacked.
struct Chunk {
  recording::ChunkKind kind;
  u32 thread = 0;
  std::uint64_t offset = 0;  // in the file
  std::vector<u8> bytes;
};

class ChunkReader {
 public:
  explicit ChunkReader(Source& source) : source_(source) {}

  /// Reads the file's header. False: problem() says why it is not a trace.
  bool open();
  bool first_only() const { return (header_.flags & recording::kFirstOnly) != 0; }
  /// False at the end, and at what cannot be read: then problem() is not empty.
  bool next(Chunk& chunk);
  /// "offset 1234: ..." or "".
  const std::string& problem() const { return problem_; }
  /// The file ends in the middle of a chunk: it was cut off.
  bool cut() const { return cut_; }

 private:
  bool fail(const std::string& what);

  Source& source_;
  recording::FileHeader header_ = {};
  std::uint64_t offset_ = 0;
  std::string problem_;
  bool cut_ = false;
  std::vector<u8> stored_;
};

class ChunkWriter {
 public:
  explicit ChunkWriter(std::FILE* file) : file_(file) {}
  bool open(bool first_only);
  /// Packs it with zstd. False if the file refuses.
  bool put(recording::ChunkKind kind, u32 thread, const void* data, std::size_t size);

 private:
  std::FILE* file_;
  std::vector<u8> packed_;
};

/// Return addresses by number, as the target interned them.
struct Stacks {
  struct Entry {
    std::uint64_t address = 0;
    u32 caller = 0;
  };
  std::vector<Entry> entries;

  /// False if the chunk makes no sense.
  bool add(const Chunk& chunk);
  /// Innermost first.
  std::vector<std::uint64_t> frames(u32 stack) const;
};

/// The events of a trace in an order in which they may have happened: synchronisation as it did, accesses
/// between their thread's.
class EventReader {
 public:
  explicit EventReader(Source& source) : chunks_(source) {}

  bool open() { return chunks_.open(); }
  bool first_only() const { return chunks_.first_only(); }
  const std::string& problem() const { return problem_.empty() ? chunks_.problem() : problem_; }
  bool cut() const { return chunks_.cut(); }
  /// Calls visit(const Event&) for each. Strided accesses come one by one.
  template <typename Visit>
  void each(Visit visit) {
    while (read_round()) merge(visit);
  }
  const Stacks& stacks() const { return stacks_; }
  const std::string& text() const { return text_; }  // lines of the log
  std::uint64_t events() const { return events_; }

 private:
  struct Cursor;

  bool read_round();
  void bad_event(const Chunk& chunk, std::size_t at);
  template <typename Visit>
  void merge(Visit& visit);

  ChunkReader chunks_;
  std::vector<Chunk> round_;
  Stacks stacks_;
  std::string text_;
  std::string problem_;
  std::uint64_t events_ = 0;
  bool ended_ = false;
};

}  // namespace duress::trace

#include "trace/merge.h"  // EventReader::merge
