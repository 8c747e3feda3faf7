// SPDX-License-Identifier: Apache-2.0
//
// Which of several legal values a load returns. The first five heuristics are JUMBLE's (section 5.1 of the
// paper). A new one is a file in heuristics/, a line in catalog/heuristics.h, a test and a row in
// docs/models/stale.md.
#pragma once

#include "catalog/heuristics.h"
#include "memory/choices.h"

namespace duress::memory {

/// Opens the definition of a heuristic of the table: the index of legal.values that it picks. It asks the
/// chooser only if it draws among several.
#define DURESS_DEFINE_HEURISTIC(identifier) \
  u32 pick_##identifier([[maybe_unused]] const Legal& legal, [[maybe_unused]] Chooser& chooser)

/// The heuristic's pick, an index of legal.values.
u32 pick_value(HeuristicId heuristic, const Legal& legal, Chooser& chooser);

class HeuristicPicker final : public Picker {
 public:
  HeuristicPicker(HeuristicId heuristic, Chooser& chooser) : heuristic_(heuristic), chooser_(chooser) {}
  u32 pick(const Legal& legal) override { return pick_value(heuristic_, legal, chooser_); }

 private:
  HeuristicId heuristic_;
  Chooser& chooser_;
};

}  // namespace duress::memory
