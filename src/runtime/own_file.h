// SPDX-License-Identifier: Apache-2.0
//
// Files that the runtime makes (logs, traces) are named by the environment, so somebody else may have put a
// link, a FIFO or a file of theirs where one belongs. docs/design/security.md.
#pragma once

#include "base/types.h"

namespace duress {

/// True if this process has rights that its parent did not have: a setuid program, or one with file
/// capabilities. Its environment comes from somebody with fewer rights, and the runtime stays asleep.
bool has_raised_privileges();

/// Opens a file to append to it, made with mode 0600 if it is not there. Its folder must belong to the
/// effective user or to root; a file that is there must be a regular one of that user, with one name, and no
/// symbolic link. A descriptor, or -errno.
long open_own_file(const char* path);

}  // namespace duress
