// SPDX-License-Identifier: Apache-2.0
//
// The trace file, as recorder and reader share it. A header, then chunks. The target writes chunks as they
// are, the host packs them with zstd; both kinds are valid in one file, so what a killed run left is a trace
// too. Everything is little endian.
//
// Events lie in chunks of one thread each. Accesses have no time of their own: synchronisation has a *ticket*
// from one counter, and accesses lie between their thread's tickets. A round ends with a kRound chunk: all
// events with a smaller ticket are before it in the file. So a reader merges round by round, in bounded
// memory. How events are coded: trace_codec.h.
#pragma once

#include "base/types.h"

namespace duress::recording {

inline constexpr char kMagic[8] = {'D', 'u', 'r', 'e', 's', 's', 'T', 'r'};
inline constexpr u32 kVersion = 1;

struct FileHeader {
  char magic[8];
  u32 version;
  u32 flags;  // kFirstOnly
};
inline constexpr u32 kFirstOnly = 1;  // of each thread, location and epoch the first read and write only

enum class ChunkKind : u8 {
  kEvents = 1,
  kStacks = 2,  // u32 number of the first; then u64 return address and u32 caller for each stack
  kText = 3,    // lines of the log (docs/design/log.md): modules, threads
  kRound = 4,
};

struct ChunkHeader {
  u32 magic;  // kChunkMagic
  ChunkKind kind;
  u8 packed;  // 1: with zstd
  u16 reserved;
  u32 thread;  // kEvents: whose; a Tid
  u32 stored_bytes;
  u32 bytes;  // unpacked
};
inline constexpr u32 kChunkMagic = 0x31435444;     // "DTC1"
inline constexpr u32 kMostChunkBytes = 1u << 24;   // more is invalid
inline constexpr u32 kEventChunkBytes = 1u << 16;  // what a thread collects
inline constexpr u32 kMostEventBytes = 96;         // of one event
inline constexpr u32 kMostThreads = 1u << 22;      // as the runtime's table
inline constexpr u64 kTop = u64{1} << 47;          // no address is above
inline constexpr u64 kRoundBytes = u64{8} << 20;   // about this many bytes of events make a round

static_assert(sizeof(FileHeader) == 16 && sizeof(ChunkHeader) == 20);

}  // namespace duress::recording
