// SPDX-License-Identifier: Apache-2.0
//
// What an exhaustive exploration found, as documents have it.
#pragma once

#include "report/document.h"
#include "verify/verifier.h"

namespace duress::verify {

/// Fills all but the head, the fixes and the memory orders of the document.
void fill_document(const VerifySetup& setup, const VerifyResult& result, finding::Names& names,
                   report::Document& document);

}  // namespace duress::verify
