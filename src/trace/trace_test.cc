// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "analysis/testing/play.h"
#include "analysis/testing/reference.h"
#include "trace/builder.h"
#include "trace/decode_pipeline.h"
#include "trace/offline.h"
#include "trace/rapid.h"

namespace duress::trace {
namespace {

std::vector<Event> events_of(const testing::Trace& trace) {
  std::vector<Event> events;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    for (const Event& event : testing::to_events(trace[i], i)) events.push_back(event);
  }
  return events;
}

std::string build(const std::vector<Event>& events) {
  std::FILE* file = std::tmpfile();
  Builder builder(file);
  EXPECT_TRUE(builder.open());
  for (const Event& event : events) EXPECT_TRUE(builder.add(event));
  EXPECT_TRUE(builder.text("{\"t\":\"start\",\"version\":1,\"pid\":1}\n"));
  EXPECT_TRUE(builder.finish());
  std::string bytes(static_cast<std::size_t>(std::ftell(file)), '\0');
  std::rewind(file);
  EXPECT_EQ(std::fread(bytes.data(), 1, bytes.size(), file), bytes.size());
  std::fclose(file);
  return bytes;
}

struct Read {
  std::vector<Event> events;
  std::string problem;
  bool opened = false, cut = false;
};

Read read(const std::string& bytes) {
  auto source = memory_source(bytes);
  EventReader reader(*source);
  Read result;
  result.opened = reader.open();
  if (result.opened) reader.each([&](const Event& event) { result.events.push_back(event); });
  result.problem = reader.problem();
  result.cut = reader.cut();
  return result;
}

/// The same, with a thread that decodes ahead. It ends after `most` events.
struct Enough {};
Read read_ahead(const std::string& bytes, std::size_t most = ~std::size_t{0}) {
  auto source = memory_source(bytes);
  EventReader reader(*source);
  Read result;
  std::vector<uptr> soon;
  struct Play {
    Read& result;
    std::vector<uptr>& soon;
    std::size_t most, accesses = 0;
    void operator()(const Event& event) {
      if (result.events.size() == most) throw Enough();
      result.events.push_back(event);
    }
    void operator()(Tid thread, const Access* a, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) {
        EXPECT_LT(accesses, soon.size());
        EXPECT_EQ(soon[accesses++], a[i].address);  // each was told of before it came, in order
        (*this)(Event::of(thread, a[i]));
      }
    }
    void soon_comes(uptr address) { soon.push_back(address); }
  };
  struct Visit {
    Play& play;
    void operator()(const Event& event) const { play(event); }
    void operator()(Tid thread, const Access* a, std::size_t count) const { play(thread, a, count); }
    void soon(uptr address) const { play.soon_comes(address); }
  };
  Play play{result, soon, most};
  result.opened = reader.open();
  if (result.opened) each_pipelined(reader, Visit{play});
  result.problem = reader.problem();
  result.cut = reader.cut();
  return result;
}

void expect_same(const Event& a, const Event& b) {
  ASSERT_EQ(a.is_sync, b.is_sync);
  EXPECT_EQ(a.thread, b.thread);
  if (a.is_sync) {
    EXPECT_EQ(a.sync.kind, b.sync.kind);
    EXPECT_EQ(a.sync.object, b.sync.object);
    EXPECT_EQ(a.sync.detail, b.sync.detail);
    EXPECT_EQ(a.sync.place.stack, b.sync.place.stack);
  } else {
    EXPECT_EQ(a.access.address, b.access.address);
    EXPECT_EQ(a.access.size, b.access.size);
    EXPECT_EQ(a.access.kind, b.access.kind);
    EXPECT_EQ(a.access.place.site, b.access.place.site);
    EXPECT_EQ(a.access.place.stack, b.access.place.stack);
  }
}

