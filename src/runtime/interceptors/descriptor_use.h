// SPDX-License-Identifier: Apache-2.0
//
// A descriptor is an object too: to close it, or to put another one in its place (dup2), while a thread uses
// it without order is a race. The other thread may then read from whatever gets the number next.
//
// To the analyses each number has 8 bytes in duress_file_descriptors, which reports name: a use reads them, a
// close writes them. A number's life may end and begin unseen (inside the C library, in libraries without
// instrumentation), so only uses before a close are compared with it, not those after it; and only if the
// number still means the file or socket that was used. Both sides must be instrumented code.
#pragma once

#include "base/types.h"

namespace duress {

/// Before a transfer or the like.
void descriptor_used(int fd, uptr pc);
/// Before it is closed.
void descriptor_closing(int fd, uptr pc);
/// It has just been made.
void descriptor_made(int fd);

}  // namespace duress
