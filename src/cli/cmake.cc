// SPDX-License-Identifier: Apache-2.0
//
// `duress cmake`: the path of the toolchain file, for -DCMAKE_TOOLCHAIN_FILE=$(duress cmake).
#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.h"
#include "exec/layout.h"

namespace duress::cli {

int cmake_command(const Arguments& arguments) {
  if (!arguments.empty() && (arguments[0] == "-h" || arguments[0] == "--help")) {
    fmt::print(
        "Usage: duress cmake\nPrints the path of a CMake toolchain file that builds with duress-cc and "
        "duress-c++.\n\n"
        "  cmake -B build -DCMAKE_TOOLCHAIN_FILE=$(duress cmake)\n");
    return kExitOk;
  }
  if (!arguments.empty()) return wrong_use("cmake", fmt::format("unexpected argument '{}'", arguments[0]));
  std::string path = exec::layout().toolchain;
  if (!std::filesystem::exists(path)) {
    say(fmt::format("'{}' is missing; install duress again", path));
    return kExitToolFailed;
  }
  fmt::print("{}\n", path);
  return kExitOk;
}

}  // namespace duress::cli
