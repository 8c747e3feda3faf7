// SPDX-License-Identifier: Apache-2.0
//
// Which memory orders a program needs: each atomic operation and fence is given weaker orders, one at a time,
// and all executions under rc11 are explored again as if the source had them (trail/what_if.h). Nothing is
// rebuilt.
#ifndef DURESS_REPAIR_WEAKEN_H_
#define DURESS_REPAIR_WEAKEN_H_

#include "report/document.h"
#include "verify/verifier.h"

namespace duress::repair {

/// The result for one operation of the source.
struct Weakened {
  finding::Frame place;
  trail::AtomicKind kind = trail::AtomicKind::kLoad;
  u32 order = 0;       // as in the source
  u32 sufficient = 0;  // the weakest with which nothing was found
  std::string found;   // with the next weaker one; "": there is none
  u64 executions = 0;  // with `sufficient`
  bool bounded = false;
  bool needed() const { return sufficient == order; }
};

/// REQUIRES: `base` is what exploring with setup.profile_atomics gave, complete and with nothing found.
std::vector<Weakened> weaken(const verify::VerifySetup& setup, const verify::VerifyResult& base,
                             finding::Names& names, const std::atomic<bool>& stop,
                             const std::function<void(const Weakened& one)>& tell);

/// As documents have it.
report::OrderEntry order_entry(const Weakened& one);

}  // namespace duress::repair

#endif  // DURESS_REPAIR_WEAKEN_H_
