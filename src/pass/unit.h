// SPDX-License-Identifier: Apache-2.0
//
// What the early and the late step share about one translation unit. Functions are known by name, not by
// address: optimisation replaces Function objects but keeps their names.
#pragma once

#include <memory>
#include <optional>

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Module.h"
#include "pass/hook_set.h"
#include "pass/site_table.h"
#include "pass/variable_namer.h"

namespace duress::pass {

inline constexpr char kFaithfulSuffix[] = ".duress.faithful";
inline constexpr char kExcludedSuffix[] = ".duress.excluded";
/// A faithful body that is all that is left of its function.
inline constexpr char kAloneSuffix[] = ".duress.alone";
inline constexpr char kCheckedSuffix[] = ".duress.checked";
/// On calls in faithful bodies until the late step: an unknown bundle keeps the optimiser from merging or
/// removing a call because of what it found out about the callee's plain body.
inline constexpr char kOpaqueBundle[] = "duress.opaque";

struct FunctionRecord {
  uint32_t index;
  bool has_faithful = false;
  bool optimised = true;       // not compiled with -O0
  std::optional<bool> hidden;  // faithful bodies do not name it (callees.h)
  /// Set while the function is disguised as external (see early_step.cc).
  bool disguised = false;
  llvm::GlobalValue::LinkageTypes linkage = llvm::GlobalValue::ExternalLinkage;  // in the source
  llvm::GlobalValue::VisibilityTypes visibility{};
};

struct Unit {
  explicit Unit(llvm::Module& m) : module(m), hooks(m), sites(m), namer(m) {}

  FunctionRecord& record(llvm::StringRef name) {
    auto [it, added] = functions.try_emplace(name);
    if (added) it->second.index = sites.add_function();
    return it->second;
  }

  /// The site of an access by `inst`.
  llvm::Constant* site(llvm::Instruction* inst, llvm::Value* address, DuressAccess access, uint64_t size,
                       uint32_t function_index, uint8_t flags) {
    Variable variable = address == nullptr ? Variable{} : namer.name(inst, address, size);
    return sites.add({inst->getFunction(), inst->getDebugLoc().get(), access, size, std::move(variable),
                      function_index, flags});
  }

  bool only_checked = false;  // no faithful bodies: -fduress=run
  llvm::Module& module;
  HookSet hooks;
  SiteTable sites;
  VariableNamer namer;
  llvm::StringMap<FunctionRecord> functions;
};

/// One per compilation, shared by the passes registered with one PassBuilder.
struct UnitHolder {
  std::unique_ptr<Unit> unit;
};

}  // namespace duress::pass
