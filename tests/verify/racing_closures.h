// SPDX-License-Identifier: Apache-2.0
//
// Whether a closure has data races, by duress::check.
#pragma once

#include <string>

#include "closures.h"

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The check fails with a race on `variable` and nothing else, in all interleavings of the racing accesses; its
/// token shows the same race again.
inline bool races(const Body& closure, const std::string& variable, bool complete = true,
                  const std::string& file = __builtin_FILE()) {
  duress::CheckResult result = all(closure);
  std::string start = "data race on " + variable + ": " + file.substr(file.rfind('/') + 1) + ":";
  duress::CheckOptions quiet;
  quiet.quiet = true;
  duress::CheckResult again = duress::replay(closure, result.token, quiet);
  bool good = !result.passed && result.complete == complete &&
              result.failure.compare(0, start.size(), start) == 0 && has(result.report, "(race)") &&
              !again.passed && again.failure == result.failure;
  if (!good) printf("%s\n%s\n%s\n", result.failure.c_str(), result.report.c_str(), again.failure.c_str());
  return good;
}

/// No race and no failure in all interleavings.
inline bool clean(const Body& closure) {
  return count(closure) > 0;
}
