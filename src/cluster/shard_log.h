// SPDX-License-Identifier: Apache-2.0
//
// A file that one process appends records to while others read it. A record carries its length and a sum
// over itself: a reader takes whole records only, so neither a writer that was killed in the middle nor a
// file system that shows the end of a file late can hand it half of one.
//
// Writer and reader open the file anew for each turn: network file systems promise that what was closed is
// seen by who opens afterwards, and little else.
#ifndef DURESS_CLUSTER_SHARD_LOG_H_
#define DURESS_CLUSTER_SHARD_LOG_H_

#include <functional>
#include <string>
#include <string_view>

#include "base/types.h"

namespace duress::cluster {

/// Which execution: a hash of all that decides it.
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
  kRequest = 2,   // to a worker: an execution that is wanted
  kWithdraw = 3,  // to a worker: it is not wanted any more
  kResult = 4,
  kBeat = 5,     // it lives
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
  /// Hands all that was added to the file system. "" or what went wrong; then it may be tried again.
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
  /// What makes no sense may only not be there yet; after so many seconds it is damage, and skipped.
  explicit LogReader(std::string path, double patience = 10) : path_(std::move(path)), patience_(patience) {}
  /// Hands over every whole record since the last turn; returns how many.
  u64 poll(const std::function<void(const LogRecord&)>& take);
  /// Times that damage was skipped.
  u64 damaged() const { return damaged_; }
  u64 at() const { return at_; }
  const std::string& path() const { return path_; }

 private:
  void skip(int fd, u64 end);

  std::string path_;
  double patience_;
  u64 at_ = 0;
  u64 damaged_ = 0;
  u64 bad_at_ = ~u64{0};  // something that makes no sense
  double bad_since_ = 0;
};

/// The payload of the record at `offset`, if it is whole and has that key.
std::string payload_at(const std::string& path, u64 offset, const Key& key);

}  // namespace duress::cluster

#endif  // DURESS_CLUSTER_SHARD_LOG_H_
