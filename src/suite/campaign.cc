// SPDX-License-Identifier: Apache-2.0
#include "suite/campaign.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/hash.h"
#include "exec/child.h"
#include "exec/clock.h"
#include "exec/files.h"
#include "exec/program.h"
#include "report/site_table.h"

namespace duress::suite {
namespace {

using exec::now;

namespace fs = std::filesystem;

/// The first line that duress wrote.
std::string first_message(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  return line.rfind("duress: ", 0) == 0 ? line.substr(8) : line;
}

/// Why the case cannot be classified, before anything is started.
void look_at(CaseResult& result) {
  if (result.outcome != CaseOutcome::kOpen || !result.why.empty()) return;
  if (report::SiteTable::load(result.test_case.command[0]).size() == 0) {
    result.outcome = CaseOutcome::kNotInstrumented;
    result.why = fmt::format("{} was not built with duress-cc or duress-c++", result.test_case.command[0]);
  }
}

}  // namespace

const char* name_of(CaseOutcome outcome) {
  static constexpr const char* kNames[] = {
      "passed", "fails", "not-instrumented", "not-built", "disabled", "expects-failure", "error", "open"};
  return kNames[static_cast<std::size_t>(outcome)];
}

Campaign::Campaign(Setup setup, std::vector<CaseResult> cases)
    : setup_(std::move(setup)), cases_(std::move(cases)), started_(now()), ended_(cases_.size()) {
  for (CaseResult& result : cases_) look_at(result);
}

double Campaign::seconds() const {
  return now() - started_;
}

std::string Campaign::path_of(std::size_t index, const char* suffix) const {
  const CaseResult& result = cases_[index];
  std::string key;
  for (const std::string& word : result.test_case.command) key += word + '\1';
  for (const std::string& variable : result.environment) key += variable + '\2';
  key += result.folder + '\3' + result.test_case.name + '\3' + exec::build_of(result.test_case.command[0]);
  return fmt::format("{}/{:016x}{}", folder_, hash_of(key), suffix);
}

std::string Campaign::open() {
  std::string dir = fs::absolute(setup_.dir).lexically_normal().string();
  folder_ = fmt::format("{}/tests/{:016x}", dir, hash_of(setup_.name));
  std::error_code ignored;
  // A campaign that came to its end makes room for the next one.
  if (!fs::exists(folder_ + "/open", ignored)) fs::remove_all(folder_, ignored);
  if (std::string error = exec::make_folder(folder_, dir); !error.empty()) return error;
  if (std::string error = exec::write_file(folder_ + "/open", ""); !error.empty()) return error;
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    if (cases_[i].outcome != CaseOutcome::kOpen) {
      ended_[i] = true;
      ++done_;
    } else if (std::optional<std::string> code = exec::read_file(path_of(i, ".code"))) {
      finish(i, std::atoi(code->c_str()));
      resumed_ += ended_[i] ? 1 : 0;
    }
  }
  return {};
}

bool Campaign::start(std::size_t index, unsigned jobs, std::size_t open_cases) {
  CaseResult& result = cases_[index];
  exec::ChildStart child;
  child.argv = {"/proc/self/exe",
                "classify",
                "--dir",
                setup_.dir,
                "--fail-on",
                "never",
                "--json=" + path_of(index, ".json"),
                "-j",
                std::to_string(jobs),
                "--runs",
                std::to_string(setup_.runs),
                "--test",
                result.test_case.name,
                "--in",
                result.folder};
  for (const std::string& variable : result.environment)
    child.argv.insert(child.argv.end(), {"--env", variable});
  child.argv.insert(child.argv.end(), setup_.options.begin(), setup_.options.end());
  double run_seconds = setup_.run_seconds > 0 ? setup_.run_seconds : std::clamp(result.timeout, 10.0, 300.0);
  child.argv.insert(child.argv.end(), {"--run-timeout", fmt::format("{}s", run_seconds)});
  if (setup_.seconds > 0) {
    double slots = std::max<double>(1, setup_.jobs / jobs);
    double share =
        (setup_.seconds - seconds()) * slots / static_cast<double>(std::max<std::size_t>(1, open_cases));
    child.argv.insert(child.argv.end(), {"--time", fmt::format("{:.1f}s", std::max(1.0, share))});
  }
  child.argv.emplace_back("--");
  child.argv.insert(child.argv.end(), result.test_case.command.begin(), result.test_case.command.end());
  child.output = path_of(index, ".out");
  child.errors = path_of(index, ".err");
  pid_t pid = exec::start_child(child);
  if (pid < 0) {
    result.outcome = CaseOutcome::kError;
    result.why = fmt::format("duress cannot start itself: {}", std::strerror(errno));
    ended_[index] = true;
    ++done_;
    return false;
  }
  running_.push_back({pid, index});
  return true;
}

