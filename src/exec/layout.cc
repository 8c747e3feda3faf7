// SPDX-License-Identifier: Apache-2.0
//
// /proc/self/exe is right whatever argv[0] holds.
#include "exec/layout.h"

#include <filesystem>

namespace duress::exec {

namespace fs = std::filesystem;

Layout layout() {
  std::error_code error;
  fs::path self = fs::read_symlink("/proc/self/exe", error);
  Layout result;
  result.duress = self.string();
  result.bin = self.parent_path().string();
  result.prefix = self.parent_path().parent_path().string();
  result.toolchain = result.prefix + "/share/duress/duress-toolchain.cmake";
  return result;
}

}  // namespace duress::exec
