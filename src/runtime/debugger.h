// SPDX-License-Identifier: Apache-2.0
//
// For a debugger that replays an execution (packaging/gdb/duress.py). Stopping at a step from outside would
// mean a breakpoint that is hit at every step, a thousand times slower; so the runtime counts, and calls an
// empty function where the debugger wants to stop. The debugger finds these symbols in every program, also in
// one without debug information, because hooks are exported.
#pragma once

#include "sched/scheduler.h"

extern "C" {
/// Where to stop: before the operation of `strand` at step `step` (numbers of a trace), or at the n-th change
/// of the running thread; 0: not so. Set by DURESS_OPTIONS, and by the debugger while the program is stopped.
extern volatile duress::u64 __duress_debugger_stop_step, __duress_debugger_stop_strand,
    __duress_debugger_stop_switch;
/// How often the running thread has changed, and which one runs.
extern volatile duress::u64 __duress_debugger_switches, __duress_debugger_strand;
/// Why it has stopped: 1 at the step, 2 at the switch, 3 the process is about to end with `code`.
extern volatile duress::u64 __duress_debugger_reason, __duress_debugger_code;
/// Does nothing; the place of a breakpoint.
void __duress_debugger_stop();
/// All threads as JSON: what each is about to do or waits for, and what it holds. For the debugger to call
/// while the program is stopped.
const char* __duress_debugger_threads();
}

namespace duress {

/// Reads where to stop from the options; false if no debugger runs this program.
bool debugger_begin();
/// The strand is about to perform a step.
void debugger_step(const sched::Strand& strand);
/// The process is about to end. Nothing without a debugger.
void debugger_ending(int code);

}  // namespace duress
