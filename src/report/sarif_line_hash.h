// SPDX-License-Identifier: Apache-2.0
//
// The fingerprint `primaryLocationLineHash` of SARIF files, by which code scanning services follow a finding
// while lines move: a rolling hash of the hundred characters from the beginning of a line on, without blanks,
// and how often it has come up in the file.
#pragma once

#include <cstdint>
#include <string>

namespace duress::report {

/// "" if the text has no such line.
std::string line_hash(const std::string& text, std::uint64_t line);
/// The same of a file; "" if it cannot be read.
std::string line_hash_of_file(const std::string& path, std::uint64_t line);

}  // namespace duress::report
