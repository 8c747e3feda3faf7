// SPDX-License-Identifier: Apache-2.0
//
// Debug information may name sources by paths that do not exist here: relative ones (ccache, Bazel,
// -ffile-prefix-map), or those of the machine that built the program. The project's compile_commands.json
// says where its sources are.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace duress::report {

class SourcePaths {
 public:
  /// Looks for compile_commands.json in `cwd` and the folders above it, in each also in `build`; the first
  /// one counts. Without one, or with one that is not what it should be, paths stay as they are.
  explicit SourcePaths(const std::string& cwd);

  /// The file that `path` means: itself if it exists; else the one below a folder of the compile commands
  /// that ends in the same way, in all of a relative path or at least in a folder and a name. `path` if there
  /// is none.
  const std::string& find(const std::string& path);

 private:
  std::string search(const std::string& path) const;

  std::vector<std::string> roots_;  // folders that commands ran in, and the one that holds all sources
  std::map<std::string, std::string> found_;
};

}  // namespace duress::report
