// SPDX-License-Identifier: Apache-2.0
//
// What a command says about an option beside its name and help. The part of CLI11's Option that is used,
// without its header.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/types.h"

namespace CLI {
class Option;
}

namespace duress::cli {

/// An option that was added, to say more about it: which values it takes, and how help shows it.
class AddedOption {
 public:
  explicit AddedOption(CLI::Option* option) : option_(option) {}

  AddedOption one_of(const std::vector<std::string>& values) const;
  AddedOption one_of(std::initializer_list<int> values) const;
  AddedOption between(int least, int most) const;
  AddedOption between(u64 least, u64 most) const;
  AddedOption at_least(int least) const;
  /// "30s", "5m", "2h", more than nothing.
  AddedOption time() const;
  /// A name of a table; `what` it names.
  AddedOption named(const std::string& what, const std::vector<std::string>& known) const;
  /// `problem` says what is wrong with a value, naming it and what is allowed; "": nothing. The message
  /// begins with the option's name.
  AddedOption checked(std::function<std::string(const std::string&)> problem) const;
  AddedOption required() const;
  /// Takes one value each time it is given; else a list takes all words up to the next option.
  AddedOption one_at_a_time() const;
  /// Values of a list may also be separated by `mark`.
  AddedOption separated_by(char mark) const;
  /// What help shows as the value, and as the description.
  AddedOption value_name(const std::string& name) const;
  AddedOption description(const std::string& text) const;
  /// Not in help.
  AddedOption hidden() const;

 private:
  CLI::Option* option_;
};

}  // namespace duress::cli
