// SPDX-License-Identifier: Apache-2.0
//
// What a campaign knows of a variable, as documents have it.
#pragma once

#include <string>

#include "classify/verdict.h"
#include "report/judgement.h"

namespace duress::classify {

/// `token`: of the variable's witness; "" if it has none.
report::Judgement judgement_of(const Variable& variable, const Verdict& verdict, const std::string& token);

}  // namespace duress::classify
