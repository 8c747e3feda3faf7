// SPDX-License-Identifier: Apache-2.0
#ifndef DURESS_CLI_LISTING_H_
#define DURESS_CLI_LISTING_H_

#include <string>
#include <vector>

namespace duress::cli {

/// A program that is only asked for the names of its tests, as build systems do with a launcher before it, is
/// started directly, with nothing added to what it prints. Does not return then.
void pass_on_listing(const std::vector<std::string>& target);

}  // namespace duress::cli

#endif  // DURESS_CLI_LISTING_H_
