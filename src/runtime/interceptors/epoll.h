// SPDX-License-Identifier: Apache-2.0
//
// Which descriptors are in which epoll set (epoll.cc).
#pragma once

#include "base/types.h"

namespace duress {

/// Before a descriptor is closed: the kernel takes it out of its set.
void epoll_member_ends(int fd);
/// In a forked child: another thread may have been changing the table.
void epoll_after_fork();

}  // namespace duress