TEST(TraceFile, WhatIsWrittenIsReadInTheSameOrder) {
  for (u64 seed = 1; seed <= 200; ++seed) {
    std::vector<Event> events = events_of(testing::random_trace(seed, {.threads = 5, .events = 80}));
    Read back = read(build(events));
    EXPECT_EQ(back.problem, "");
    ASSERT_EQ(back.events.size(), events.size());
    for (std::size_t i = 0; i < events.size(); ++i) expect_same(events[i], back.events[i]);
  }
}

void expect_same(const Read& a, const Read& b) {
  EXPECT_EQ(a.opened, b.opened);
  EXPECT_EQ(a.cut, b.cut);
  EXPECT_EQ(a.problem, b.problem);
  ASSERT_EQ(a.events.size(), b.events.size());
  for (std::size_t i = 0; i < a.events.size(); ++i) expect_same(a.events[i], b.events[i]);
}

TEST(DecodePipeline, BringsWhatReadingBrings) {
  for (u64 seed = 1; seed <= 50; ++seed) {
    std::string bytes = build(events_of(testing::random_trace(seed, {.threads = 5, .events = 80})));
    expect_same(read_ahead(bytes), read(bytes));
    bytes.resize(bytes.size() * seed / 50);
    expect_same(read_ahead(bytes), read(bytes));
    if (bytes.size() > 40) bytes[40 + seed % (bytes.size() - 40)] ^= 0x55;
    expect_same(read_ahead(bytes), read(bytes));
  }
  std::vector<Event> many;  // more than all blocks hold
  for (u32 i = 0; i < 50'000; ++i) {
    many.push_back(Event::of(Tid{i % 7}, Access{0x1000 + i * 8, 8, AccessKind::kRead, {}}));
    if (i % 3 == 0) many.push_back(Event::of(Tid{i % 7}, Sync{SyncKind::kMutexLock, 64, 0, {}}));
  }
  std::string bytes = build(many);
  expect_same(read_ahead(bytes), read(bytes));
}

