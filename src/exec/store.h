// SPDX-License-Identifier: Apache-2.0
//
// The findings that a folder `--dir` keeps, each with what is needed to replay it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exec/oracle.h"
#include "exec/plan.h"
#include "finding/failure.h"

namespace duress::exec {

/// A failure as <dir>/findings/F-12ab.json holds it.
struct StoredFinding {
  std::string id, failure, text, identity;
  std::string failure_id;  // when loaded: of the failure, in its longest form
  std::string file;        // where it happened, as shown; may be ""
  u32 line = 0, column = 0;
  std::vector<std::string> target;
  std::string folder;                    // it was run in
  std::vector<std::string> environment;  // NAME=VALUE that it was given beside ours
  std::string input;                     // file with its standard input; "": none
  std::string token;                     // or "@FILE"
  std::string strategy;
  u64 seed = 0;  // of the search
  u64 run = 0, switches = 0;
  OracleOptions oracle;
};

class Store {
 public:
  explicit Store(std::string dir) : dir_(std::move(dir)) {}

  /// Gives the failure an id that no other has here: longer if a different one took the short form.
  std::string free_id(const std::string& identity) const;
  /// Writes the finding, its trail file if the token is long, and a copy of its input; `finding.token` and
  /// `.input` then say what is to be printed. "" or what went wrong.
  std::string save(StoredFinding& finding);
  std::optional<StoredFinding> load(const std::string& id, std::string& error) const;

  const std::string& dir() const { return dir_; }

 private:
  std::string finding_path(const std::string& id) const { return dir_ + "/findings/" + id + ".json"; }

  std::string dir_;
};

/// Whether `text` has the shape of an id, "F-12ab".
bool is_failure_id(const std::string& text);

}  // namespace duress::exec
