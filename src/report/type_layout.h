// SPDX-License-Identifier: Apache-2.0
//
// Where the fields of a binary's types lie, from its debug information.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace duress::report {

/// Answers one question: a field of an object lies here; what is that other address in the same object?
class TypeLayout {
 public:
  explicit TypeLayout(const std::string& path);
  ~TypeLayout();
  TypeLayout(const TypeLayout&) = delete;
  TypeLayout& operator=(const TypeLayout&) = delete;

  /// `field` is a site's variable, "Type::field" or "Type::field.inner"; `distance` the way from its first
  /// byte to the byte in question. The field there, "Type::other", or nothing if it is outside of the object
  /// or there is no debug information.
  std::optional<std::string> neighbour(const std::string& field, std::int64_t distance);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace duress::report
