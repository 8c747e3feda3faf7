// SPDX-License-Identifier: Apache-2.0
//
// leveldb_check FOLDER: four threads write their own keys, read them back, iterate and delete, with small
// buffers so that the background compaction is always busy; at the end every key has the right value.
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "leveldb/db.h"
#include "leveldb/write_batch.h"

namespace {
constexpr int kThreads = 4, kKeys = 3000;

std::string key(int thread, int i) {
  char text[32];
  std::snprintf(text, sizeof text, "%05d-%d", i * 7919 % kKeys, thread);
  return text;
}

std::string value(int thread, int i) {
  return std::string(100 + i % 50, static_cast<char>('a' + thread));
}
}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  leveldb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 64 << 10;
  options.max_file_size = 1 << 20;
  leveldb::DestroyDB(argv[1], options);
  leveldb::DB* db = nullptr;
  if (!leveldb::DB::Open(options, argv[1], &db).ok()) return 2;
  int wrong[kThreads] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++)
    threads.emplace_back([=, &wrong] {
      for (int i = 0; i < kKeys; i++) {
        leveldb::WriteBatch batch;
        batch.Put(key(t, i), value(t, i));
        if (i % 10 == 9) batch.Delete(key(t, i - 5));
        if (!db->Write({}, &batch).ok()) wrong[t]++;
        std::string got;
        if (!db->Get({}, key(t, i), &got).ok() || got != value(t, i)) wrong[t]++;
      }
    });
  for (auto& thread : threads) thread.join();
  db->CompactRange(nullptr, nullptr);
  int bad = 0, found = 0;
  for (int t = 0; t < kThreads; t++) {
    bad += wrong[t];
    for (int i = 0; i < kKeys; i++) {
      std::string got;
      bool there = db->Get({}, key(t, i), &got).ok();
      bad += there != (i % 10 != 4) || (there && got != value(t, i));
    }
  }
  leveldb::Iterator* iterator = db->NewIterator({});
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) found++;
  delete iterator;
  delete db;
  std::printf("leveldb: %d keys, %d wrong\n", found, bad);
  return bad == 0 && found == kThreads * kKeys * 9 / 10 ? 0 : 1;
}
