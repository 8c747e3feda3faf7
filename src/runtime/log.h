// SPDX-License-Identifier: Apache-2.0
//
// The log file of this process (docs/design/log.md): whole lines, each in one write, to a file that is
// opened anew if the target closed its descriptor under us. If a line cannot be written, the file kWholeMark
// beside the log is removed, which needs no room on the disk: the host then uses nothing of the execution.
#pragma once

#include "base/text.h"
#include "trail/whole_mark.h"

namespace duress {

/// Threads: any; one lock, held while a line is written.
class Log {
 public:
  /// Opens <dir>/<pid>.jsonl. False if that fails.
  bool open(const char* dir);
  /// The same, but the file is made when the first line is written; `first` writes a line before it.
  bool open_later(const char* dir, void (*first)());
  /// False while nothing was written to a log that is opened later.
  bool begun() const { return !first_; }
  /// Writes a line; the newline is added.
  void write(Text& line);
  /// Something that belongs to the log could not be written.
  void lost();
  /// Bytes written so far are counted there too.
  void count_into(u64* bytes) { bytes_ = bytes; }
  u64 bytes() const { return *bytes_; }

  void lock() { lock_.lock(); }
  void unlock() { lock_.unlock(); }

 private:
  bool reopen();
  bool set_path(const char* dir);

  SpinLock lock_;
  void (*first_)() = nullptr;
  int fd_ = -1;
  u64 device_ = 0, inode_ = 0;  // to notice that the descriptor is somebody else's now
  u64 own_bytes_ = 0;
  u64* bytes_ = &own_bytes_;
  char path_[4096] = {};
};

}  // namespace duress
