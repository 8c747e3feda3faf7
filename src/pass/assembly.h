// SPDX-License-Identifier: Apache-2.0
//
// Atomic operations that a program writes in inline assembly (spin locks, liburcu, libuv): their order is
// part of the program like that of std::atomic, and without it every access that they order looks like a
// race. Copies of functions tell the runtime before and after such a statement. What goes with them in C are
// volatile accesses, which release the lock or read the published pointer: in a unit with atomic assembly
// they are acquire loads and release stores, as the machine has them anyway.
#pragma once

#include "llvm/IR/Instructions.h"
#include "pass/atomics.h"
#include "pass/unit.h"

namespace duress::pass {

/// Assembly with an atomic instruction on memory that it names as an operand. Memory behind a pointer in a
/// register is not seen.
bool is_atomic_assembly(const llvm::Instruction& inst);

/// The function has atomic assembly, and all of it is seen.
bool has_only_seen_assembly(const llvm::Function& function);

/// Puts the hooks before and after each of the statements.
void announce_all(llvm::ArrayRef<llvm::CallInst*> calls, Unit& unit, uint32_t function_index,
                  uint8_t site_flags, const Around& around);

/// Early step: makes volatile accesses atomic if the module has assembly that is atomic or a fence.
void make_volatile_atomic(llvm::Module& module);

}  // namespace duress::pass
