// SPDX-License-Identifier: Apache-2.0
//
// Payload, before base64url: version, flags (bit 0: points all, bit 1: a step limit follows, bit 2: waits
// follow the sites, bit 3: tearing words of 4 bytes, bit 4: unfair, bit 5: the memory model's number follows,
// with bit 7 if arrays are sampled, bit 5 if sites stand for their variables, bit 4 if memory errors are
// looked for, and bit 6 if the bounds of spurious wake-ups and timeouts follow it, bit 6: predictions follow
// at the end, bit 7: a systematic execution), [model, [spurious wake-ups, timeouts,]] seed, [step limit],
// number of sites, the sites' keys (4 bytes each, little endian), [how many of the last are wait sites,]
// number of deviations, per deviation the gap to the one before and pick * 2 + kind, [number of predictions,
// of each strand, site (4 bytes), ordinal, size, as many bytes of the value,] CRC-32 of all that (4 bytes).
// Numbers are LEB128. The program's name is hashed into the checksum as well, so that a payload pasted behind
// another name is detected.
#include "trail/token.h"

namespace duress::trail {
namespace {

constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr u64 kLongestVarint = 10;
constexpr u8 kSample = 0x80, kWaitBounds = 0x40, kVariables = 0x20,
             kMemory = 0x10;  // in the byte of the model's number

constexpr int digit_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '-' ? 62 : c == '_' ? 63 : -1;
}

constexpr bool is_name(char c) {
  return digit_value(c) >= 0 || c == '.';
}

u32 crc32(u32 crc, u8 byte) {
  crc ^= byte;
  for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  return crc;
}

/// Bytes in, base64url out, with the checksum kept along.
class Encoder {
 public:
  explicit Encoder(char* out) : out_(out) {}

  void byte(u8 value) {
    crc_ = crc32(crc_, value);
    bits_ = bits_ << 8 | value;
    count_ += 8;
    while (count_ >= 6) {
      count_ -= 6;
      *out_++ = kDigits[bits_ >> count_ & 63];
    }
  }
  void varint(u64 value) {
    for (; value >= 0x80; value >>= 7) byte(static_cast<u8>(value | 0x80));
    byte(static_cast<u8>(value));
  }
  void word(u32 value) {
    for (int shift = 0; shift < 32; shift += 8) byte(static_cast<u8>(value >> shift));
  }
  void hash(const char* text, u64 length) {
    for (u64 i = 0; i < length; ++i) crc_ = crc32(crc_, static_cast<u8>(text[i]));
  }
  char* finish() {
    word(~crc_);
    if (count_ > 0) *out_++ = kDigits[bits_ << (6 - count_) & 63];
    return out_;
  }

 private:
  char* out_;
  u32 crc_ = ~u32{0};
  u32 bits_ = 0;
  u32 count_ = 0;
};

/// Reads a payload; `good` becomes false at the first invalid byte and stays so.
struct Decoder {
  const u8* at;
  const u8* end;
  bool good = true;

  u8 byte() {
    if (at == end) {
      good = false;
      return 0;
    }
    return *at++;
  }
  u64 varint() {
    u64 value = 0;
    for (u32 shift = 0; shift < 64; shift += 7) {
      u8 next = byte();
      if (shift == 63 && next > 1) good = false;
      value |= static_cast<u64>(next & 0x7f) << shift;
      if (!(next & 0x80)) return value;
    }
    good = false;
    return 0;
  }
  u32 word() {
    u32 value = 0;
    for (u32 shift = 0; shift < 32; shift += 8) value |= static_cast<u32>(byte()) << shift;
    return value;
  }
};

/// The payload's bytes into `bytes`; how many without the checksum. 0: it is damaged.
u64 decode_payload(const char* text, const TokenHead& head, u64 length, u8* bytes) {
  u64 begin = static_cast<u64>(head.program - text) + head.program_length + 1, count = 0;
  u32 bits = 0, held = 0, crc = ~u32{0};
  for (u64 i = begin; i < length; ++i) {
    bits = bits << 6 | static_cast<u32>(digit_value(text[i]));
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes[count++] = static_cast<u8>(bits >> held);
    }
  }
  if (count < 9 || held >= 6 || (bits & ((1u << held) - 1)) != 0) return 0;
  count -= 4;
  for (u64 i = 0; i < head.program_length; ++i) crc = crc32(crc, static_cast<u8>(head.program[i]));
  for (u64 i = 0; i < count; ++i) crc = crc32(crc, bytes[i]);
  return Decoder{bytes + count, bytes + count + 4}.word() == ~crc ? count : 0;
}

