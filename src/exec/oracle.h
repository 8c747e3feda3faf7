// SPDX-License-Identifier: Apache-2.0
//
// Did this run fail, and how?
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "exec/captured.h"
#include "exec/plan.h"
#include "finding/failure.h"
#include "finding/run_logs.h"

namespace duress::exec {

struct OracleOptions {
  int expect_exit = 0;
  std::string check;               // a shell command that reads the output on stdin; "": none
  std::string expected_output;     // a file to compare the output with; "": none
  std::uint64_t wrong_output = 0;  // hash of an output that is known to be wrong; 0: none
};

/// Threads: any.
class Oracle {
 public:
  /// `program`: its path. An exit code and a run without end have no place; their ids are told apart by it.
  Oracle(OracleOptions options, const std::string& program)
      : options_(std::move(options)), program_(std::filesystem::path(program).filename()) {}

  /// "" or why the expectations cannot be used (a file that is not there).
  std::string load();

  /// Sets `failure`, without place and id (see identify()), or leaves it empty if all is well. "" or why it
  /// cannot tell: then nothing may be concluded. kStopped: `stop` turned true while --check ran.
  std::string judge(const Execution& execution, const Captured& captured,
                    std::optional<finding::Failure>& failure, const std::atomic<bool>* stop = nullptr) const;
  static constexpr const char* kStopped = "stopped";

 private:
  std::string judge_output(const Captured& captured, std::optional<finding::Failure>& failure,
                           const std::atomic<bool>* stop) const;
  std::string run_check(const Captured& captured, std::optional<finding::Failure>& failure,
                        const std::atomic<bool>* stop) const;

  OracleOptions options_;
  std::string program_;
  std::string expected_;
};

/// What the text on stderr says of a failure: an assertion, an uncaught exception, a sanitizer's report.
std::optional<finding::Failure> sanitizer_report(const std::string& errors);
std::optional<finding::Failure> last_words(const std::string& errors);

/// "SIGSEGV" for 11.
std::string signal_name(int signal);

}  // namespace duress::exec
