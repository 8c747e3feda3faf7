// SPDX-License-Identifier: Apache-2.0
//
// The kernel knows where we were started from, whatever argv[0] says.
#include "cli/layout.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace duress::cli {

namespace fs = std::filesystem;

Layout layout() {
  std::error_code error;
  fs::path self = fs::read_symlink("/proc/self/exe", error);
  Layout result;
  result.bin = self.parent_path().string();
  result.prefix = self.parent_path().parent_path().string();
  result.toolchain = result.prefix + "/share/duress/duress-toolchain.cmake";
  return result;
}

std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::stringstream folders(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (fs::is_regular_file(candidate) && access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

}  // namespace duress::cli