/// Version, name and where the payload begins.
TokenError read_head(const char* text, u64 length, TokenHead& head) {
  if (length < 4 || text[0] != 'D') return TokenError::kNotAToken;
  u64 at = 1;
  u32 version = 0;
  for (; at < length && at < 7 && text[at] >= '0' && text[at] <= '9'; ++at)
    version = version * 10 + static_cast<u32>(text[at] - '0');
  if (at == 1 || at == length || text[at] != '.') return TokenError::kNotAToken;
  head.version = version;
  if (version != kTokenVersion) return TokenError::kVersion;

  u64 name = at + 1, last = 0;  // the payload has no dots, a program's name may
  for (u64 i = name; i < length; ++i) {
    if (text[i] == '.') last = i;
    if (!is_name(text[i])) return TokenError::kNotAToken;
  }
  if (last <= name || last - name > kMostProgram)
    return last == 0 ? TokenError::kNotAToken : TokenError::kDamaged;
  head.program = text + name;
  head.program_length = last - name;
  return TokenError::kNone;
}

bool read_deviations(Decoder& in, Deviation* trail, u64 count) {
  u64 choice = 0;
  for (u64 i = 0; i < count; ++i) {
    u64 gap = in.varint(), what = in.varint();
    choice += gap;
    if (!in.good || gap > 0xffffffffu || choice > 0xffffffffu || what > 0xffffffffu || (i > 0 && gap == 0))
      return false;
    trail[i] = Deviation::of(static_cast<u32>(choice), static_cast<ChoiceKind>(what & 1),
                             static_cast<u32>(what >> 1));
  }
  return true;
}

bool read_predictions(Decoder& in, Prediction* predictions, u64 count) {
  for (u64 i = 0; i < count; ++i) {
    u64 strand = in.varint();
    u32 site = in.word();
    u64 ordinal = in.varint();
    u32 size = in.byte();
    if (!in.good || strand > 0xffffffffu || ordinal > 0xffffffffu || size < 1 || size > 16) return false;
    predictions[i] = {static_cast<u32>(strand), site, static_cast<u32>(ordinal), size, {}};
    for (u32 k = 0; k < size; ++k) predictions[i].value[k / 8] |= u64{in.byte()} << 8 * (k % 8);
  }
  return true;
}

}  // namespace

u64 token_program(const char* path, char* out) {
  const char* base = path;
  for (const char* c = path; *c; ++c) {
    if (*c == '/' && c[1]) base = c + 1;
  }
  u64 length = 0;
  for (; base[length] && base[length] != '/' && length < kMostProgram; ++length) {
    out[length] = is_name(base[length]) ? base[length] : '_';
  }
  if (length == 0) out[length++] = '_';
  out[length] = 0;
  return length;
}

u64 token_room(const TokenView& view, const char*) {
  u64 bytes = 3 + 7 * kLongestVarint + 4 * u64{view.site_count} + 2 * 5 * view.trail_count + kLongestVarint +
              40 * u64{view.prediction_count} + 5;
  return 16 + kMostProgram + (bytes + 2) / 3 * 4 + 1;
}

u64 write_token(const TokenView& view, const char* program, char* out) {
  char* at = out;
  *at++ = 'D';
  *at++ = static_cast<char>('0' + kTokenVersion);
  *at++ = '.';
  char* name = at;
  u64 length = token_program(program, at);
  at += length;
  *at++ = '.';
  Encoder encoder(at);
  encoder.hash(name, length);
  encoder.byte(kTokenVersion);
  bool wait_bounds = view.spurious || view.timeouts;
  bool has_model = view.model != ModelId::kSc || view.sample || view.variables || view.memory || wait_bounds;
  encoder.byte(static_cast<u8>((view.points == Points::kAll ? 1 : 0) | (view.most_steps ? 2 : 0) |
                               (view.wait_count ? 4 : 0) | (view.tear == 4 ? 8 : 0) | (view.fair ? 0 : 16) |
                               (has_model ? 32 : 0) | (view.prediction_count ? 64 : 0) |
                               (view.systematic ? 128 : 0)));
  if (has_model)
    encoder.byte(static_cast<u8>(raw(view.model) | (view.sample ? kSample : 0) |
                                 (view.variables ? kVariables : 0) | (view.memory ? kMemory : 0) |
                                 (wait_bounds ? kWaitBounds : 0)));
  if (wait_bounds) encoder.varint(view.spurious), encoder.varint(view.timeouts);
  encoder.varint(view.seed);
  if (view.most_steps) encoder.varint(view.most_steps);
  encoder.varint(view.site_count);
  for (u32 i = 0; i < view.site_count; ++i) encoder.word(view.sites[i]);
  if (view.wait_count) encoder.varint(view.wait_count);
  encoder.varint(view.trail_count);
  u32 before = 0;
  for (u64 i = 0; i < view.trail_count; ++i) {
    const Deviation& deviation = view.trail[i];
    encoder.varint(deviation.choice - before);
    encoder.varint(u64{deviation.pick()} * 2 + raw(deviation.kind()));
    before = deviation.choice;
  }
  if (view.prediction_count) encoder.varint(view.prediction_count);
  for (u32 i = 0; i < view.prediction_count; ++i) {
    const Prediction& prediction = view.predictions[i];
    encoder.varint(prediction.strand);
    encoder.word(prediction.site);
    encoder.varint(prediction.ordinal);
    encoder.byte(static_cast<u8>(prediction.size));
    for (u32 k = 0; k < prediction.size && k < 16; ++k)
      encoder.byte(static_cast<u8>(prediction.value[k / 8] >> 8 * (k % 8)));
  }
  at = encoder.finish();
  *at = 0;
  return static_cast<u64>(at - out);
}

