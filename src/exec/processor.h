// SPDX-License-Identifier: Apache-2.0
//
// A thread of the host and the process that it asks for one execution after the other take turns: on one
// processor the turn changes hands without waking an idle one (bench/explore, rollback: 1.4 times the runs).
#pragma once

namespace duress::exec {

/// The number, among the allowed ones, of the processor that the calling thread is on. -1: not known.
int own_processor();
/// The calling thread stays on the one with that number; -1: on any.
void share_processor(int number);
/// The calling thread may use all that the command may use, and so may processes and threads that it starts.
void use_all_processors();

}  // namespace duress::exec
