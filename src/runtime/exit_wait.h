// SPDX-License-Identifier: Apache-2.0
//
// A program that returns from main without joining its threads ends before they have run, and their races are
// not seen. So the end of a free-running program waits for them: until all have ended, or none can go on, or
// the time of the option exit_wait is over.
#pragma once

namespace duress {

/// Before exit() does its work.
void wait_for_other_threads();

}  // namespace duress
