// SPDX-License-Identifier: Apache-2.0
#ifndef DURESS_FINDING_STABLE_NAME_H_
#define DURESS_FINDING_STABLE_NAME_H_

#include <string>

namespace duress::finding {

/// A function's name without the numbers that compilers give to lambdas: they count over the whole file, so
/// one more lambda elsewhere would change them.
std::string stable_name(const std::string& function);

}  // namespace duress::finding

#endif  // DURESS_FINDING_STABLE_NAME_H_
