// SPDX-License-Identifier: Apache-2.0
//
// The exit codes of `duress`. docs/guide/run.md lists them for users.
#pragma once

namespace duress {

inline constexpr int kExitOk = 0;
inline constexpr int kExitWrongUse = 2;
inline constexpr int kExitFindings = 66;
inline constexpr int kExitOutOfTime = 124;
inline constexpr int kExitToolFailed = 125;

}  // namespace duress