void Campaign::finish(std::size_t index, int code) {
  CaseResult& result = cases_[index];
  std::string errors = exec::read_file(path_of(index, ".err")).value_or("");
  report::Json json =
      report::Json::parse(exec::read_file(path_of(index, ".json")).value_or(""), nullptr, false);
  bool good = code == 0 && json.is_object();
  std::string fails = report::text_at(json, "fails");
  if (good || (code == 124 && json.is_object())) {
    result.document = std::move(json);
    result.text = exec::read_file(path_of(index, ".out")).value_or("");
  }
  // It stays open. A child that gets the interrupt before it can handle it dies of it.
  if (code == 124 || (interrupted_ && !good)) return;
  if (good) {
    result.why = fails;
    result.outcome = result.why.empty() ? CaseOutcome::kPassed : CaseOutcome::kFails;
  } else {
    result.outcome = CaseOutcome::kError;
    result.why =
        errors.empty() ? fmt::format("duress classify ended with code {}", code) : first_message(errors);
  }
  ended_[index] = true;
  ++done_;
}

void Campaign::report_ended(const Ended& ended) {
  for (; reported_ < cases_.size() && ended_[reported_]; ++reported_) ended(cases_[reported_]);
}

void Campaign::run(const std::atomic<bool>& stop, const Listener& listener, const Ended& ended) {
  std::size_t next = 0;
  double begun = seconds();
  std::size_t before = done_;
  while (true) {
    bool over = setup_.seconds > 0 && seconds() > setup_.seconds;
    bool quit = stop || over;
    while (next < cases_.size() && (ended_[next] || quit)) ++next;
    bool alone = !running_.empty() && (setup_.one_by_one || cases_[running_.back().index].serial);
    std::size_t open_cases = static_cast<std::size_t>(std::count(ended_.begin(), ended_.end(), false));
    // Few cases share the processors, many have one each.
    unsigned slots = static_cast<unsigned>(std::clamp<std::size_t>(open_cases, 1, setup_.jobs));
    bool room = !alone && running_.size() < slots &&
                (running_.empty() || next >= cases_.size() || !cases_[next].serial);
    if (next < cases_.size() && room) {
      start(next, cases_[next].serial ? 1 : std::max(1u, setup_.jobs / slots), open_cases - running_.size());
      ++next;
      report_ended(ended);
      continue;
    }
    if (running_.empty() && next >= cases_.size()) break;
    if (quit && !interrupted_) {
      for (const Running& one : running_) kill(one.pid, SIGINT);
      interrupted_ = true;
    }
    for (std::size_t i = 0; i < running_.size();) {
      int code = exec::child_code(running_[i].pid, false);
      if (code < 0) {
        ++i;
        continue;
      }
      std::size_t index = running_[i].index;
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
      finish(index, code);
      if (ended_[index]) exec::write_file(path_of(index, ".code"), std::to_string(code));
    }
    report_ended(ended);
    Progress progress;
    progress.done = done_, progress.all = cases_.size(), progress.running = running_.size();
    progress.seconds = seconds();
    if (done_ > before)
      progress.left = (seconds() - begun) / static_cast<double>(done_ - before) *
                      static_cast<double>(cases_.size() - done_);
    if (!running_.empty()) progress.name = cases_[running_.front().index].test_case.name;
    listener(progress);
    usleep(5000);
  }
  // Cases that were cut off are reported too, in their place.
  for (; reported_ < cases_.size(); ++reported_) ended(cases_[reported_]);
  bool complete = std::all_of(ended_.begin(), ended_.end(), [](bool one) { return one; });
  out_of_time_ = !complete && !stop;
  if (complete) unlink((folder_ + "/open").c_str());
}

}  // namespace duress::suite
