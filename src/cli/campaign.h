// SPDX-License-Identifier: Apache-2.0
//
// What classify, explore and verify do around their work: find the workers, the folder and the program's
// input; show progress; write the document; choose the exit code.
#pragma once

#include <optional>
#include <string>

#include "cli/campaign_options.h"
#include "cli/live_line.h"
#include "cluster/session.h"
#include "exec/work_folder.h"
#include "report/document.h"
#include "report/resolved_names.h"

namespace duress::cli {

/// A command calls begin(), works with what it filled in, then end() and finish().
class Campaign {
 public:
  Campaign(const char* command, const CampaignOptions& options);

  /// Completes `setup`. An exit code if the campaign cannot begin, after a message.
  std::optional<int> begin(const Arguments& arguments, exec::CampaignSetup& setup);
  /// No more executions are wanted. An exit code if they could not be performed, after a message.
  std::optional<int> end(const exec::WorkerProblem& problem);
  /// Writes the document; the exit code. `races_count`: a race alone may make it 66. `unfinished`: the time
  /// was over, or the user interrupted.
  int finish(const report::Document& document, bool races_count, bool unfinished);

  finding::Names& names() { return names_; }
  LiveLine& line() { return line_; }
  /// For that line: "" or ", 3 of 4 workers".
  std::string workers_text() { return cluster_.text(); }
  /// A document with its head filled in.
  report::Document document() const;
  /// Where a record belongs that only one process may open; "": where it always is.
  std::string record_dir() const { return cluster_.serves_other_command() ? work_->path() + "/record" : ""; }

 private:
  const char* command_;
  const CampaignOptions& options_;
  cluster::Session cluster_;
  std::optional<exec::WorkFolder> work_;
  std::shared_ptr<exec::RollbackStatistics> rollback_ = std::make_shared<exec::RollbackStatistics>();
  report::ResolvedNames names_;
  LiveLine line_;
};

}  // namespace duress::cli
