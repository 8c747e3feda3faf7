// SPDX-License-Identifier: Apache-2.0
//
// A replay token: an execution as text that can be pasted, `D1.<program>.<payload>`.
//
// The payload is what a replay needs beside the program and its input: the seed (it fixes rand, addresses and
// clocks), which accesses are schedule points, and the deviations from the default choices. Three preemptions
// take about a dozen bytes however long the run was. A checksum at the end tells a token that lost a
// character from one that names another execution.
//
// The target writes and reads tokens too (duress::check), so nothing here allocates: callers bring memory.
#pragma once

#include "trail/execution.h"

namespace duress::trail {

inline constexpr u32 kTokenVersion = 1;

/// What a token holds. The arrays belong to whoever made it.
struct TokenView {
  Points points = Points::kSync;
  ModelId model = ModelId::kSc;  // what loads of the sites may return; the trail says which older value
  u32 tear = 8;
  bool fair = true;  // a load that was stale often enough returns the newest value
  u64 seed = 1;
  u64 most_steps = 0;
  const u32* sites = nullptr;  // keys of the sites that are schedule points
  u32 site_count = 0;
  const Deviation* trail = nullptr;  // in ascending order of choice
  u64 trail_count = 0;
  const Prediction* predictions = nullptr;  // values of the future that loads return
  u32 prediction_count = 0;
  u32 wait_count = 0;              // this many of the sites, the last ones, are Request::wait_sites
  bool sample = false;             // of arrays, only some elements are points
  bool variables = false;          // as in Request
  bool memory = false;             // as in Request
  bool systematic = false;         // only steps that other strands can observe are choices (exhaustive)
  u32 spurious = 0, timeouts = 0;  // as in Request
};

/// Bytes that write_token may need for `out`.
u64 token_room(const TokenView& view, const char* program);

/// Writes the token and a NUL; returns its length. `program`: a path, of which the base name is used.
u64 write_token(const TokenView& view, const char* program, char* out);

enum class TokenError : u32 {
  kNone = 0,
  kNotAToken,  // garbage
  kVersion,    // of another version; see TokenHead::version
  kDamaged,    // a token, but cut off or mistyped
};

struct TokenHead {
  u32 version = 0;
  const char* program = nullptr;  // in the text, url-safe as token_program makes it; not NUL-terminated
  u64 program_length = 0;
};

/// Bytes of memory, aligned to 8, that read_token needs for a text of that length.
u64 token_memory(u64 length);

/// Decodes a token. `view` then points into `memory`. Any bytes may be given.
TokenError read_token(const char* text, u64 length, void* memory, TokenHead& head, TokenView& view);

/// The base name of `path` as it stands in a token: what is not a letter, a digit, '-', '_' or '.' becomes
/// '_'. Writes at most kMostProgram characters and a NUL; returns the length.
inline constexpr u64 kMostProgram = 64;
u64 token_program(const char* path, char* out);

}  // namespace duress::trail
