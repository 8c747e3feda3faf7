// SPDX-License-Identifier: Apache-2.0
//
// What is shown while races are judged: one line that is written over on a terminal, else one every 10 s.
#ifndef DURESS_CLI_CLASSIFY_SCREEN_H_
#define DURESS_CLI_CLASSIFY_SCREEN_H_

#include "classify/classify.h"

namespace duress::cli {

class ClassifyScreen {
 public:
  /// `silent`: nothing at all.
  explicit ClassifyScreen(bool silent);
  void show(const classify::ClassifyProgress& progress);
  /// Removes the live line, so that something else can be printed.
  void clear();

 private:
  bool silent_, live_ = false, shown_ = false;
  double last_ = 0;
};

}  // namespace duress::cli

#endif  // DURESS_CLI_CLASSIFY_SCREEN_H_
