// SPDX-License-Identifier: Apache-2.0
//
// Source files changed by duress-rewrite (src/rewrite), a program of its own with clang's libraries.
#pragma once

#include <string>
#include <vector>

#include "finding/finding.h"
#include "repair/source_edit.h"

namespace duress::repair {

/// What it is asked for: rewrite/request.h.
struct SourceChange {
  std::string kind;   // "atomic", "lock", "new-lock", "join", "publish"
  std::string mutex;  // of "lock"
  struct Place {
    finding::Frame frame;
    std::string name;  // of the variable, as reports have it
    bool operator<(const Place& other) const;
  };
  std::vector<Place> places, threads;
};

/// The changed files; empty: `error` says why.
std::vector<FileEdit> rewrite(const std::string& program, const SourceChange& change, std::string& error);

/// "Account::balance" and "table[]" have the names "balance" and "table" in the source; "": it has none.
std::string name_in_source(const std::string& variable);

}  // namespace duress::repair
