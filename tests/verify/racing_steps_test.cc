// SPDX-License-Identifier: Apache-2.0
//
// Racing accesses are steps: failures that they cause are found and replayed, by exhaustive exploration and by
// the search that is not exhaustive.
#include <algorithm>
#include <mutex>
#include <string>

#include "racing_closures.h"

namespace {

int global;
bool flag;
__int128 wide;

bool fails(const Body& closure, const std::string& what) {
  duress::CheckResult result = all(closure);
  duress::CheckOptions quiet;
  quiet.quiet = true;
  duress::CheckResult again = duress::replay(closure, result.token, quiet);
  bool good = !result.passed && has(result.failure, what) && again.failure == result.failure;
  if (!good) printf("%s\n%s\n%s\n", result.failure.c_str(), result.report.c_str(), again.failure.c_str());
  return good;
}

TEST(RacingSteps, ALostUpdate) {
  EXPECT_TRUE(fails(
      [] {
        int counter = 0;
        together([&] { ++counter; }, [&] { ++counter; });
        if (counter != 2) throw std::runtime_error("lost");
      },
      "lost"));
}

TEST(RacingSteps, AWideValueTears) {
  EXPECT_TRUE(fails(
      [] {
        __int128 seen = 0, both = (static_cast<__int128>(1) << 64) + 1;
        wide = 0;
        together([&] { wide = both; }, [&] { seen = wide; });
        if (seen != 0 && seen != both) throw std::runtime_error("torn");
      },
      "torn"));
}

TEST(RacingSteps, ASecondRaceBehindTheFirst) {
  static int first, second;
  EXPECT_TRUE(fails(
      [] {
        first = second = 0;
        bool both = false;
        together([] { first = 1; },
                 [] {
                   if (first == 1) second = 1;
                 },
                 [&] { both = second == 1; });
        if (both) throw std::runtime_error("seen");
      },
      "seen"));
}

TEST(RacingSteps, AlsoIfRacesAreLeftAlone) {
  duress::CheckOptions options;
  options.exhaustive = options.quiet = true;
  options.races = false;
  duress::CheckResult result = duress::check(
      [] {
        int counter = 0;
        together([&] { ++counter; }, [&] { ++counter; });
        if (counter != 2) throw std::runtime_error("lost");
      },
      options);
  EXPECT_TRUE(!result.passed && has(result.failure, "lost"));
}

TEST(RacingSteps, AllInterleavingsOfThem) {
  int highest = 0, lowest = 9;
  duress::CheckResult result = all([&] {
    global = 0;
    auto body = [] {
      ++global;
      ++global;
    };
    together(body, body);
    highest = std::max(highest, global);
    lowest = std::min(lowest, global);
  });
  EXPECT_TRUE(!result.passed && result.complete && has(result.failure, "data race on global"));
  EXPECT_EQ(lowest, 2);
  EXPECT_EQ(highest, 4);
}

TEST(Search, FindsARaceThatDoesNoHarm) {
  duress::CheckOptions options;
  options.quiet = true;
  options.runs = 50;
  auto closure = [] { together([] { flag = true; }, [] { flag = true; }); };
  duress::CheckResult result = duress::check(closure, options);
  EXPECT_FALSE(result.passed);
  EXPECT_TRUE(has(result.failure, "data race on flag: racing_steps_test.cc:"));
  duress::CheckResult again = duress::replay(closure, result.token, options);
  EXPECT_TRUE(again.failure == result.failure);
  options.races = false;
  EXPECT_TRUE(duress::check(closure, options).passed);
}

TEST(Search, HarmIsToldInstead) {
  duress::CheckOptions options;
  options.quiet = true;
  duress::CheckResult result = duress::check(
      [] {
        int counter = 0;
        together([&] { ++counter; }, [&] { ++counter; });
        if (counter != 2) throw std::runtime_error("lost");
      },
      options);
  EXPECT_TRUE(has(result.failure, "lost"));
  EXPECT_TRUE(has(result.report, "and a data race on counter: "));
}

TEST(Search, PassesWithoutRaces) {
  duress::CheckOptions options;
  options.quiet = true;
  options.runs = 200;
  duress::CheckResult result = duress::check(
      [] {
        std::mutex m;
        int counter = 0;
        auto body = [&] {
          std::lock_guard guard(m);
          ++counter;
        };
        together(body, body);
      },
      options);
  if (!result.passed) printf("%s\n", result.report.c_str());
  EXPECT_TRUE(result.passed);
  EXPECT_EQ(result.executions, 200);
}

}  // namespace

int main(int count, char** suites) {
  return small_test::run(count, suites);
}
