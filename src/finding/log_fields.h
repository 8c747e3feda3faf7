// SPDX-License-Identifier: Apache-2.0
//
// Fields of a line of the log. A field of another type than it should have makes the whole line unusable:
// BadLine.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "finding/log_record.h"

namespace duress::finding {

using Json = nlohmann::json;

struct BadLine : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Null and a missing key are the same: nullptr.
const Json* find(const Json& object, const char* key);
const Json& need(const Json& object, const char* key);

template <typename Number>
Number number_or(const Json& object, const char* key, Number fallback) {
  const Json* value = find(object, key);
  if (value == nullptr) return fallback;
  if (!value->is_number_integer()) throw BadLine(std::string("'") + key + "' is not a number");
  return value->get<Number>();
}
template <typename Number>
Number need_number(const Json& object, const char* key) {
  need(object, key);
  return number_or<Number>(object, key, 0);
}

Address address_or(const Json& object, const char* key, Address fallback);
Address need_address(const Json& object, const char* key);
std::string text_or(const Json& object, const char* key);
std::string need_text(const Json& object, const char* key);
/// Empty if there is none.
const Json& list_or(const Json& object, const char* key);
std::vector<Address> stack_of(const Json& object);
/// `site`: [module, index].
std::optional<SiteRecord> site_of(const Json& object);

}  // namespace duress::finding
