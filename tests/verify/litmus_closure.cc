// SPDX-License-Identifier: Apache-2.0
//
// The litmus tests of its arguments (litmus.h), each with duress::check under sc and rc11, for litmus.py: for
// each a line with the number of executions, "complete" or what bounds it, and the outcomes.
#include <duress/test.h>

#include <cstdio>
#include <set>

#include "litmus.h"

int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    for (const char* model : {"sc", "rc11"}) {
      std::set<std::string> outcomes;
      duress::CheckOptions options;
      options.exhaustive = true;
      options.model = model;
      duress::CheckResult result = duress::check(
          [&] {
            for (std::atomic<int>& value : litmus::memory) value.store(0, std::memory_order_relaxed);
            outcomes.insert(litmus::run(arguments[i]));
          },
          options);
      std::string bound = result.complete ? "complete" : result.failure + result.bound;
      std::printf("%llu;%s;", static_cast<unsigned long long>(result.executions), bound.c_str());
      for (const std::string& outcome : outcomes) std::printf("%s ", outcome.c_str());
      std::printf("\n");
    }
  }
}
