// SPDX-License-Identifier: Apache-2.0
#include "cluster/shard_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/prng.h"
#include "exec/clock.h"
#include "exec/files.h"

namespace duress::cluster {
namespace {

using exec::Descriptor;
using exec::now;

constexpr u32 kMagic = 0x4c445244;          // "DRDL"
constexpr u64 kMostPayload = u64{1} << 32;  // more is damage
constexpr u64 kMostAtOnce = u64{16} << 20;  // bytes read in one turn, unless a record is longer

struct Head {
  u32 magic = kMagic;
  u32 kind = 0;
  u64 size = 0;
  Key key;
  u64 sum = 0;  // of all the rest
};
static_assert(sizeof(Head) == 40);

u64 mixed(u64 hash, std::string_view bytes) {
  while (bytes.size() >= 8) {
    u64 word;
    std::memcpy(&word, bytes.data(), 8);
    hash = mix(hash ^ word) * 0x9e3779b97f4a7c15u;
    bytes.remove_prefix(8);
  }
  u64 word = bytes.size();
  if (!bytes.empty()) std::memcpy(&word, bytes.data(), bytes.size());  // no payload has no address
  return mix(hash ^ word ^ u64{bytes.size()} << 56);
}

u64 sum_of(Head head, std::string_view payload) {
  head.sum = 0;
  return mixed(mixed(1, {reinterpret_cast<const char*>(&head), sizeof head}), payload);
}

/// As many bytes from `at` on as there are, at most `count`.
std::string read_at(int fd, u64 at, u64 count) {
  std::string bytes(count, '\0');
  u64 done = 0;
  while (done < count) {
    ssize_t got = pread(fd, bytes.data() + done, count - done, static_cast<off_t>(at + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<u64>(got);
  }
  bytes.resize(done);
  return bytes;
}

}  // namespace

Key key_of(std::string_view bytes) {
  return {mixed(0x6a09e667f3bcc908u, bytes), mixed(0xbb67ae8584caa73bu, bytes)};
}

void LogWriter::add(RecordKind kind, const Key& key, std::string_view payload) {
  Head head;
  head.kind = static_cast<u32>(kind);
  head.size = payload.size();
  head.key = key;
  head.sum = sum_of(head, payload);
  waiting_.append(reinterpret_cast<const char*>(&head), sizeof head);
  waiting_ += payload;
}

std::string LogWriter::flush() {
  if (waiting_.empty()) return {};
  auto failed = [&] { return "cannot write '" + path_ + "': " + std::strerror(errno); };
  int fd = open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return failed();
  // Half a record of a turn that failed is written over, never left in the way of those who read.
  u64 done = 0;
  while (done < waiting_.size()) {
    ssize_t written =
        pwrite(fd, waiting_.data() + done, waiting_.size() - done, static_cast<off_t>(good_ + done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    done += static_cast<u64>(written);
  }
  // A network file system may find out only now that the disk is full.
  bool good = done == waiting_.size();
  if (good && close(fd) != 0) return failed();
  if (!good) {
    std::string text = failed();
    close(fd);
    return text;
  }
  good_ += done;
  waiting_.clear();
  return {};
}

namespace {

enum class Seen { kWhole, kShort, kBad };

/// The record at the start of `rest`.
Seen look(std::string_view rest, Head& head) {
  if (rest.size() < sizeof head) return Seen::kShort;
  std::memcpy(&head, rest.data(), sizeof head);
  if (head.magic != kMagic || head.size > kMostPayload) return Seen::kBad;
  if (rest.size() - sizeof head < head.size) return Seen::kShort;
  return sum_of(head, rest.substr(sizeof head, head.size)) == head.sum ? Seen::kWhole : Seen::kBad;
}

}  // namespace

u64 LogReader::poll(const std::function<void(const LogRecord&)>& take) {
  Descriptor file(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info{};
  if (!file || fstat(file.get(), &info) != 0) return 0;
  u64 end = static_cast<u64>(info.st_size), count = 0, window = kMostAtOnce;
  while (end > at_) {
    std::string bytes = read_at(file.get(), at_, std::min(window, end - at_));
    std::string_view rest = bytes;
    u64 before = at_;
    Head head;
    Seen seen;
    while ((seen = look(rest, head)) == Seen::kWhole) {
      u64 size = sizeof head + head.size;
      take({static_cast<RecordKind>(head.kind), head.key, rest.substr(sizeof head, head.size), at_});
      ++count;
      at_ += size;
      rest.remove_prefix(size);
    }
    if (at_ != before) {
      window = kMostAtOnce;
      continue;
    }
    // One long record, wholly there.
    if (seen == Seen::kShort && window < end - at_) {
      window = end - at_;
      continue;
    }
    if (seen == Seen::kShort && bytes.size() < sizeof head) break;
    if (bad_at_ != at_) {
      bad_at_ = at_;
      bad_since_ = now();
    }
    if (now() - bad_since_ < patience_) break;
    skip(file.get(), end);
    if (at_ == before) break;
  }
  return count;
}

/// Goes on at the next whole record, if there is one.
void LogReader::skip(int fd, u64 end) {
  std::string bytes = read_at(fd, at_, end - at_);
  const std::string_view mark(reinterpret_cast<const char*>(&kMagic), sizeof kMagic);
  for (std::size_t found = bytes.find(mark, 1); found != std::string::npos;
       found = bytes.find(mark, found + 1)) {
    Head head;
    if (look(std::string_view(bytes).substr(found), head) != Seen::kWhole) continue;
    at_ += found;
    ++damaged_;
    return;
  }
}

std::string payload_at(const std::string& path, u64 offset, const Key& key) {
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return {};
  std::string bytes = read_at(file.get(), offset, sizeof(Head));
  Head head;
  if (bytes.size() != sizeof head) return {};
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.magic != kMagic || head.size > kMostPayload || head.key != key) return {};
  std::string payload = read_at(file.get(), offset + sizeof head, head.size);
  return payload.size() == head.size && sum_of(head, payload) == head.sum ? payload : std::string();
}

}  // namespace duress::cluster
