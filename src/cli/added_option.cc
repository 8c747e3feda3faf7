// SPDX-License-Identifier: Apache-2.0
//
// Each statement is a call of CLI11's, whose validators also describe themselves in help.
#include "cli/added_option.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace duress::cli {

AddedOption AddedOption::one_of(const std::vector<std::string>& values) const {
  return AddedOption(option_->check(CLI::IsMember(values)));
}

AddedOption AddedOption::one_of(std::initializer_list<int> values) const {
  return AddedOption(option_->check(CLI::IsMember(values)));
}

AddedOption AddedOption::between(int least, int most) const {
  return AddedOption(option_->check(CLI::Range(least, most)));
}

AddedOption AddedOption::between(u64 least, u64 most) const {
  return AddedOption(option_->check(CLI::Range(least, most)));
}

AddedOption AddedOption::at_least(int least) const {
  auto check = [least](const std::string& text) -> std::string {
    double value = 0;
    if (!CLI::detail::lexical_cast(text, value)) return fmt::format("must be a number, not '{}'", text);
    return value < least ? fmt::format("must be at least {}", least) : "";
  };
  return AddedOption(option_->check(CLI::Validator(check, least > 0 ? "POSITIVE" : "NONNEGATIVE")));
}

AddedOption AddedOption::required() const {
  return AddedOption(option_->required());
}
AddedOption AddedOption::one_at_a_time() const {
  return AddedOption(option_->allow_extra_args(false));
}
AddedOption AddedOption::separated_by(char mark) const {
  return AddedOption(option_->delimiter(mark));
}
AddedOption AddedOption::value_name(const std::string& name) const {
  return AddedOption(option_->type_name(name));
}
AddedOption AddedOption::description(const std::string& text) const {
  return AddedOption(option_->description(text));
}
AddedOption AddedOption::hidden() const {
  return AddedOption(option_->group(""));
}

}  // namespace duress::cli
