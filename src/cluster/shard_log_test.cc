// SPDX-License-Identifier: Apache-2.0
#include "cluster/shard_log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "exec/files.h"

namespace duress::cluster {
namespace {

class ShardLog : public testing::Test {
 protected:
  ShardLog() : folder_(testing::TempDir() + "/shard-log-" + std::to_string(getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~ShardLog() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ + "/log"; }
  static std::vector<std::string> read(LogReader& reader) {
    std::vector<std::string> texts;
    reader.poll([&](const LogRecord& record) { texts.emplace_back(record.payload); });
    return texts;
  }
  void write(const std::string& bytes) const { std::ofstream(path(), std::ios::binary) << bytes; }
  std::string bytes() const { return exec::read_file(path()).value_or(""); }
  std::string folder_;
};

using Texts = std::vector<std::string>;

TEST_F(ShardLog, HandsOverEachRecordOnce) {
  LogWriter writer(path());
  LogReader reader(path());
  EXPECT_EQ(read(reader), Texts());
  writer.add(RecordKind::kResult, {1, 2}, "one");
  writer.add(RecordKind::kBeat, {}, "");
  EXPECT_EQ(read(reader), Texts());
  ASSERT_EQ(writer.flush(), "");
  EXPECT_EQ(read(reader), (Texts{"one", ""}));
  EXPECT_EQ(read(reader), Texts());
  writer.add(RecordKind::kResult, {3, 4}, std::string(100000, 'x'));
  ASSERT_EQ(writer.flush(), "");
  EXPECT_EQ(read(reader), Texts{std::string(100000, 'x')});
}

TEST_F(ShardLog, RecordLongerThanATurnIsReadWhole) {
  LogWriter writer(path());
  std::string text(20 << 20, 'y');
  writer.add(RecordKind::kResult, {1, 1}, text);
  writer.add(RecordKind::kResult, {1, 2}, "after");
  ASSERT_EQ(writer.flush(), "");
  LogReader reader(path());
  EXPECT_EQ(read(reader), (Texts{text, "after"}));
}

TEST_F(ShardLog, TornRecordIsNotSeenAtAnyLength) {
  LogWriter writer(path());
  writer.add(RecordKind::kResult, {1, 2}, "first");
  ASSERT_EQ(writer.flush(), "");
  std::size_t whole = bytes().size();
  writer.add(RecordKind::kResult, {3, 4}, "second, longer");
  ASSERT_EQ(writer.flush(), "");
  std::string all = bytes();
  for (std::size_t length = whole; length < all.size(); ++length) {
    write(all.substr(0, length));
    LogReader reader(path());
    EXPECT_EQ(read(reader), Texts{"first"}) << length;
    write(all);
    EXPECT_EQ(read(reader), Texts{"second, longer"}) << length;
    EXPECT_EQ(reader.damaged(), 0u);
  }
}

TEST_F(ShardLog, DamageIsSkippedAndCounted) {
  LogWriter writer(path());
  for (const char* text : {"one", "two", "three"}) writer.add(RecordKind::kResult, {1, 2}, text);
  ASSERT_EQ(writer.flush(), "");
  std::string all = bytes();
  // A bit anywhere in the second record: its head, its key, its sum, its text.
  std::size_t begin = 40 + 3, end = begin + 40 + 3;
  for (std::size_t at = begin; at < end; ++at) {
    std::string bad = all;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    write(bad);
    LogReader reader(path(), 0);
    EXPECT_EQ(read(reader), (Texts{"one", "three"})) << at;
    EXPECT_EQ(reader.damaged(), 1u);
  }
  // Who waits for it to become whole does not give it up at once.
  std::string bad = all;
  bad[begin + 41] = 'X';
  write(bad);
  LogReader patient(path(), 1000);
  EXPECT_EQ(read(patient), Texts{"one"});
  write(all);
  EXPECT_EQ(read(patient), (Texts{"two", "three"}));
}

TEST_F(ShardLog, FullDiskIsSaidAndLosesNothing) {
  LogWriter full("/dev/full");
  full.add(RecordKind::kResult, {1, 2}, "text");
  EXPECT_EQ(full.flush(), "cannot write '/dev/full': No space left on device");
  EXPECT_FALSE(full.empty());
  LogWriter nowhere(folder_ + "/none/log");
  nowhere.add(RecordKind::kResult, {1, 2}, "kept");
  EXPECT_NE(nowhere.flush(), "");
  std::filesystem::create_directories(folder_ + "/none");
  EXPECT_EQ(nowhere.flush(), "");
  LogReader reader(folder_ + "/none/log");
  EXPECT_EQ(read(reader), Texts{"kept"});
}

TEST_F(ShardLog, PayloadIsFoundByItsPlaceAndKey) {
  LogWriter writer(path());
  writer.add(RecordKind::kResult, {1, 2}, "one");
  writer.add(RecordKind::kResult, {3, 4}, "two");
  ASSERT_EQ(writer.flush(), "");
  u64 second = 0;
  LogReader(path()).poll([&](const LogRecord& record) { second = record.offset; });
  EXPECT_EQ(payload_at(path(), second, {3, 4}), "two");
  EXPECT_EQ(payload_at(path(), second, {1, 2}), "");
  EXPECT_EQ(payload_at(path(), second + 1, {3, 4}), "");
}

TEST(Key, EveryByteCounts) {
  std::string text(37, 'a');
  Key key = key_of(text);
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] = 'b';
    EXPECT_NE(key_of(other), key);
    EXPECT_NE(key_of(text.substr(0, i)), key);
  }
  EXPECT_NE(key.high, key.low);
}

}  // namespace
}  // namespace duress::cluster
