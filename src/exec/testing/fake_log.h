// SPDX-License-Identifier: Apache-2.0
//
// The log that a fake target (fake_target.cc) leaves for the host, in the format of the runtime's
// (docs/design/log.md). The file begins with the first line that is written.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>

#include "base/types.h"

namespace duress::testing {

class FakeLog {
 public:
  explicit FakeLog(std::string directory) : directory_(std::move(directory)) {}

  std::string path() const { return directory_ + "/" + std::to_string(getpid()) + ".jsonl"; }

  /// `access`: "read", "write", or null: the step is a lock operation.
  void step(u64 number, int strand, const char* access, int value, int site) {
    std::fprintf(
        file(),
        "{\"t\":\"step\",\"n\":%llu,\"strand\":%d,\"name\":\"worker\",\"op\":\"%s\",\"object\":\"0x10\"",
        static_cast<unsigned long long>(number), strand, access ? access : "lock");
    if (access)
      std::fprintf(file(), ",\"size\":4,\"value\":\"0x%x\",\"site\":[0,%d]", static_cast<unsigned>(value),
                   site);
    std::fprintf(file(), "}\n");
  }

  /// A race of a write and a read, as `analysis` reports it.
  void race(const std::string& analysis, int write_site, int read_site) {
    std::fprintf(file(), "{\"t\":\"race\",\"analysis\":\"%s\",\"addr\":\"0x10\",\"size\":4,\"prev\":",
                 analysis.c_str());
    access(1, "write", write_site);
    std::fprintf(file(), ",\"cur\":");
    access(2, "read", read_site);
    std::fprintf(file(), ",\"block\":{\"kind\":\"unknown\"}}\n");
  }

  /// The keys that a request names the two sites by.
  void points(int read_site, u32 read_key, int write_site, u32 write_key) {
    std::fprintf(file(),
                 "{\"t\":\"points\",\"sites\":[{\"site\":[0,%d],\"key\":%u},{\"site\":[0,%d],\"key\":%u}]}\n",
                 read_site, read_key, write_site, write_key);
  }

  /// Strand 1 waits for what 2 holds, and 2 for what 1 holds.
  void deadlock() {
    std::fputs(R"({"t":"stuck","outcome":"deadlock","strands":[{"strand":1,"name":"one","state":"blocked",)"
               R"("op":"lock","object":"0xb0","held_by":[2],"stack":["0x1001"]},{"strand":2,"name":"two",)"
               R"("state":"blocked","op":"lock","object":"0xa0","held_by":[1],"stack":["0x2001"]}]})"
               "\n",
               file());
  }

  /// How many bytes there are; 0 if nothing was written.
  u64 flush() {
    if (file_ == nullptr) return 0;
    std::fflush(file_);
    return static_cast<u64>(std::ftell(file_));
  }

  /// Damages what was flushed.
  bool cut(off_t bytes) { return ftruncate(fileno(file_), bytes) == 0; }
  void append(const char* text) { std::fputs(text, file_); }

  void close() { std::fclose(file_); }

 private:
  void access(int thread, const char* kind, int site) {
    std::fprintf(file(),
                 "{\"thread\":%d,\"access\":\"%s\",\"addr\":\"0x10\",\"size\":4,\"site\":[0,%d],\"stack\":[],"
                 "\"locks\":[]}",
                 thread, kind, site);
  }

  std::FILE* file() {
    if (file_ == nullptr) {
      file_ = std::fopen(path().c_str(), "a");
      std::fprintf(file_,
                   "{\"t\":\"start\",\"version\":1,\"pid\":%d,\"ppid\":1,\"exe\":\"/fake\",\"argv\":[]}\n",
                   getpid());
    }
    return file_;
  }

  std::string directory_;
  std::FILE* file_ = nullptr;
};

}  // namespace duress::testing
