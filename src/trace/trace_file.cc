// SPDX-License-Identifier: Apache-2.0
#include "trace/trace_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>

namespace duress::trace {

using recording::ChunkHeader;
using recording::ChunkKind;
using recording::FileHeader;

namespace {

class FileSource final : public Source {
 public:
  explicit FileSource(std::FILE* file) : file_(file) {}
  ~FileSource() override { std::fclose(file_); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  std::size_t read(void* into, std::size_t n) override { return std::fread(into, 1, n, file_); }

 private:
  std::FILE* file_;
};

class MemorySource final : public Source {
 public:
  explicit MemorySource(std::string_view bytes) : bytes_(bytes) {}
  std::size_t read(void* into, std::size_t n) override {
    n = std::min(n, bytes_.size());
    if (n != 0) std::memcpy(into, bytes_.data(), n);
    bytes_.remove_prefix(n);
    return n;
  }

 private:
  std::string_view bytes_;
};

// A round is about kRoundBytes; a file that never ends one must not fill the memory.
constexpr std::uint64_t kMostRoundBytes = 64 * recording::kRoundBytes;
constexpr std::size_t kMostText = 64u << 20;
constexpr u32 kMostStacks = 1u << 26;

}  // namespace

std::unique_ptr<Source> open_source(const std::string& path, std::string& error) {
  struct stat info{};
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {  // it is read more than once
    error = fmt::format("cannot read '{}': it is not a regular file", path);
    return nullptr;
  }
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    error = fmt::format("cannot read '{}': {}", path, std::strerror(errno));
    return nullptr;
  }
  return std::make_unique<FileSource>(file);
}

std::unique_ptr<Source> memory_source(std::string_view bytes) {
  return std::make_unique<MemorySource>(bytes);
}

bool ChunkReader::fail(const std::string& what) {
  problem_ = fmt::format("offset {}: {}", offset_, what);
  return false;
}

bool ChunkReader::open() {
  if (source_.read(&header_, sizeof header_) != sizeof header_ ||
      std::memcmp(header_.magic, recording::kMagic, sizeof header_.magic) != 0)
    return fail("not a duress trace");
  if (header_.version != recording::kVersion)
    return fail(fmt::format("a trace of version {}; this duress reads version {}", header_.version,
                            recording::kVersion));
  offset_ = sizeof header_;
  return true;
}

bool ChunkReader::next(Chunk& chunk) {
  ChunkHeader header;
  std::size_t got = source_.read(&header, sizeof header);
  if (got == 0) return false;
  if (got != sizeof header) {
    cut_ = true;
    return false;
  }
  if (header.magic != recording::kChunkMagic) return fail("no chunk begins here");
  if (header.kind < ChunkKind::kEvents || header.kind > ChunkKind::kRound)
    return fail(fmt::format("a chunk of unknown kind {}", static_cast<int>(header.kind)));
  if (header.bytes > recording::kMostChunkBytes ||
      header.stored_bytes > recording::kMostChunkBytes + (1u << 16))
    return fail(
        fmt::format("a chunk of {} bytes; at most {} are allowed", header.bytes, recording::kMostChunkBytes));
  if (header.packed > 1 || (!header.packed && header.bytes != header.stored_bytes))
    return fail("a chunk whose sizes make no sense");
  if (header.thread >= recording::kMostThreads)
    return fail(fmt::format("a chunk of thread {}", header.thread));
  chunk.kind = header.kind;
  chunk.thread = header.thread;
  chunk.offset = offset_;
  stored_.resize(header.stored_bytes);
  if (source_.read(stored_.data(), stored_.size()) != stored_.size()) {
    cut_ = true;
    return false;
  }
  if (header.packed) {
    chunk.bytes.resize(header.bytes);
    std::size_t size =
        ZSTD_decompress(chunk.bytes.data(), chunk.bytes.size(), stored_.data(), stored_.size());
    if (ZSTD_isError(size) || size != header.bytes) return fail("a chunk that cannot be unpacked");
  } else {
    chunk.bytes.swap(stored_);
  }
  offset_ += sizeof header + header.stored_bytes;
  return true;
}

bool ChunkWriter::open(bool first_only) {
  FileHeader header = {{}, recording::kVersion, first_only ? recording::kFirstOnly : 0};
  std::memcpy(header.magic, recording::kMagic, sizeof header.magic);
  return std::fwrite(&header, sizeof header, 1, file_) == 1;
}

bool ChunkWriter::put(ChunkKind kind, u32 thread, const void* data, std::size_t size) {
  packed_.resize(ZSTD_compressBound(size));
  std::size_t packed = ZSTD_compress(packed_.data(), packed_.size(), data, size, 1);
  bool good = !ZSTD_isError(packed) && packed < size;
  ChunkHeader header = {
      recording::kChunkMagic, kind, static_cast<u8>(good), 0, thread, static_cast<u32>(good ? packed : size),
      static_cast<u32>(size)};
  const void* what = good ? packed_.data() : data;
  return std::fwrite(&header, sizeof header, 1, file_) == 1 &&
         (header.stored_bytes == 0 || std::fwrite(what, header.stored_bytes, 1, file_) == 1);
}

bool Stacks::add(const Chunk& chunk) {
  constexpr std::size_t kEntry = sizeof(std::uint64_t) + sizeof(u32);
  u32 first;
  if (chunk.bytes.size() < sizeof first || (chunk.bytes.size() - sizeof first) % kEntry != 0) return false;
  std::memcpy(&first, chunk.bytes.data(), sizeof first);
  std::size_t count = (chunk.bytes.size() - sizeof first) / kEntry;
  // They come in order, so a large number with nothing before it is invalid.
  if (first > entries.size() + 1 || first + count > kMostStacks) return false;
  if (first + count > entries.size()) entries.resize(first + count);
  const u8* at = chunk.bytes.data() + sizeof first;
  for (std::size_t i = 0; i < count; ++i, at += kEntry) {
    Entry& e = entries[first + i];
    std::memcpy(&e.address, at, sizeof e.address);
    std::memcpy(&e.caller, at + sizeof e.address, sizeof e.caller);
  }
  return true;
}

std::vector<std::uint64_t> Stacks::frames(u32 stack) const {
  std::vector<std::uint64_t> addresses;
  while (stack != 0 && stack < entries.size() && addresses.size() < 512) {
    addresses.push_back(entries[stack].address);
    if (entries[stack].caller >= stack) break;  // a caller is older; anything else is invalid
    stack = entries[stack].caller;
  }
  return addresses;
}

void EventReader::bad_event(const Chunk& chunk, std::size_t at) {
  if (problem_.empty())
    problem_ = fmt::format("offset {}: no event at byte {} of the unpacked chunk", chunk.offset, at);
}

bool EventReader::read_round() {
  round_.clear();
  std::uint64_t bytes = 0;
  while (!ended_) {
    Chunk chunk;
    if (!chunks_.next(chunk)) {
      ended_ = true;
      break;
    }
    switch (chunk.kind) {
      case ChunkKind::kEvents:
        bytes += chunk.bytes.size();
        round_.push_back(std::move(chunk));
        if (bytes > kMostRoundBytes) {
          problem_ =
              fmt::format("offset {}: a round of more than {} bytes", round_.back().offset, kMostRoundBytes);
          ended_ = true;
        }
        break;
      case ChunkKind::kStacks:
        if (!stacks_.add(chunk)) {
          problem_ = fmt::format("offset {}: a list of stacks that makes no sense", chunk.offset);
          ended_ = true;
        }
        break;
      case ChunkKind::kText:
        if (text_.size() + chunk.bytes.size() <= kMostText)
          text_.append(reinterpret_cast<const char*>(chunk.bytes.data()), chunk.bytes.size());
        break;
      case ChunkKind::kRound:
        if (!round_.empty()) return true;
        break;
    }
  }
  return !round_.empty();
}

}  // namespace duress::trace
