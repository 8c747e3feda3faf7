// SPDX-License-Identifier: Apache-2.0
//
// Numbers as messages write them.
#pragma once

#include <cstdint>
#include <string>

namespace duress::report {

/// "6,210"
std::string grouped(std::uint64_t number);
/// "1 run", "6,210 runs"
std::string count_text(std::uint64_t count, const char* word);
/// "1 run", "6210 runs"
std::string plural(std::uint64_t count, const char* word);
/// "no switch", "one switch", "3 switches"
std::string switches_text(std::uint64_t count);

}  // namespace duress::report
