// SPDX-License-Identifier: Apache-2.0
#include "report/verification_text.h"

#include <gtest/gtest.h>

namespace duress::report {
namespace {

Document verified(std::uint64_t interleavings, std::uint64_t blocked, bool rc11) {
  Document document;
  document.complete = true;
  document.failures.emplace();
  Verification& verification = document.verification.emplace();
  verification.interleavings = interleavings;
  verification.blocked = blocked;
  verification.rc11 = rc11;
  verification.explore_seconds = 2;
  return document;
}

TEST(VerificationText, AProofSaysWhatItCovers) {
  std::vector<std::string> lines = verification_summary(verified(3000, 0, false));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(
      lines[0],
      "complete: no race and no failure in all 3,000 interleavings (1500/s): proved for this program and "
      "its input");
  EXPECT_EQ(
      lines[1],
      "  no data race, crash, failed assertion, deadlock or livelock under sequential consistency: 3,000 "
      "interleavings, 0 blocked, 2.0 s; memory errors were not looked for: the heap is a sanitizer's; no "
      "assumptions");
}

TEST(VerificationText, AProofCoversMemoryErrorsThatWereLookedFor) {
  Document document = verified(3000, 0, false);
  document.verification->memory = MemoryErrors::kLookedFor;
  EXPECT_EQ(verification_summary(document).at(1),
            "  no data race, crash, failed assertion, deadlock, livelock or memory error under sequential "
            "consistency: 3,000 interleavings, 0 blocked, 2.0 s; no assumptions");
}

TEST(VerificationText, BlockedExecutionsAreCounted) {
  std::vector<std::string> lines = verification_summary(verified(40, 7, true));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[1].find(" under rc11: 40 executions, 7 blocked, 2.0 s; "), std::string::npos) << lines[1];
}

TEST(VerificationText, WhatIsNotCompleteIsNoProof) {
  Document document = verified(40, 0, false);
  document.complete = false;
  document.verification->bounds = {"time is up"};
  std::vector<std::string> lines = verification_summary(document);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1], "  time is up");
  EXPECT_TRUE(lines[2].starts_with("  under sequential consistency: 40 interleavings, 0 blocked, 2.0 s; "))
      << lines[2];
}

TEST(VerificationText, TheLastLineHasTheAssumptions) {
  Document document = verified(3, 0, false);
  document.verification->memory = MemoryErrors::kLookedFor;
  document.verification->assumes_signals = document.verification->assumes_alike = true;
  EXPECT_TRUE(verification_summary(document).back().ends_with(
      "2.0 s; assumes that threads that start alike can be exchanged and waits end only by signals"));
}

TEST(VerificationText, WhichInterleavingsAreOneIsSaid) {
  Document document = verified(4, 1, false);
  document.verification->memory = MemoryErrors::kLookedFor;
  document.verification->reads_from = true;
  EXPECT_TRUE(verification_summary(document).back().ends_with(
      "under sequential consistency: 4 interleavings up to what their reads read (reads-from equivalence), "
      "1 blocked, 2.0 s; no assumptions"));
  document.verification->reads_from = false;
  document.verification->by_traces = "threads meet at a condition";
  std::vector<std::string> lines = verification_summary(document);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(
      lines[1],
      "  explored up to the order of conflicting steps (--equivalence trace): threads meet at a condition");
  EXPECT_NE(lines[2].find("4 interleavings, 1 blocked"), std::string::npos) << lines[2];
}

TEST(VerificationText, WithFindingsTheLastLineClaimsNothing) {
  Document document = verified(3, 0, true);
  document.verification->memory = MemoryErrors::kLookedFor;
  document.summary.failures = 1;
  EXPECT_EQ(verification_summary(document).back(),
            "  under rc11: 3 executions, 0 blocked, 2.0 s; no assumptions");
}

}  // namespace
}  // namespace duress::report
