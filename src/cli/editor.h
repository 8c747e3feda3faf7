// SPDX-License-Identifier: Apache-2.0
//
// Links of a page that open a source line in an editor: `--editor`.
#pragma once

#include <string>

namespace duress::cli {

/// The link of VS Code, which is the default.
inline constexpr const char* kDefaultEditor = "vscode";

/// The template of a link for what --editor was given: the name of an editor, "none" ("": no links), or a
/// template with {file}, {line} and {column}. `error` says what is wrong with another text.
std::string editor_link(const std::string& choice, std::string& error);

}  // namespace duress::cli
