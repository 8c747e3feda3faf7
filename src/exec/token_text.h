// SPDX-License-Identifier: Apache-2.0
//
// Tokens as users give and get them: text, or `@FILE` when the text is too long to paste.
#pragma once

#include <string>

#include "exec/plan.h"

namespace duress::exec {

/// Tokens longer than this go to a file: about five lines of a terminal.
inline constexpr std::size_t kMostTokenCharacters = 400;

/// The token that names the execution `plan` had when it chose `trail`.
std::string make_token(const Plan& plan, const Trail& trail, const std::string& program);

/// A token, read. `error` is empty or one line; `plan` replays the execution.
struct TokenText {
  std::string error;
  std::string program;  // its base name, as tokens spell it
  Plan plan;
};

/// Reads a token or `@FILE` with one.
TokenText read_token_text(const std::string& text);

/// "" if the token is of this program, else one line that says it is not.
std::string check_token_program(const TokenText& token, const std::string& program);

/// The content of a trail file: a line for people, then the token.
std::string trail_file_text(const std::string& id, const std::string& token);

}  // namespace duress::exec
