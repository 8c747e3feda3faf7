// SPDX-License-Identifier: Apache-2.0
//
// /proc/self/exe is right whatever argv[0] holds. It is bin/duress itself, or the program with the commands
// that bin/duress has become (src/cli/launcher.cc), below a folder for libraries.
#include "exec/layout.h"

#include <filesystem>

namespace duress::exec {

namespace fs = std::filesystem;

Layout layout() {
  std::error_code error;
  fs::path self = fs::read_symlink("/proc/self/exe", error);
  fs::path bin = self.parent_path();
  if (bin.filename() == "duress") {
    for (fs::path above = bin.parent_path(); above.has_relative_path(); above = above.parent_path()) {
      if (!fs::exists(above / "bin" / "duress", error)) continue;
      bin = above / "bin";
      break;
    }
  }
  Layout result;
  result.duress = (bin / "duress").string();
  if (!fs::exists(result.duress, error)) result.duress = self.string();
  result.bin = bin.string();
  result.prefix = bin.parent_path().string();
  result.toolchain = result.prefix + "/share/duress/duress-toolchain.cmake";
  return result;
}

}  // namespace duress::exec
