// SPDX-License-Identifier: Apache-2.0
#include "exec/captured.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "exec/files.h"

namespace duress::exec {
namespace {

TEST(Captured, ProcessIdsAreMasked) {
  EXPECT_EQ(without_process_ids("a\n==12==ERROR: x==12==\n==9==\n==x==\n====\n==77"),
            "a\n==PID==ERROR: x==12==\n==PID==\n==x==\n====\n==77");
  EXPECT_EQ(without_process_ids("==1=="), "==PID==");
  EXPECT_EQ(without_process_ids(""), "");
}

TEST(Captured, LastErrorsDoNotDependOnTheProcessId) {
  Captured captured;
  captured.errors = testing::TempDir() + "last_errors" + std::to_string(getpid());
  auto last_of = [&](const std::string& text) {
    EXPECT_EQ(write_file(captured.errors, text), "");
    return last_errors(captured);
  };
  std::string filler;
  while (filler.size() < 4200) filler += std::to_string(filler.size()) + "\n";
  std::string expected = last_of("==9999==ERROR\n" + filler + "==9999==ABORTING\n");
  EXPECT_LE(expected.size(), 4096u);
  EXPECT_EQ(expected, last_of("==10000==ERROR\n" + filler + "==10000==ABORTING\n"));
  EXPECT_EQ(expected, last_of("==4194303==ERROR\n" + filler + "==4194303==ABORTING\n"));
  EXPECT_NE((filler + "==PID==ABORTING\n").find(expected), std::string::npos);
  EXPECT_EQ(last_of("x\n" + std::string(5000, 'y')), std::string(4096, 'y'));
  EXPECT_EQ(last_of("short\n"), "short\n");
  unlink(captured.errors.c_str());
  EXPECT_EQ(last_errors(captured), "");
}

}  // namespace
}  // namespace duress::exec
