// SPDX-License-Identifier: Apache-2.0
//
// A `duress classify` process for each case of a test suite, several at a time, each with its document and
// its text in a file. A case that has finished is not run again by a command that goes on after an
// interruption; one that was cut off goes on by its own record.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "base/types.h"
#include "report/stored_document.h"
#include "suite/ctest_tests.h"

namespace duress::suite {

/// How a case came out. The names are those of the document.
enum class CaseOutcome {
  kPassed,           // classified; it has races or not
  kFails,            // it fails in every run, so its races are not judged
  kNotInstrumented,  // not built with duress-cc
  kNotBuilt,         // its program or a file that it needs is not there
  kDisabled,
  kExpectsFailure,  // WILL_FAIL: there is no telling what a failure is
  kError,           // classify could not do its work
  kOpen,            // interrupted, or out of time before its turn or end
};
const char* name_of(CaseOutcome outcome);

struct CaseResult {
  TestCase test_case;
  std::string folder;
  std::vector<std::string> environment;
  double timeout = 0;
  bool serial = false;
  CaseOutcome outcome = CaseOutcome::kOpen;
  std::string why;        // one line, where the outcome needs it
  report::Json document;  // of classify; null: there is none
  std::string text;       // what classify printed of races
};

struct Setup {
  std::string dir;                   // --dir as it was given
  std::vector<std::string> options;  // words for every classify
  std::string name;                  // all that must be the same for the command to go on
  u64 runs = 50;
  double seconds = 0;      // for everything; 0: no limit
  double run_seconds = 0;  // of one run; 0: what CTest says, or classify's default
  unsigned jobs = 1;
  bool one_by_one = false;  // no two cases at a time
};

struct Progress {
  std::size_t done = 0, all = 0, running = 0;
  double seconds = 0, left = 0;  // left 0: not known
  std::string name;              // a case that runs
};

class Campaign {
 public:
  using Listener = std::function<void(const Progress&)>;
  /// Called once for each case that has ended, in the order of the cases.
  using Ended = std::function<void(const CaseResult&)>;

  Campaign(Setup setup, std::vector<CaseResult> cases);

  /// "" or why it cannot begin.
  std::string open();
  std::size_t resumed() const { return resumed_; }
  void run(const std::atomic<bool>& stop, const Listener& listener, const Ended& ended);
  const std::vector<CaseResult>& cases() const { return cases_; }
  bool out_of_time() const { return out_of_time_; }
  double seconds() const;

 private:
  struct Running {
    pid_t pid;
    std::size_t index;
  };

  std::string path_of(std::size_t index, const char* suffix) const;
  bool start(std::size_t index, unsigned jobs, std::size_t open_cases);
  void finish(std::size_t index, int code);
  void report_ended(const Ended& ended);

  Setup setup_;
  std::vector<CaseResult> cases_;
  std::vector<Running> running_;
  bool interrupted_ = false;  // those that run were told to stop
  std::string folder_;        // of this campaign
  double started_ = 0;
  std::size_t reported_ = 0, resumed_ = 0, done_ = 0;
  std::vector<bool> ended_;
  bool out_of_time_ = false;
};

}  // namespace duress::suite
