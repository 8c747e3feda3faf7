// SPDX-License-Identifier: Apache-2.0
//
// A record could hold every step of every witness; a replay gives the same, costs some milliseconds, and
// needs no room. What it costs is that the program must still be there, unchanged: else the report says so.
#include "cli/report_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/commands.h"
#include "exec/oracle.h"
#include "exec/single_run.h"
#include "exec/store.h"
#include "exec/token_text.h"
#include "exec/work_folder.h"
#include "report/lanes.h"
#include "report/resolved_names.h"

namespace duress::cli {
namespace {

namespace fs = std::filesystem;
using report::Json;

class LaneReplay {
 public:
  LaneReplay(report::StoredDocument& document, const std::string& dir)
      : document_(document), store_(fs::absolute(dir).lexically_normal().string()), work_(store_.dir()) {
    for (const Json& word : report::list_at(document.json, "target"))
      target_.push_back(word.is_string() ? word.get<std::string>() : "");
  }

  void add(const Json& finding) {
    std::string id = report::text_at(finding, "id"), token = report::token_of(finding);
    if (token.empty() || document_.lanes_of.count(id) != 0) return;
    auto known = by_token_.find(token);
    if (known == by_token_.end()) {
      std::string problem;
      bool by_verify = !report::text_at(finding, "replay").empty() && id.rfind("R-", 0) == 0;
      finding::Lanes lanes = replay(id, token, by_verify, has_no_end(finding), problem);
      known = by_token_.emplace(token, Known{document_.lanes.size(), problem}).first;
      if (problem.empty()) document_.lanes.push_back(std::move(lanes));
    }
    if (known->second.problem.empty())
      document_.lanes_of[id] = known->second.index;
    else
      document_.lanes_lack[id] = "The interleaving is not there: " + known->second.problem;
  }

 private:
  struct Known {
    std::size_t index;
    std::string problem;
  };

  static bool has_no_end(const Json& finding) {
    const Json& evidence = report::object_at(finding, "evidence");
    return report::text_at(finding, "failure") == "no-end" ||
           report::text_at(evidence, "failure") == "no-end";
  }

  finding::Lanes replay(const std::string& id, const std::string& text, bool by_verify, bool no_end,
                        std::string& problem) {
    if (!work_.error().empty() || target_.empty()) {
      problem = target_.empty() ? "no program is named" : work_.error();
      return {};
    }
    exec::SingleRunOptions options;
    exec::OracleOptions expectations;
    options.target = target_;
    options.folder = work_.path();
    options.pass_on = false;
    std::error_code ignored;
    if (document_.folder != fs::current_path(ignored).string()) options.start_in = document_.folder;
    std::string token = text, error;
    if (exec::is_failure_id(id)) {
      if (std::optional<exec::StoredFinding> stored = store_.load(id, error);
          stored && stored->token == text) {
        options.target = stored->target;
        options.input = stored->input;
        options.start_in = stored->folder;
        expectations = stored->oracle;
      }
    }
    exec::TokenText read = exec::read_token_text(token);
    problem = read.error;
    if (problem.empty()) problem = exec::check_token_program(read, options.target[0]);
    if (!problem.empty()) return {};
    read.plan.head.trace = true;
    // An execution of verify stops at synchronisation only. If nobody is switched there, stopping at every
    // access makes no difference but shows the accesses.
    if (read.plan.trail.empty() && by_verify) read.plan.head.points = trail::Points::kAll;
    exec::SingleRun single(options);
    exec::Oracle oracle(expectations, options.target[0]);
    problem = oracle.load();
    if (problem.empty()) problem = single.prepare(read.plan);
    if (!problem.empty()) return {};
    if (no_end) read.plan.head.trace_from = begin_of_end(single, read.plan, oracle);
    exec::Result result = run_traced(single, read.plan, oracle);
    if (!result.usable()) {
      problem = result.why().text;
      return {};
    }
    std::optional<finding::Failure> failure;
    if (result.failure() != nullptr) failure = *result.failure();
    if (failure) identify(*failure, result.logs(), names_);
    const exec::Execution* execution = &result.execution();
    finding::Lanes lanes = report::lanes_of(result.logs(), execution->record, failure, names_);
    lanes.skipped += read.plan.head.trace_from;
    if (lanes.events.empty()) problem = "the program wrote no trace";
    if (execution->record.diverged != 0)
      lanes.note +=
          std::string(lanes.note.empty() ? "" : "; ") +
          "the replay went another way than the recorded execution: the program or its input is not "
          "what it was";
    return lanes;
  }

  /// A run without end has millions of steps, of which the last ones are shown. So it is run once for their
  /// number: writing down and reading all of them takes ten seconds.
  static u64 begin_of_end(exec::SingleRun& single, exec::Plan plan, exec::Oracle& oracle) {
    plan.head.trace = false;
    exec::Result result = single.run(plan, oracle);
    if (!result.usable()) return 0;
    const u64 steps = result.execution().record.steps;
    return steps > report::kLookedAt ? steps - report::kLookedAt : 0;
  }

  /// With the plain accesses that are no steps, if there are not too many and nothing else changes.
  exec::Result run_traced(exec::SingleRun& single, exec::Plan plan, exec::Oracle& oracle) {
    plan.head.trace_plain = !plan.head.systematic && plan.head.points != trail::Points::kAll;
    if (plan.head.trace_plain) {
      exec::Result result = single.run(plan, oracle);
      if (result.usable() && result.execution().record.diverged == 0 && result.failure() != nullptr) {
        const std::vector<finding::Step>& steps = result.logs().steps;
        auto plain =
            std::count_if(steps.begin(), steps.end(), [](const finding::Step& s) { return s.plain; });
        if (plain < static_cast<std::ptrdiff_t>(trail::kMostPlain)) return result;
      }
    }
    plan.head.trace_plain = false;
    return single.run(plan, oracle);
  }

  report::StoredDocument& document_;
  exec::Store store_;
  exec::WorkFolder work_;
  report::ResolvedNames names_;
  std::vector<std::string> target_;
  std::map<std::string, Known> by_token_;
};

}  // namespace

void add_lanes(report::StoredDocument& document, const std::string& dir) {
  LaneReplay replay(document, dir);
  for (const char* list : {"races", "failures"}) {
    for (const Json& finding : report::list_at(document.json, list)) replay.add(finding);
  }
}

}  // namespace duress::cli
