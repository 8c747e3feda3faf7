// SPDX-License-Identifier: Apache-2.0
//
// How the host learns that a line of a log could not be written: the disk may be full, so nothing can be
// added, but a file can be removed.
#pragma once

namespace duress::trail {

/// A file that the host puts into the folder of the logs. The runtime removes it when it loses a line.
inline constexpr char kWholeMark[] = "whole";

}  // namespace duress::trail
