// SPDX-License-Identifier: Apache-2.0
//
// A folder for the files of one process, and the removal of those that killed processes left. Whether its
// owner lives is what a lock says: process numbers mean nothing in another container that shares the disk or
// /dev/shm.
#pragma once

#include <string>

#include "exec/files.h"

namespace duress::exec {

/// A folder below `dir` that only this process uses, removed with the object. Folders of processes that were
/// killed are removed on the way.
class WorkFolder {
 public:
  explicit WorkFolder(const std::string& dir);
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const std::string& path() const { return path_; }
  /// "" or why there is none.
  const std::string& error() const { return error_; }

 private:
  std::string path_, error_;
  Descriptor lock_;  // of <path>.lock
};

}  // namespace duress::exec
