// SPDX-License-Identifier: Apache-2.0
//
// The five heuristics of JUMBLE (section 5.1 of the paper): which visible value is most likely to make the
// program fail. A new one is a line in event/memory_models.h, a case in heuristics.cc, a test and a row in
// docs/models/stale.md.
#ifndef DURESS_MEMORY_HEURISTICS_H_
#define DURESS_MEMORY_HEURISTICS_H_

#include "event/memory_models.h"
#include "memory/choices.h"

namespace duress::memory {

/// The heuristic's pick, an index of legal.values. Asks the chooser only if it draws among several.
u32 pick_value(HeuristicId heuristic, const Legal& legal, Chooser& chooser);

/// The number of a name, upper and lower case as in the table. False: no heuristic has it.
bool heuristic_named(const char* name, HeuristicId* id);

class HeuristicPicker final : public Picker {
 public:
  HeuristicPicker(HeuristicId heuristic, Chooser& chooser) : heuristic_(heuristic), chooser_(chooser) {}
  u32 pick(const Legal& legal) override { return pick_value(heuristic_, legal, chooser_); }

 private:
  HeuristicId heuristic_;
  Chooser& chooser_;
};

}  // namespace duress::memory

#endif  // DURESS_MEMORY_HEURISTICS_H_
