// SPDX-License-Identifier: Apache-2.0
#include "collide/unwind_tables.h"

#include <cstring>
#include <map>
#include <string>

namespace duress::collide {
namespace {

/// A reader over bytes that lie at an address: the pointer encodings of unwind tables need both.
class Cursor {
 public:
  Cursor(std::string_view bytes, Address address) : bytes_(bytes), address_(address) {}
  bool good() const { return good_; }
  Address address() const { return address_ + at_; }

  template <typename T>
  T take() {
    T value{};
    if (!good_ || bytes_.size() - at_ < sizeof(T)) {
      good_ = false;
      return value;
    }
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }

  std::uint64_t take_leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      auto byte = take<std::uint8_t>();
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) break;
    }
    return value;
  }

  void skip(std::size_t n) {
    if (bytes_.size() - at_ < n)
      good_ = false;
    else
      at_ += n;
  }

  /// A pointer as `encoding` (DW_EH_PE_*) says; `data` is what data-relative ones count from.
  Address take_pointer(std::uint8_t encoding, Address data) {
    Address here = address();
    Address value = 0;
    switch (encoding & 0x0f) {
      case 0x00:
      case 0x04:
      case 0x0c:
        value = take<std::uint64_t>();
        break;
      case 0x03:
        value = take<std::uint32_t>();
        break;
      case 0x0b:
        value = static_cast<Address>(static_cast<std::int64_t>(take<std::int32_t>()));
        break;
      default:
        good_ = false;
    }
    switch (encoding & 0x70) {
      case 0x00:
        return value;
      case 0x10:
        return value + here;
      case 0x30:
        return value + data;
      default:
        good_ = false;
        return 0;
    }
  }

 private:
  std::string_view bytes_;
  Address address_;
  std::size_t at_ = 0;
  bool good_ = true;
};

/// How the addresses in the entries of this CIE are written; nothing if that cannot be read.
std::optional<std::uint8_t> pointer_encoding(Cursor cie) {
  cie.take<std::uint32_t>();
  if (cie.take<std::uint32_t>() != 0) return std::nullopt;
  auto version = cie.take<std::uint8_t>();
  std::string augmentation;
  while (char c = cie.take<char>()) augmentation += c;
  if (augmentation.empty()) return std::uint8_t{0};
  if (augmentation[0] != 'z') return std::nullopt;
  cie.take_leb();
  cie.take_leb();
  if (version == 1)
    cie.take<std::uint8_t>();
  else
    cie.take_leb();
  cie.take_leb();
  for (char c : augmentation.substr(1)) {
    if (c == 'R') {
      auto encoding = cie.take<std::uint8_t>();
      return cie.good() ? std::optional<std::uint8_t>(encoding) : std::nullopt;
    }
    if (c == 'P') {
      auto encoding = cie.take<std::uint8_t>();
      cie.take_pointer(encoding & 0x0f, 0);
    } else if (c == 'L') {
      cie.take<std::uint8_t>();
    } else if (c != 'S' && c != 'B') {
      return std::nullopt;
    }
  }
  return cie.good() ? std::optional<std::uint8_t>(std::uint8_t{0}) : std::nullopt;
}

}  // namespace

std::optional<Address> unwind_tables_from_header(std::string_view bytes, Address address) {
  Cursor header(bytes, address);
  auto version = header.take<std::uint8_t>();
  auto encoding = header.take<std::uint8_t>();
  header.take<std::uint16_t>();
  Address start = header.take_pointer(encoding, address);
  if (!header.good() || version != 1) return std::nullopt;
  return start;
}

std::vector<Range> unwound_functions(std::string_view bytes, Address start) {
  std::vector<Range> functions;
  std::map<Address, std::optional<std::uint8_t>> encodings;  // by CIE
  for (std::uint64_t offset = 0; offset < bytes.size();) {
    Cursor entry(bytes.substr(offset), start + offset);
    auto length = entry.take<std::uint32_t>();
    if (!entry.good() || length == 0 || length == 0xffffffff || length > bytes.size()) break;
    offset += length + sizeof length;
    Address here = entry.address();
    auto distance = entry.take<std::uint32_t>();
    if (distance == 0 || distance > here - start) continue;  // a CIE itself, or none
    Address cie = here - distance;
    auto [it, fresh] = encodings.try_emplace(cie);
    if (fresh) it->second = pointer_encoding(Cursor(bytes.substr(cie - start), cie));
    if (!it->second) continue;
    Range range;
    range.begin = entry.take_pointer(*it->second, 0);
    range.end = range.begin + entry.take_pointer(*it->second & 0x0f, 0);
    if (entry.good() && range.end > range.begin) functions.push_back(range);
  }
  return functions;
}

}  // namespace duress::collide
