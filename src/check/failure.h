// SPDX-License-Identifier: Apache-2.0
//
// An execution of duress::check that failed: kept as a trail, minimised, reported, named by a token.
#pragma once

#include "base/text.h"
#include "duress/test_call.h"

namespace duress {

/// Turns check.request into a replay of the execution that just ran. False: its trail is too long to keep.
bool keep_trail();
/// Shortens the kept trail while the closure fails in the same way.
void minimise();
/// Executes the kept trail again with every step recorded, and writes the report. `found_in`: the number of
/// the execution that failed; 0: it was a replay.
void report_failure(DuressCheck& c, u64 found_in);

// ---- tokens (replay.cc)

/// The token of the kept trail. `learned`: with the sites that were found to be schedule points.
void write_token(Text& text, bool learned);
/// Executes c.token. True: the closure failed.
bool replay(DuressCheck& c);

}  // namespace duress
