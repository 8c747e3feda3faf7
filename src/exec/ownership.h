// SPDX-License-Identifier: Apache-2.0
//
// Folders of other users. Records name programs that are started, and whoever owns a folder can replace what
// is in it: docs/design/security.md.
#pragma once

#include <string>

namespace duress::exec {

/// "" if `path` is not there, or belongs to this user or to root (or, under sudo, to the user who called it);
/// else whose it is and what to do.
std::string owner_problem(const std::string& path);

/// A folder for this user alone (mode 0700), made if need be: `path`, or with a number behind it if somebody
/// else has taken that name. "" and errno if there is none.
std::string private_folder(const std::string& path);

}  // namespace duress::exec
