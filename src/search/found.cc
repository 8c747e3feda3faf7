// SPDX-License-Identifier: Apache-2.0
#include "search/found.h"

#include <filesystem>

#include "exec/token_text.h"

namespace duress::search {

exec::StoredFinding stored_finding(const Found& found, const exec::Plan& plan,
                                   const exec::WorkerOptions& worker, const exec::OracleOptions& oracle,
                                   u64 seed) {
  exec::StoredFinding stored;
  stored.id = found.failure.id;
  stored.failure = found.failure.kind;
  stored.text = found.failure.text;
  stored.identity = found.failure.identity;
  stored.file = found.failure.place.file;
  stored.line = found.failure.place.line;
  stored.column = found.failure.place.column;
  stored.target = worker.target;
  std::error_code ignored;
  stored.folder = worker.start_in.empty() ? std::filesystem::current_path(ignored).string() : worker.start_in;
  stored.input = worker.input;
  stored.token = exec::make_token(plan, found.trail, worker.target[0]);
  stored.strategy = name_of(plan.head.strategy);
  stored.seed = seed;
  stored.run = found.run;
  stored.switches = found.switches;
  stored.oracle = oracle;
  return stored;
}

}  // namespace duress::search
