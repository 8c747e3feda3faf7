// SPDX-License-Identifier: Apache-2.0
//
// Where the parts of this installation are: relative to the program itself, so that the build tree, an
// installed tree and a copy of either work alike.
#pragma once

#include <string>

namespace duress::exec {

struct Layout {
  std::string duress;     // the program itself
  std::string bin;        // folder of `duress`
  std::string prefix;     // its parent
  std::string toolchain;  // share/duress/duress-toolchain.cmake
};

Layout layout();

}  // namespace duress::exec
