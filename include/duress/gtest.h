// SPDX-License-Identifier: Apache-2.0
//
// GoogleTest and duress::check together: a schedule under which an EXPECT or ASSERT of the closure fails is
// one failure of the test, with its interleaving, however often it was run again to shorten it. In place of,
// or beside, <gtest/gtest.h>; in any order.
#ifndef DURESS_GTEST_H_
#define DURESS_GTEST_H_

#include <duress/test.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace duress::internal {

/// While it lives, failures of assertions are kept here.
class GoogleTestFailures {
 public:
  GoogleTestFailures()
      : reporter_(::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS, &results_) {}

  bool failed() {
    bool any = false;
    for (; seen_ < results_.size(); ++seen_) {
      const ::testing::TestPartResult& result = results_.GetTestPartResult(seen_);
      if (!result.failed()) continue;
      any = true;
      message_ = std::string(result.file_name() ? result.file_name() : "") + ":" +
                 std::to_string(result.line_number()) + ": " + result.message();
    }
    return any;
  }
  const std::string& message() const { return message_; }

  static std::unique_ptr<GoogleTestFailures>& current() {
    static std::unique_ptr<GoogleTestFailures> failures;
    return failures;
  }

 private:
  ::testing::TestPartResultArray results_;
  ::testing::ScopedFakeTestPartResultReporter reporter_;
  int seen_ = 0;
  std::string message_;
};

inline Framework google_test() {
  Framework f;
  f.begin = [] { GoogleTestFailures::current() = std::make_unique<GoogleTestFailures>(); };
  f.failed = [] { return GoogleTestFailures::current()->failed(); };
  f.end = [](std::string* message) {
    *message = GoogleTestFailures::current()->message();
    GoogleTestFailures::current().reset();
  };
  f.tell = [](const CheckResult& result, const char* file, int line) {
    if (!result.passed) ADD_FAILURE_AT(file, line) << result.failure << "\n" << result.report;
  };
  return f;
}

inline const bool google_test_is_used = (framework = google_test(), true);

}  // namespace duress::internal

#endif  // DURESS_GTEST_H_
