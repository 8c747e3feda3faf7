// SPDX-License-Identifier: Apache-2.0
//
// The lanes of a report as text: the few events of an execution that explain its failure.
#pragma once

#include <string>

#include "finding/lanes.h"

namespace duress::report {

/// A column per thread, at most `most` rows in `width` columns: accesses to what several threads access and
/// one of them writes, locks and waits that several threads meet at, and the failure. Left out rows are a
/// "…". "": there is nothing to show.
std::string lanes_text(const finding::Lanes& lanes, std::size_t width, std::size_t most);

}  // namespace duress::report
