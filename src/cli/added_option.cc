// SPDX-License-Identifier: Apache-2.0
//
// Each statement is a call of CLI11's, whose validators also describe themselves in help.
#include "cli/added_option.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "catalog/lookup.h"
#include "cli/options.h"

namespace duress::cli {

namespace {

/// "a, b or c"
std::string alternatives(const std::vector<std::string>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i)
    text += (i == 0 ? "" : i + 1 == values.size() ? " or " : ", ") + values[i];
  return text;
}

bool is_whole_number(const std::string& text) {
  std::size_t sign = text.rfind('-', 0) == 0 || text.rfind('+', 0) == 0 ? 1 : 0;
  return text.size() > sign && std::all_of(text.begin() + static_cast<std::ptrdiff_t>(sign), text.end(),
                                           [](char c) { return c >= '0' && c <= '9'; });
}

/// A whole number within limits, as a message says it.
template <class Number>
CLI::Validator range(Number least, Number most, const std::string& allowed, const std::string& help) {
  return CLI::Validator(
      [=](const std::string& text) -> std::string {
        Number value{};
        auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        bool fits = is_whole_number(text) && error == std::errc() && end == text.data() + text.size();
        if (fits && value >= least && value <= most) return "";
        return fmt::format("must be {}, not '{}'", allowed, text);
      },
      help);
}

}  // namespace

AddedOption AddedOption::checked(std::function<std::string(const std::string&)> problem) const {
  return AddedOption(option_->check(
      CLI::Validator([problem = std::move(problem)](const std::string& text) { return problem(text); }, "")));
}

AddedOption AddedOption::time() const {
  return checked([](const std::string& text) {
    double ignored = 0;
    return read_time(text, ignored);
  });
}

AddedOption AddedOption::named(const std::string& what, const std::vector<std::string>& known) const {
  return checked([=](const std::string& text) -> std::string {
    bool is_known = std::find(known.begin(), known.end(), text) != known.end();
    return is_known ? "" : catalog::unknown_name(what, text, known);
  });
}

AddedOption AddedOption::one_of(const std::vector<std::string>& values) const {
  auto check = [values](const std::string& text) -> std::string {
    if (std::find(values.begin(), values.end(), text) != values.end()) return "";
    return fmt::format("must be {}, not '{}'{}", alternatives(values), text,
                       catalog::nearest_hint(text, values));
  };
  return AddedOption(option_->check(CLI::Validator(check, fmt::format("{{{}}}", fmt::join(values, ",")))));
}

AddedOption AddedOption::one_of(std::initializer_list<int> values) const {
  std::vector<std::string> texts;
  for (int value : values) texts.push_back(std::to_string(value));
  return one_of(texts);
}

AddedOption AddedOption::between(int least, int most) const {
  return AddedOption(
      option_->check(range(least, most, fmt::format("a whole number from {} to {}", least, most),
                           CLI::Range(least, most).get_description())));
}

AddedOption AddedOption::between(u64 least, u64 most) const {
  return AddedOption(
      option_->check(range(least, most, fmt::format("a whole number from {} to {}", least, most),
                           CLI::Range(least, most).get_description())));
}

AddedOption AddedOption::at_least(int least) const {
  return AddedOption(
      option_->check(range(u64(least), ~u64{0}, fmt::format("a whole number, at least {}", least),
                           least > 0 ? "POSITIVE" : "NONNEGATIVE")));
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
