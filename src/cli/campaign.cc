// SPDX-License-Identifier: Apache-2.0
#include "cli/campaign.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/error_stream.h"
#include "cli/gate.h"
#include "cli/report_files.h"
#include "cli/stop.h"
#include "exec/clock.h"
#include "exec/session.h"

namespace duress::cli {

Campaign::Campaign(const char* command, const CampaignOptions& options)
    : command_(command), options_(options), line_(options.quiet || !options.prints()) {}

std::optional<int> Campaign::begin(const Arguments& arguments, exec::CampaignSetup& setup) {
  auto tell = [](const std::string& text) {  // the session's thread calls it
    if (isatty(STDERR_FILENO) != 0) write_errors("\r\033[K");
    say(text);
  };
  bool silent = options_.quiet || !options_.prints();
  cluster::Job job{command_, arguments, options_.target, setup.dir, silent, tell};
  if (auto end = cluster_.begin(options_.cluster, job, stop_asked)) {
    if (end->code == kExitWrongUse) return wrong_use(command_, end->text);
    say(end->text);
    return end->code;
  }
  work_.emplace(cluster_.work_dir(setup.dir));
  if (!work_->error().empty()) {
    say(work_->error());
    return kExitToolFailed;
  }
  if (setup.seconds > 0) setup.deadline = exec::now() + setup.seconds;
  setup.worker.folder = work_->path();
  setup.worker.rollback_statistics = rollback_;
  setup.worker.target = options_.target;
  setup.worker.input = cluster_.input(exec::keep_input(work_->path() + "/stdin"));
  cluster_.use(setup.worker, setup.jobs);
  catch_signals();
  options_.lines->start(command_, options_.seed, options_.target);
  return std::nullopt;
}

std::optional<int> Campaign::end(const exec::WorkerProblem& problem) {
  bool good = problem.kind == exec::WorkerProblem::Kind::kNone;
  line_.clear();
  cluster_.end(good && !stop_asked);
  if (std::string text = rollback_->warning(); !text.empty()) say(text);
  if (options_.verbose && options_.prints()) say(rollback_->text());
  if (good) return std::nullopt;
  say(worker_problem_text(options_.target[0], problem));
  return kExitToolFailed;
}

int Campaign::finish(const report::Document& document, bool races_count, bool unfinished) {
  if (!options_.write(document, options_.dir)) return kExitToolFailed;
  if (fails(options_.fail_on, options_.known, document, races_count)) return kExitFindings;
  return unfinished ? kExitOutOfTime : kExitOk;
}

report::Document Campaign::document() const {
  return new_document(command_, options_.seed, options_.target);
}

}  // namespace duress::cli
