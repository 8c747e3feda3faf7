// SPDX-License-Identifier: Apache-2.0
//
// The words of `duress classify`: what is printed of each race, and at the end.
#ifndef DURESS_CLI_CLASSIFY_TEXT_H_
#define DURESS_CLI_CLASSIFY_TEXT_H_

#include <string>

#include "classify/classify_json.h"
#include "finding/finding.h"

namespace duress::cli {

struct ClassifyStyle {
  bool color = false, quiet = false, verbose = false;
  std::string replay_options;  // what `duress replay` needs beside the id: " --dir D"
  std::string test;            // the case that the race is charged to; "": none
};

/// Everything there is to say of one race. `shown_at`: id of a race of the same variable whose witness was
/// shown; "": none.
std::string race_text(const finding::Race& race, const classify::RaceVerdict& known,
                      const std::string& shown_at, const ClassifyStyle& style);

/// JUMBLE's figure 10 for one variable a line; "" if nothing was counted.
std::string figures_text(const std::map<std::string, classify::Figures>& figures);

/// "6,210"
std::string grouped(u64 number);
/// "1 run", "6,210 runs"
std::string count_text(u64 count, const char* word);

}  // namespace duress::cli

#endif  // DURESS_CLI_CLASSIFY_TEXT_H_
