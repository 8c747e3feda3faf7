// SPDX-License-Identifier: Apache-2.0
//
// A pinned finding as files: what was stored with everything it needs, a script that performs the test, and
// what CTest and CMake need to find it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "exec/store.h"

namespace duress::exec {

struct Pin {
  StoredFinding finding;
  std::string expect;  // passes, fails
  u64 runs = 20;
};

/// Writes all files of the pin into `folder`. "" or what went wrong.
std::string write_pin(const Pin& pin, const std::filesystem::path& folder);

/// Reads ID.json. Nothing: `error` says why.
std::optional<Pin> read_pin(const std::string& path, std::string& error);

/// `path` relative to `folder`, so that a copy of the project works too.
std::string seen_from(const std::filesystem::path& folder, const std::string& path);

}  // namespace duress::exec