u64 token_memory(u64 length) {
  // A deviation takes at least 2 bytes, that is 2 2/3 characters, and becomes 8 bytes; sites take less, and
  // predictions become 32 bytes from at least 8. The bytes themselves come first.
  return (length + 7) / 8 * 8 + 4 * length + 64;
}

TokenError read_token(const char* text, u64 length, void* memory, TokenHead& head, TokenView& view) {
  if (TokenError error = read_head(text, length, head); error != TokenError::kNone) return error;
  u8* bytes = static_cast<u8*>(memory);
  u64 count = decode_payload(text, head, length, bytes);
  if (count == 0) return TokenError::kDamaged;

  // From here on only a forged token can be wrong; it must do no harm either.
  Decoder in{bytes, bytes + count};
  u8 flags_version = in.byte(), flags = in.byte();
  if (flags_version != kTokenVersion) return TokenError::kDamaged;
  view.points = flags & 1 ? Points::kAll : Points::kSync;
  u8 model = flags & 32 ? in.byte() : 0;
  view.model = static_cast<ModelId>(model & ~(kSample | kWaitBounds | kVariables | kMemory));
  u64 spurious = model & kWaitBounds ? in.varint() : 0, timeouts = model & kWaitBounds ? in.varint() : 0;
  if (spurious > 0xffffffffu || timeouts > 0xffffffffu) return TokenError::kDamaged;
  view.spurious = static_cast<u32>(spurious);
  view.timeouts = static_cast<u32>(timeouts);
  view.sample = model & kSample;
  view.variables = model & kVariables;
  view.memory = model & kMemory;
  view.tear = flags & 8 ? 4 : 8;
  view.fair = !(flags & 16);
  view.systematic = flags & 128;
  view.seed = in.varint();
  view.most_steps = flags & 2 ? in.varint() : 0;
  u64 sites = in.varint();
  if (!in.good || sites > static_cast<u64>(in.end - in.at) / 4) return TokenError::kDamaged;
  char* room = static_cast<char*>(memory) + (count + 4 + 7) / 8 * 8;
  u32* keys = reinterpret_cast<u32*>(room);
  for (u64 i = 0; i < sites; ++i) keys[i] = in.word();
  u64 waits = flags & 4 ? in.varint() : 0;
  if (waits > sites) return TokenError::kDamaged;
  u64 deviations = in.varint();
  if (!in.good || deviations > static_cast<u64>(in.end - in.at) / 2) return TokenError::kDamaged;
  auto* trail = reinterpret_cast<Deviation*>(room + (sites + 1) / 2 * 8);
  if (!read_deviations(in, trail, deviations)) return TokenError::kDamaged;
  auto* predictions = reinterpret_cast<Prediction*>(trail + deviations);
  u64 predicted = flags & 64 ? in.varint() : 0;
  if (!in.good || predicted > static_cast<u64>(in.end - in.at) / 8) return TokenError::kDamaged;
  if (!read_predictions(in, predictions, predicted)) return TokenError::kDamaged;
  if (!in.good || in.at != in.end) return TokenError::kDamaged;
  view.predictions = predictions;
  view.prediction_count = static_cast<u32>(predicted);
  view.sites = keys;
  view.site_count = static_cast<u32>(sites);
  view.wait_count = static_cast<u32>(waits);
  view.trail = trail;
  view.trail_count = deviations;
  return TokenError::kNone;
}

}  // namespace duress::trail
