// SPDX-License-Identifier: Apache-2.0
//
// Executions as Chrome's trace events, which ui.perfetto.dev and chrome://tracing open: a process per
// finding, a track per thread, a slice per event, flows for the arrows.
#pragma once

#include <string>

#include "report/stored_document.h"

namespace duress::report {

/// A controlled execution has an order and no time: one microsecond is one step.
std::string to_perfetto(const StoredDocument& document);

}  // namespace duress::report
