// SPDX-License-Identifier: Apache-2.0
//
// From one form of a trace to another.
#pragma once

#include <cstdio>
#include <string>

#include "trace/trace_input.h"

namespace duress::trace {

/// Turns a trace into RAPID's text, and text into a trace. False if the file refuses.
bool convert(TraceInput& input, std::FILE* file);

/// Packs what a process wrote, chunk by chunk, with the text of its log. "" or what went wrong.
std::string pack(const std::string& raw_trace, const std::string& log, const std::string& output);

}  // namespace duress::trace
