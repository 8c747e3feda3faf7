// SPDX-License-Identifier: Apache-2.0
//
// Which name a variable gets matters more than any other line of a report. The compiler's own name for
// the accessed thing (`Cache::size_`) beats the linker's (`cache`), which beats where the memory came
// from (`heap block of 40 bytes from make_node()`), which beats the pointer it was reached through (`*p`):
// the same block is `*p` here and `*q` there, and one race must have one name.
#pragma once

#include <string>
#include <vector>

#include "finding/finding.h"
#include "report/site_table.h"

namespace duress::report {

/// A site that accesses the variable.
struct NamingSite {
  const Site* site = nullptr;  // null: not known
  bool in_library = false;
};

struct VariableName {
  std::string text;
  std::string key;  // the same without what changes from run to run (addresses, sizes, lines)
};

/// The name of what lies at `address` in `block` and is accessed at `sites`, whatever their order.
VariableName variable_name(const std::vector<NamingSite>& sites, const finding::BlockReport& block,
                           finding::Address address);

}  // namespace duress::report
