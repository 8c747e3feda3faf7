// SPDX-License-Identifier: Apache-2.0
#include "exec/oracle.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>

#include "exec/files.h"
#include "exec/testing/folder_test.h"

namespace duress::exec {
namespace {

class OracleTest : public testing::FolderTest {
 protected:
  void SetUp() override {
    captured_ = {folder_ + "/out", folder_ + "/err"};
    print("", "");
  }
  void print(const std::string& output, const std::string& errors) {
    write_file(captured_.output, output);
    write_file(captured_.errors, errors);
    execution_.output_bytes = output.size();
    execution_.error_bytes = errors.size();
  }
  std::string judged(const OracleOptions& options = {}) {
    Oracle oracle(options, "/p/bank");
    EXPECT_EQ(oracle.load(), "");
    std::optional<finding::Failure> failure;
    why_ = oracle.judge(execution_, captured_, failure);
    if (!why_.empty()) EXPECT_FALSE(failure) << why_;
    text_ = failure ? failure->text : "";
    detail_ = failure ? failure->detail : "";
    place_ = failure ? failure->place : finding::Frame{};
    return failure ? failure->kind : "";
  }
  static int exit_status(int code) { return code << 8; }

  Captured captured_;
  Execution execution_;
  std::string why_, text_, detail_;
  finding::Frame place_;
};

TEST_F(OracleTest, ExitCodes) {
  EXPECT_EQ(judged(), "");
  execution_.status = exit_status(3);
  EXPECT_EQ(judged(), "exit:3");
  EXPECT_EQ(detail_, "bank");  // so that exit codes of different programs have different ids
  EXPECT_EQ(judged({.expect_exit = 3, .check = "", .expected_output = ""}), "");
  execution_.status = exit_status(0);
  EXPECT_EQ(judged({.expect_exit = 3, .check = "", .expected_output = ""}), "exit:0");
}

TEST_F(OracleTest, Signals) {
  execution_.status = SIGSEGV;
  EXPECT_EQ(judged(), "signal:SIGSEGV");
  execution_.status = SIGABRT;
  EXPECT_EQ(judged(), "signal:SIGABRT");
  execution_.status = SIGFPE | 0x80;  // with a core
  EXPECT_EQ(judged(), "signal:SIGFPE");
}

TEST_F(OracleTest, Assertions) {
  execution_.status = SIGABRT;
  print("", "hello\nprog: src/a b.cc:12: void f(int): Assertion `x == 2 && \"it's so\"' failed.\n");
  EXPECT_EQ(judged(), "assertion");
  EXPECT_EQ(detail_, "x == 2 && \"it's so\"");
  EXPECT_EQ(place_.file, "src/a b.cc");
  EXPECT_EQ(place_.line, 12u);
  execution_.status = 0;  // only printed
  EXPECT_EQ(judged(), "");
}

TEST_F(OracleTest, Exceptions) {
  execution_.status = SIGABRT;
  print("",
        "terminate called after throwing an instance of 'std::runtime_error'\n  what():  no more of it\n");
  EXPECT_EQ(judged(), "exception:std::runtime_error");
  EXPECT_EQ(text_, "uncaught exception std::runtime_error: no more of it");
  print("", "terminate called after throwing an instance of 'int'\n");
  EXPECT_EQ(judged(), "exception:int");
  print("", "libc++abi: terminating due to uncaught exception of type std::logic_error: bad\n");
  EXPECT_EQ(judged(), "exception:std::logic_error");
  print("", "terminate called without an active exception\n");
  EXPECT_EQ(judged(), "exception:std::terminate");
}

TEST_F(OracleTest, Sanitizers) {
  execution_.status = exit_status(1);
  print("", "==17==ERROR: AddressSanitizer: heap-use-after-free on address 0x60 at pc 0x1\n");
  EXPECT_EQ(judged(), "sanitizer:AddressSanitizer");
  EXPECT_EQ(detail_, "heap-use-after-free");
  execution_.status = 0;  // UndefinedBehaviorSanitizer goes on
  print("", "src/a.cc:3:14: runtime error: signed integer overflow: 2147483647 + 1 cannot be represented\n");
  EXPECT_EQ(judged(), "sanitizer:UndefinedBehaviorSanitizer");
  EXPECT_EQ(place_.line, 3u);
  print("", "a runtime error: of the program's own\n");
  EXPECT_EQ(judged(), "");
}

TEST_F(OracleTest, TheSchedulersWordComesFirst) {
  execution_.status = exit_status(66);
  execution_.record.outcome = trail::Outcome::kDeadlock;
  EXPECT_EQ(judged(), "deadlock");
  for (trail::Outcome outcome :
       {trail::Outcome::kLivelock, trail::Outcome::kStepLimit, trail::Outcome::kStuck}) {
    execution_.record.outcome = outcome;
    EXPECT_EQ(judged(), "no-end");
  }
  execution_.record.outcome = trail::Outcome::kRunning;
  execution_.status = SIGKILL;
  execution_.timed_out = true;
  EXPECT_EQ(judged(), "no-end");
  EXPECT_EQ(detail_, "timeout bank");
}

TEST_F(OracleTest, Output) {
  print("a\nb\n", "");
  write_file(folder_ + "/good", "a\nb\n");
  write_file(folder_ + "/bad", "a\nc\n");
  EXPECT_EQ(judged({.expect_exit = 0, .check = "", .expected_output = folder_ + "/good"}), "");
  EXPECT_EQ(judged({.expect_exit = 0, .check = "", .expected_output = folder_ + "/bad"}), "output");
  EXPECT_NE(text_.find("line 2"), std::string::npos) << text_;
  EXPECT_NE(Oracle({.expect_exit = 0, .check = "", .expected_output = folder_ + "/none"}, "").load(), "");
}

TEST_F(OracleTest, CheckCommand) {
  print("a\nb\n", "");
  EXPECT_EQ(judged({.expect_exit = 0, .check = "grep -q b", .expected_output = ""}), "");
  EXPECT_EQ(judged({.expect_exit = 0, .check = "echo no such line; ! grep -q b", .expected_output = ""}),
            "check");
  EXPECT_EQ(text_, "rejected by --check: no such line");
}

TEST_F(OracleTest, WhatCannotBeJudgedIsNoFailure) {
  print("a\n", "");
  judged({.expect_exit = 0, .check = "no-such-command-at-all", .expected_output = ""});
  EXPECT_NE(why_.find("could not be run"), std::string::npos) << why_;
  judged({.expect_exit = 0, .check = "kill -9 $$", .expected_output = ""});
  EXPECT_NE(why_.find("SIGKILL"), std::string::npos) << why_;
  write_file(folder_ + "/good", "a\n");
  std::filesystem::remove(captured_.output);
  judged({.expect_exit = 0, .check = "", .expected_output = folder_ + "/good"});
  EXPECT_NE(why_.find("cannot read"), std::string::npos) << why_;
  execution_.error_bytes = 1;
  std::filesystem::remove(captured_.errors);
  judged();
  EXPECT_NE(why_.find("cannot read"), std::string::npos) << why_;
}

TEST(FailureId, DependsOnWhatFailedAndWhereAlone) {
  finding::Names names;
  finding::RunLogs logs;
  finding::ProcessLog process;
  process.pid = logs.pid = 4;
  finding::CrashRecord crash;
  crash.stack = {0x1234};
  process.crashes.push_back(crash);
  logs.run.processes.push_back(process);
  finding::Failure one, same, other, elsewhere;
  one.kind = same.kind = elsewhere.kind = "signal:SIGSEGV";
  other.kind = "signal:SIGFPE";
  same.text = "another text";
  for (finding::Failure* failure : {&one, &same, &other}) finding::identify(*failure, logs, names);
  logs.run.processes[0].crashes[0].stack = {0x5555};
  finding::identify(elsewhere, logs, names);
  EXPECT_EQ(one.id, same.id);
  EXPECT_NE(one.id, other.id);
  EXPECT_NE(one.id, elsewhere.id);
  EXPECT_EQ(one.id.size(), 6u);
}

TEST(FailureId, OfADeadlockIgnoresBystanders) {
  finding::Names names;
  finding::RunLogs logs;
  logs.run.processes.emplace_back();
  auto strand = [](int number, std::vector<int> held_by, finding::Address place) {
    finding::StuckStrand s;
    s.strand = number;
    s.state = "blocked";
    s.operation = "lock";
    s.held_by = std::move(held_by);
    s.stack = {place};
    return s;
  };
  logs.stuck = finding::Stuck{"deadlock", {strand(1, {2}, 0x10), strand(2, {1}, 0x20)}};
  finding::Failure cycle, with_waiter, mirrored;
  cycle.kind = with_waiter.kind = mirrored.kind = "deadlock";
  finding::identify(cycle, logs, names);
  logs.stuck->strands.insert(logs.stuck->strands.begin(), strand(3, {1}, 0x30));
  finding::identify(with_waiter, logs, names);
  logs.stuck = finding::Stuck{"deadlock", {strand(1, {2}, 0x20), strand(2, {1}, 0x10)}};
  finding::identify(mirrored, logs, names);
  EXPECT_EQ(cycle.id, with_waiter.id);
  EXPECT_EQ(cycle.id, mirrored.id);
}

}  // namespace
}  // namespace duress::exec
