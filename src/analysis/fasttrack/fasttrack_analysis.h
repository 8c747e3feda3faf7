// SPDX-License-Identifier: Apache-2.0
//
// FastTrack as a tool of a chain. Behind it come the accesses that raced, so FastTrack:Velodrome and
// the like look at racy locations only.
#ifndef DURESS_ANALYSIS_FASTTRACK_FASTTRACK_ANALYSIS_H_
#define DURESS_ANALYSIS_FASTTRACK_FASTTRACK_ANALYSIS_H_

#include "analysis/analysis.h"
#include "analysis/fasttrack/fasttrack.h"

namespace duress {

class FastTrackAnalysis final : public Analysis {
 public:
  explicit FastTrackAnalysis(FastTrack& fasttrack) : fasttrack_(fasttrack) {}

  const char* name() const override { return "FastTrack"; }
  /// Atomic accesses were judged when they were performed, under the atomic's lock.
  Pass access(AnalysisThread& thread, const Access& access) override {
    if (is_atomic(access.kind)) return Pass::kKeep;
    if (access.kind == AccessKind::kFree) {
      bool freed_in_race = fasttrack_.freed(*thread.fasttrack, access.address, access.size, access.place);
      return freed_in_race ? Pass::kForward : Pass::kKeep;
    }
    bool raced = fasttrack_.access(*thread.fasttrack, access.address, access.size, is_write(access.kind),
                                   access.place);
    return raced ? Pass::kGive : Pass::kKeep;
  }

 private:
  FastTrack& fasttrack_;
};

}  // namespace duress

#endif  // DURESS_ANALYSIS_FASTTRACK_FASTTRACK_ANALYSIS_H_
