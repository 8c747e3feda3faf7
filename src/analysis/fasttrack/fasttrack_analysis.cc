// SPDX-License-Identifier: Apache-2.0
#include "analysis/fasttrack/fasttrack_analysis.h"

namespace duress {

DURESS_DEFINE_ANALYSIS(FastTrackAnalysis, *context.fasttrack);

}  // namespace duress
