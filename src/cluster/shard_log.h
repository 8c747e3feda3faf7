// SPDX-License-Identifier: Apache-2.0
//
// A file that one process appends records to while others read it. A record carries its length and a sum
// over itself: a reader takes whole records only, so neither a writer that was killed in the middle nor a
// file system that shows the end of a file late makes it read half of one.
//
// Writer and reader reopen the file each time: network file systems guarantee that data written before
// close() is visible after a later open(), and little else.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/types.h"

namespace duress::cluster {

/// Names an execution: a hash of everything it depends on.
struct Key {
  u64 high = 0, low = 0;
  auto operator<=>(const Key&) const = default;
};
struct KeyHash {
  std::size_t operator()(const Key& key) const { return key.low; }
};
Key key_of(std::string_view bytes);

enum class RecordKind : u32 {
  kHello = 1,     // of a worker: who it is
  kRequest = 2,   // to a worker: run this execution
  kWithdraw = 3,  // to a worker: do not run it
  kResult = 4,
  kBeat = 5,     // it is alive
  kBye = 6,      // it ends, and why
  kProblem = 7,  // it cannot work, and why
};

struct LogRecord {
  RecordKind kind;
  Key key;
  std::string_view payload;
  u64 offset;  // of the record in its file
};

/// Threads: one at a time.
class LogWriter {
 public:
  explicit LogWriter(std::string path) : path_(std::move(path)) {}
  void add(RecordKind kind, const Key& key, std::string_view payload);
  /// Writes all added records to the file. "" or what went wrong; then it can be tried again.
  std::string flush();
  bool empty() const { return waiting_.empty(); }
  const std::string& path() const { return path_; }

 private:
  std::string path_, waiting_;
  u64 good_ = 0;  // bytes of whole records in the file
};

/// Threads: one at a time.
class LogReader {
 public:
  /// An invalid record may just be incomplete; after this many seconds it is damage, and skipped.
  explicit LogReader(std::string path, double patience = 10) : path_(std::move(path)), patience_(patience) {}
  /// Visits every complete record since the last call; returns how many.
  u64 poll(const std::function<void(const LogRecord&)>& take);
  /// How often damage was skipped.
  u64 damaged() const { return damaged_; }
  u64 at() const { return at_; }
  const std::string& path() const { return path_; }

 private:
  void skip(int fd, u64 end);

  std::string path_;
  double patience_;
  u64 at_ = 0;
  u64 damaged_ = 0;
  u64 bad_at_ = ~u64{0};  // offset of an invalid record
  double bad_since_ = 0;
};

/// The payload of the record at `offset`, if it is complete and has that key.
std::string payload_at(const std::string& path, u64 offset, const Key& key);

}  // namespace duress::cluster
