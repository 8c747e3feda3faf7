// SPDX-License-Identifier: Apache-2.0
#include "report/words.h"

namespace duress::report {

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string count_text(std::uint64_t count, const char* word) {
  return grouped(count) + " " + word + (count == 1 ? "" : "s");
}

std::string plural(std::uint64_t count, const char* word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

std::string switches_text(std::uint64_t count) {
  return count == 0 ? "no switch" : count == 1 ? "one switch" : std::to_string(count) + " switches";
}

std::string checked_text(std::uint64_t interleavings, std::uint64_t schedules) {
  return "checked: " + (schedules != 0
                            ? count_text(schedules, "schedule") + ", no race, no failure; not proved"
                            : count_text(interleavings, "interleaving") + ", no race, no failure");
}

}  // namespace duress::report
