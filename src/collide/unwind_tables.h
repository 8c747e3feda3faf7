// SPDX-License-Identifier: Apache-2.0
//
// The functions that a binary's unwind tables (.eh_frame) name. Stripped binaries have these tables too,
// since exceptions and signal handlers need them at run time. The bytes are not trusted: every read is
// checked.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "collide/registers.h"

namespace duress::collide {

struct Range {
  Address begin = 0;
  Address end = 0;
};

/// Where the tables begin, from the header (.eh_frame_hdr), whose bytes lie at `address`.
std::optional<Address> unwind_tables_from_header(std::string_view bytes, Address address);

/// The functions in the tables whose bytes lie at `start`, in the order of the tables.
std::vector<Range> unwound_functions(std::string_view bytes, Address start);

}  // namespace duress::collide
