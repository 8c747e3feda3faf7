// SPDX-License-Identifier: Apache-2.0
//
// Locks that nobody sees: functions with atomic instructions that the pass has not instrumented, because
// another compiler made them (a static library built by gcc) or because they are inline assembly. What only
// they order looks unordered.
#pragma once

#include <string>
#include <vector>

namespace duress::collide {

/// The names of such functions in an executable or a library, as people write them, in order of their
/// addresses; "a function at 0x1230" where a stripped file has no name for one.
std::vector<std::string> unseen_atomics(const std::string& path);

/// "spin_lock() and 3 others"; REQUIRES: there are some.
std::string unseen_text(const std::vector<std::string>& functions);

}  // namespace duress::collide
