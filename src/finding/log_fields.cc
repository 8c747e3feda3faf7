// SPDX-License-Identifier: Apache-2.0
#include "finding/log_fields.h"

#include <charconv>

namespace duress::finding {
namespace {

[[noreturn]] void bad(const char* key, const char* what) {
  throw BadLine(std::string("'") + key + "' is not " + what);
}

Address to_address(const Json& value, const char* key) {
  if (value.is_number_unsigned()) return value.get<Address>();
  if (!value.is_string()) bad(key, "an address");
  const std::string& text = value.get_ref<const std::string&>();
  Address address = 0;
  const char* last = text.data() + text.size();
  const char* first = text.starts_with("0x") ? text.data() + 2 : last;
  auto [end, error] = std::from_chars(first, last, address, 16);
  if (first == last || error != std::errc() || end != last) bad(key, "an address");
  return address;
}

}  // namespace

const Json* find(const Json& object, const char* key) {
  auto it = object.find(key);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

const Json& need(const Json& object, const char* key) {
  const Json* value = find(object, key);
  if (value == nullptr) throw BadLine(std::string("no field '") + key + "'");
  return *value;
}

Address need_address(const Json& object, const char* key) {
  return to_address(need(object, key), key);
}

Address address_or(const Json& object, const char* key, Address fallback) {
  const Json* value = find(object, key);
  return value == nullptr ? fallback : to_address(*value, key);
}

std::string text_or(const Json& object, const char* key) {
  const Json* value = find(object, key);
  if (value == nullptr) return {};
  if (!value->is_string()) bad(key, "a string");
  return value->get<std::string>();
}

std::string need_text(const Json& object, const char* key) {
  need(object, key);
  return text_or(object, key);
}

const Json& list_or(const Json& object, const char* key) {
  static const Json kEmpty = Json::array();
  const Json* value = find(object, key);
  if (value == nullptr) return kEmpty;
  if (!value->is_array()) bad(key, "a list");
  return *value;
}

std::vector<Address> stack_of(const Json& object) {
  std::vector<Address> stack;
  for (const Json& entry : list_or(object, "stack")) stack.push_back(to_address(entry, "stack"));
  return stack;
}

std::optional<SiteRecord> site_of(const Json& object) {
  const Json* site = find(object, "site");
  if (site == nullptr) return std::nullopt;
  if (!site->is_array() || site->size() != 2 || !(*site)[0].is_number_integer() ||
      !(*site)[1].is_number_unsigned())
    bad("site", "[module, index]");
  return SiteRecord{(*site)[0].get<int>(), (*site)[1].get<std::uint32_t>()};
}

}  // namespace duress::finding
