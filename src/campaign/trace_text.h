// SPDX-License-Identifier: Apache-2.0
//
// `duress replay --trace`: an execution as a column per thread, a row per step.
#ifndef DURESS_CAMPAIGN_TRACE_TEXT_H_
#define DURESS_CAMPAIGN_TRACE_TEXT_H_

#include <string>

#include "campaign/evidence.h"
#include "campaign/names.h"

namespace duress::campaign {

/// "0x3" → "3"; large values stay hexadecimal: they are addresses or bit patterns.
std::string value_text(const std::string& text, u64 size);

/// `width`: columns of the terminal. With more threads than fit, a line per step that begins with its thread.
std::string trace_text(const RunLogs& logs, Names& names, std::size_t width);

}  // namespace duress::campaign

#endif  // DURESS_CAMPAIGN_TRACE_TEXT_H_
