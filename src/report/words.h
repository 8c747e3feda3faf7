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
/// How a fix was checked: "checked: 32 interleavings, no race, no failure", or of one that was only run
/// "checked: 5,000 schedules, no race, no failure; not proved".
std::string checked_text(std::uint64_t interleavings, std::uint64_t schedules);
/// "no switch", "one switch", "3 switches"
std::string switches_text(std::uint64_t count);

}  // namespace duress::report
