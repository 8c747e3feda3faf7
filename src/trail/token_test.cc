// SPDX-License-Identifier: Apache-2.0
#include "trail/token.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/prng.h"

namespace duress::trail {
namespace {

struct Read {
  TokenError error = TokenError::kNone;
  TokenHead head;
  TokenView view;
  std::vector<u64> memory;
};

Read read(const std::string& text) {
  Read result;
  result.memory.resize(token_memory(text.size()) / 8 + 1);
  result.error = read_token(text.data(), text.size(), result.memory.data(), result.head, result.view);
  return result;
}

std::string write(const TokenView& view, const char* program) {
  std::string text(token_room(view, program), '\0');
  u64 length = write_token(view, program, text.data());
  EXPECT_LT(length, text.size());
  text.resize(length);
  return text;
}

TEST(Token, ComesBackAsItWas) {
  Prng random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<u32> sites(random.below(20));
    for (u32& key : sites) key = static_cast<u32>(random.next());
    std::vector<Deviation> trail(random.below(50));
    u64 choice = random.below(1000);
    for (Deviation& deviation : trail) {
      deviation = Deviation::of(static_cast<u32>(choice), static_cast<ChoiceKind>(random.below(2)),
                                static_cast<u32>(random.below(round % 2 ? 5 : 0x80000000u)));
      choice += 1 + random.below(round % 3 ? 100 : 80000000);
    }
    std::vector<Prediction> predictions(random.below(4));
    for (Prediction& p : predictions) {
      p = {static_cast<u32>(random.below(300)),
           static_cast<u32>(random.next()),
           static_cast<u32>(1 + random.below(9)),
           static_cast<u32>(1 + random.below(16)),
           {}};
      for (u32 k = 0; k < p.size; ++k) p.value[k / 8] |= random.below(256) << 8 * (k % 8);
    }
    TokenView view{random.chance(1, 2) ? Points::kAll : Points::kSync,
                   static_cast<ModelId>(random.below(5)),
                   random.chance(1, 2) ? 4u : 8u,
                   random.chance(1, 2),
                   random.next() >> random.below(64),
                   random.chance(1, 3) ? random.next() : 0,
                   sites.data(),
                   static_cast<u32>(sites.size()),
                   trail.data(),
                   trail.size(),
                   predictions.data(),
                   static_cast<u32>(predictions.size()),
                   static_cast<u32>(random.below(sites.size() + 1)),
                   random.chance(1, 4),
                   random.chance(1, 4)};
    std::string text = write(view, "/some/where/my prog.v2");
    Read back = read(text);
    ASSERT_EQ(back.error, TokenError::kNone);
    EXPECT_EQ(std::string(back.head.program, back.head.program_length), "my_prog.v2");
    EXPECT_EQ(back.view.points, view.points);
    EXPECT_EQ(back.view.model, view.model);
    EXPECT_EQ(back.view.tear, view.tear);
    EXPECT_EQ(back.view.fair, view.fair);
    EXPECT_EQ(back.view.seed, view.seed);
    EXPECT_EQ(back.view.most_steps, view.most_steps);
    EXPECT_EQ(back.view.systematic, view.systematic);
    EXPECT_EQ(back.view.sample, view.sample);
    EXPECT_EQ(back.view.variables, view.variables);
    EXPECT_EQ(back.view.wait_count, view.wait_count);
    EXPECT_EQ(std::vector<u32>(back.view.sites, back.view.sites + back.view.site_count), sites);
    EXPECT_EQ(std::vector<Deviation>(back.view.trail, back.view.trail + back.view.trail_count), trail);
    EXPECT_EQ(
        std::vector<Prediction>(back.view.predictions, back.view.predictions + back.view.prediction_count),
        predictions);
  }
}

TEST(Token, EndsOfWaitsAreAPartOfIt) {
  for (ModelId model : {ModelId::kSc, ModelId::kRc11}) {
    for (auto [spurious, timeouts] : {std::pair(0u, 0u), {1u, 0u}, {0u, 2u}, {300u, 1u}}) {
      TokenView view;
      view.model = model;
      view.sample = model != ModelId::kSc;
      view.variables = model == ModelId::kSc;
      view.systematic = true;
      view.spurious = spurious;
      view.timeouts = timeouts;
      Read back = read(write(view, "prog"));
      ASSERT_EQ(back.error, TokenError::kNone);
      EXPECT_EQ(back.view.model, model);
      EXPECT_EQ(back.view.sample, model != ModelId::kSc);
      EXPECT_EQ(back.view.variables, model == ModelId::kSc);
      EXPECT_EQ(back.view.spurious, spurious);
      EXPECT_EQ(back.view.timeouts, timeouts);
    }
  }
}

TEST(Token, ThreePreemptionsAreShort) {
  Deviation trail[] = {Deviation::of(17, ChoiceKind::kThread, 2), Deviation::of(350, ChoiceKind::kThread, 1),
                       Deviation::of(9000, ChoiceKind::kThread, 0)};
  std::string text =
      write({Points::kSync, ModelId::kSc, 8, true, 77, 0, nullptr, 0, trail, 3, nullptr, 0}, "counter");
  EXPECT_LT(text.size(), 45u) << text;
  EXPECT_EQ(text.rfind("D1.counter.", 0), 0u) << text;
}

TEST(Token, NothingAtAllIsATokenToo) {
  TokenView view;
  std::string text = write(view, "p");
  EXPECT_EQ(read(text).error, TokenError::kNone) << text;
}

TEST(Token, OtherVersionsAreNamed) {
  Read other = read("D2.counter.AAAA");
  EXPECT_EQ(other.error, TokenError::kVersion);
  EXPECT_EQ(other.head.version, 2u);
}

TEST(Token, GarbageIsToldFromDamage) {
  for (const char* text :
       {"", "x", "D", "D1", "D1.", "D1.prog", "F-12ab", "hello world", "D1.pr og.AAAA", "Dx.a.b"})
    EXPECT_EQ(read(text).error, TokenError::kNotAToken) << text;
  Deviation trail[] = {Deviation::of(17, ChoiceKind::kThread, 2)};
  std::string good =
      write({Points::kSync, ModelId::kSc, 8, true, 77, 0, nullptr, 0, trail, 1, nullptr, 0}, "counter");
  ASSERT_EQ(read(good).error, TokenError::kNone);
  for (std::size_t i = 3; i < good.size(); ++i) {  // any one character mistyped or lost
    std::string wrong = good;
    wrong[i] = wrong[i] == 'x' ? 'y' : 'x';
    EXPECT_NE(read(wrong).error, TokenError::kNone) << wrong;
    wrong = good;
    wrong.erase(i, 1);
    EXPECT_NE(read(wrong).error, TokenError::kNone) << wrong;
    EXPECT_NE(read(good.substr(0, i)).error, TokenError::kNone);
  }
}

TEST(Token, AnyBytesAreSafe) {
  Prng random(7);
  const std::string alphabet = "D1.ABCabc019-_\n\xff prog";
  for (int round = 0; round < 20000; ++round) {
    std::string text = round % 2 ? "D1.p." : "";
    for (u64 n = random.below(60); n > 0; --n) text += alphabet[random.below(alphabet.size())];
    EXPECT_NE(read(text).error, TokenError::kNone) << text;
  }
}

/// A forged token has a right checksum and a lying count.
TEST(Token, CountsThatLieAreRefused) {
  Deviation trail[] = {Deviation::of(3, ChoiceKind::kThread, 1), Deviation::of(3, ChoiceKind::kThread, 1)};
  EXPECT_EQ(read(write({Points::kSync, ModelId::kSc, 8, true, 1, 0, nullptr, 0, trail, 2}, "p")).error,
            TokenError::kDamaged);
}

TEST(Token, ProgramNames) {
  char out[kMostProgram + 1];
  auto name = [&](const char* path) {
    u64 length = token_program(path, out);
    return std::string(out, length);
  };
  EXPECT_EQ(name("./a/b"), "b");
  EXPECT_EQ(name("a/"), "a");
  EXPECT_EQ(name(""), "_");
  EXPECT_EQ(name("/x/\xc3\xa4 b"), "___b");
  EXPECT_EQ(name(std::string(500, 'n').c_str()), std::string(kMostProgram, 'n'));
}

}  // namespace
}  // namespace duress::trail
