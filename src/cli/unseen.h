// SPDX-License-Identifier: Apache-2.0
//
// Code that is not instrumented, as `duress run` treats it: the runtime is preloaded into a program that is
// not, for the instrumented libraries that it may load; and what unseen locks may order is unconfirmed.
#pragma once

#include <string>

#include "finding/log_record.h"
#include "report/document.h"

namespace duress::cli {

/// The library to preload into the program; "": none.
std::string preload_for(const std::string& program);

/// Takes out processes into which the runtime was preloaded although nothing in them is instrumented.
void drop_unwatched(finding::RunLog& log);

/// Says which functions of the program have atomic instructions that are not seen, and marks its races as
/// unconfirmed: whether their threads were in such a function between the accesses is not known.
void mark_unseen(const std::string& program, report::Document& document);

}  // namespace duress::cli