TEST(DecodePipeline, EndsWhenWhoeverPlaysHasHadEnough) {
  std::vector<Event> many;
  for (u32 i = 0; i < 100'000; ++i)
    many.push_back(Event::of(Tid{0}, Access{0x1000 + i * 8, 8, AccessKind::kRead, {}}));
  std::string bytes = build(many);
  for (std::size_t most : {0, 1, 4095, 4096, 4097, 40'000}) EXPECT_THROW(read_ahead(bytes, most), Enough);
}

TEST(TraceFile, LargeOnesTakeSeveralRounds) {
  std::vector<Event> events;
  u64 state = 7;
  for (int i = 0; i < 3'000'000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    events.push_back(
        Event::of(static_cast<Tid>(i % 3), Access{0x7f0000000000 + (state >> 30),
                                                  4,
                                                  AccessKind::kWrite,
                                                  {static_cast<SiteId>(16 + i % 9), StackId{0}}}));
  }
  Read back = read(build(events));
  EXPECT_EQ(back.problem, "");
  ASSERT_EQ(back.events.size(), events.size());
  for (std::size_t i = 0; i < events.size(); i += 1009) expect_same(events[i], back.events[i]);
}

TEST(TraceFile, CutAnywhereItIsReadUpToTheCut) {
  std::vector<Event> events = events_of(testing::random_trace(3, {.threads = 4, .events = 60}));
  std::string bytes = build(events);
  std::size_t longest = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Read back = read(bytes.substr(0, size));
    if (size < sizeof(recording::FileHeader)) {
      EXPECT_FALSE(back.opened);
      continue;
    }
    EXPECT_EQ(back.problem, "");
    EXPECT_GE(back.events.size(), longest);
    longest = back.events.size();
  }
  EXPECT_EQ(longest, events.size());
}

TEST(TraceFile, WhatIsWrongIsSaidWithItsOffset) {
  std::string bytes = build(events_of(testing::random_trace(3, {.threads = 4, .events = 60})));
  EXPECT_EQ(read("not a trace, but long enough").problem, "offset 0: not a duress trace");
  std::string newer = bytes;
  newer[8] = 9;
  EXPECT_EQ(read(newer).problem, "offset 0: a trace of version 9; this duress reads version 1");
  std::string broken = bytes;
  broken[sizeof(recording::FileHeader)] ^= 1;
  EXPECT_EQ(read(broken).problem, "offset 16: no chunk begins here");
  // Any byte may be wrong: something is said or nothing is lost, and never more.
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string other = bytes;
    other[i] = static_cast<char>(other[i] ^ 0x55);
    read(other);
  }
}

TEST(Rapid, ThereAndBack) {
  const char* lines[] = {"T0|fork(T1)|1",
                         "T0|w(V1)|12",
                         "T1|acq(L1)|3",
                         "T1|r(V1)|4",
                         "T1|rel(L1)|5",
                         "T0|rlock(L2)|6",
                         "T0|runlock(L2)|7",
                         "T0|post(S)|8",
                         "T1|wait(S)|9",
                         "T1|aload(A,acquire)|10",
                         "T0|astore(A,relaxed)|11",
                         "T0|armw(A,acq_rel)|12",
                         "T0|begin(B)|13",
                         "T0|end(B)|14",
                         "T0|fence(seq_cst)|15",
                         "T0|join(T1)|16"};
  RapidReader reader;
  std::vector<Event> events;
  for (const char* line : lines) EXPECT_TRUE(reader.line(line, events)) << reader.problem();
  RapidWriter writer(&reader.names());
  std::vector<std::string> back;
  for (const Event& event : events) {
    if (std::string line = writer.line(event); !line.empty()) back.push_back(line);
  }
  ASSERT_EQ(back.size(), std::size(lines));
  for (std::size_t i = 0; i < back.size(); ++i) EXPECT_EQ(back[i], lines[i]);
}

TEST(Rapid, WrongLinesAreSaidHow) {
  std::vector<Event> events;
  auto problem = [&](const char* line) {
    RapidReader reader;
    EXPECT_FALSE(reader.line(line, events)) << line;
    return reader.problem();
  };
  EXPECT_NE(problem("nonsense").find("THREAD|OPERATION|PLACE"), std::string::npos);
  EXPECT_NE(problem("T0|x(V1)|1").find("unknown operation 'x'"), std::string::npos);
  EXPECT_NE(problem("T0|w(V1|1").find("has no closing )"), std::string::npos);
  EXPECT_NE(problem("T0|w(V1)|here").find("invalid place 'here'"), std::string::npos);
  EXPECT_NE(problem("T0|w|1").find("needs a name"), std::string::npos);
  EXPECT_NE(problem("T0|aload(X,later)|1").find("unknown memory order 'later'"), std::string::npos);
  EXPECT_NE(problem("T0|fork(T0)|1").find("itself"), std::string::npos);
}

TEST(Offline, FindsWhatTheReferenceFinds) {
  for (u64 seed = 1; seed <= 100; ++seed) {
    testing::Trace trace = testing::random_trace(seed, {.threads = 3, .events = 40, .mixed_sizes = false});
    testing::Reference reference(trace);
    Offline offline;
    ASSERT_EQ(offline.build("FastTrack"), "");
    for (const Event& event : read(build(events_of(trace))).events) offline.play(event);
    std::string text =
        "{\"t\":\"start\",\"version\":1,\"pid\":1}\n{\"t\":\"sites\",\"module\":0,\"first\":16,\"count\":"
        "1000}\n";
    finding::RunLog log = offline.finish(text, {}, false);
    for (const finding::RaceRecord& race : log.processes[0].races) {
      EXPECT_TRUE(reference.races(race.prev.site->index, race.cur.site->index)) << seed;
    }
    EXPECT_EQ(log.processes[0].races.empty(), reference.first_races().empty()) << seed;
  }
}

}  // namespace
}  // namespace duress::trace
