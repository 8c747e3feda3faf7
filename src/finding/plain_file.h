// SPDX-License-Identifier: Apache-2.0
//
// Files whose names come from a log or a trace: modules, sources. Those may be damaged or made up, so a name
// is checked before a library opens it: a FIFO would block for ever, /dev/zero never end.
#pragma once

#include <string>
#include <string_view>

namespace duress::finding {

/// A regular file that can be opened by that name, and has a size: those of /proc have none, and some block.
bool is_plain_file(const std::string& path);

/// The bytes of a regular file, mapped: a file of many gigabytes costs what is looked at. Throws
/// std::system_error if there is no descriptor left for it.
class PlainFile {
 public:
  explicit PlainFile(const std::string& path);
  ~PlainFile();
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;
  /// False: it is not there, not a regular file, or cannot be read.
  bool good() const { return good_; }
  std::string_view bytes() const { return bytes_; }

 private:
  bool good_ = false;
  std::string_view bytes_;
};

}  // namespace duress::finding
