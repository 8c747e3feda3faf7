// SPDX-License-Identifier: Apache-2.0
#include "report/failure_text.h"

#include <gtest/gtest.h>

#include "report/trace_text.h"

namespace duress::report {
namespace {

using finding::Address;

/// Functions named by their address, locks by theirs.
class TestNames : public finding::Names {
 public:
  std::vector<finding::Frame> stack(const finding::ProcessLog&,
                                    const std::vector<Address>& addresses) override {
    std::vector<finding::Frame> frames;
    for (Address address : addresses) {
      finding::Frame frame;
      frame.function = "f" + std::to_string(address);
      frame.file = "/src/a.cc";
      frame.line = static_cast<std::uint32_t>(address);
      frame.library = address >= 1000;
      frames.push_back(frame);
    }
    return frames;
  }
  std::string object(const finding::ProcessLog&, Address address) override {
    return "m" + std::to_string(address);
  }
  finding::NamedSite site(const finding::ProcessLog&, const finding::SiteRecord& site) override {
    finding::NamedSite named;
    named.frame.file = "/src/a.cc";
    named.frame.line = site.index;
    named.variable = "count";
    return named;
  }
  std::string shown(const std::string& path) override { return path.substr(5); }
};

finding::RunLogs some_logs() {
  finding::RunLogs logs;
  logs.run.processes.emplace_back();
  return logs;
}

finding::StuckStrand blocked(int number, const char* name, Address object, std::vector<int> held_by,
                             Address place) {
  finding::StuckStrand strand;
  strand.strand = number;
  strand.name = name;
  strand.state = "blocked";
  strand.operation = "lock";
  strand.object = object;
  strand.held_by = std::move(held_by);
  strand.stack = {2000, place};
  return strand;
}

TEST(FailureText, Deadlock) {
  TestNames names;
  finding::RunLogs logs = some_logs();
  logs.stuck = finding::Stuck{"deadlock", {blocked(1, "one", 1, {2}, 10), blocked(2, "two", 2, {1}, 20)}};
  finding::Failure failure;
  failure.kind = failure.text = "deadlock";
  finding::identify(failure, logs, names);
  FailureEntry entry = describe_failure(failure, logs, names);
  std::string text = to_text(entry, "prog", {"replay: duress replay X"}, {.cwd = "/src"});
  EXPECT_EQ(text, "a.cc:10: error: deadlock [" + failure.id +
                      "]\n"
                      "  T1 'one' waits to lock m1, held by T2 'two'\n"
                      "    … 1 library frame, called as f2000()\n"
                      "    #1 f10()  a.cc:10\n"
                      "  T2 'two' waits to lock m2, held by T1 'one'\n"
                      "    … 1 library frame, called as f2000()\n"
                      "    #1 f20()  a.cc:20\n"
                      "  replay: duress replay X\n");
  EXPECT_EQ(to_text(entry, "prog", {"x"}, {.quiet = true, .cwd = "/src"}),
            "a.cc:10: error: deadlock [" + failure.id + "]\n");
}

TEST(FailureText, LastWordsWithoutAPlace) {
  TestNames names;
  finding::RunLogs logs;
  finding::Failure failure;
  failure.text = "exit code 1";
  failure.id = "F-0000";
  FailureEntry entry = describe_failure(failure, logs, names);
  entry.errors = "1\n2\n3\n4\n5\n6\n7\n8\n";
  std::string text = to_text(entry, "./prog", {}, {});
  EXPECT_EQ(text,
            "./prog: error: exit code 1 [F-0000]\n  it wrote to stderr:\n    | 3\n    | 4\n    | 5\n    | "
            "6\n    | 7\n"
            "    | 8\n");
  entry.errors = "one line";
  text = to_text(entry, "./prog", {}, {});
  EXPECT_NE(text.find("    | one line\n"), std::string::npos) << text;
}

TEST(FailureText, StaleValues) {
  TestNames names;
  finding::RunLogs logs = some_logs();
  logs.stale = {{2, finding::SiteRecord{0, 12}, 7, 4, "0x0", "0x2a"}, {1, {}, 0, 8, "0xfff000000", "0x1"}};
  finding::Failure failure;
  failure.text = "exit code 1";
  failure.id = "F-0000";
  std::string text = to_text(describe_failure(failure, logs, names), "./prog", {"last"}, {.cwd = "/src"});
  EXPECT_EQ(text,
            "./prog: error: exit code 1 [F-0000]\n"
            "  T2 reads stale 0 from count (newest 42)  a.cc:12\n"
            "  T1 reads stale 0xfff000000 (newest 1)\n"
            "  last\n");
}

TEST(FailureText, EarlyTimeouts) {
  TestNames names;
  finding::RunLogs logs = some_logs();
  logs.timeouts = {{2, "sleep", 100'000'000, {}},
                   {1, "system call", 4'999'999'900, {}},
                   {-1, "timer", 1'500'000'000, {}},
                   {1, "acquire", 250, {}}};
  finding::Failure failure;
  failure.text = "exit code 6";
  failure.id = "F-0000";
  std::string text = to_text(describe_failure(failure, logs, names), "./prog", {"last"}, {.cwd = "/src"});
  EXPECT_NE(text.find(" times out early: a sleep of 100 ms\n"), std::string::npos) << text;
  EXPECT_NE(text.find(" times out early: a wait for a descriptor of 5 s\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  expires early: a timer of 1.5 s\n"), std::string::npos) << text;
  EXPECT_NE(text.find("a wait for a semaphore of 250 ns\n"), std::string::npos) << text;
  EXPECT_NE(text.find("--timeouts real forbids it\n  last\n"), std::string::npos) << text;
}

finding::Step step(int strand, const char* op, const char* value, unsigned site) {
  finding::Step s;
  s.strand = strand;
  s.operation = op;
  s.object = 7;
  s.size = 4;
  s.value = value;
  if (site != 0) s.site = finding::SiteRecord{0, site};
  return s;
}

TEST(TraceText, AColumnPerThread) {
  TestNames names;
  finding::RunLogs logs = some_logs();
  logs.steps = {step(1, "read", "0x0", 12), step(2, "write", "0x3", 14), step(1, "write", "0xffffffff", 13),
                step(2, "lock", "", 0), step(2, "atomic read", "0x1", 15)};
  logs.steps[1].name = "worker";
  logs.steps[4].newest = "0x2";
  std::string text = trace_text(logs, names, 80);
  EXPECT_EQ(text,
            "a.cc\n"
            "  T1                              │ T2 'worker'\n"
            "  :12 count → 0                   │\n"
            "                                  │ :14 count = 3\n"
            "  :13 count = -1                  │\n"
            "                                  │ lock m7\n"
            "                                  │ :15 count → 1 (stale, newest 2)\n");
}

TEST(TraceText, ManyThreadsGetLines) {
  TestNames names;
  finding::RunLogs logs = some_logs();
  for (int i = 0; i < 20; ++i) logs.steps.push_back(step(i, "read", "0x1", 5));
  std::string text = trace_text(logs, names, 80);
  EXPECT_NE(text.find("\nT7               :5 count → 1\n"), std::string::npos) << text;
  EXPECT_EQ(trace_text(some_logs(), names, 80), "");
}

}  // namespace
}  // namespace duress::report
