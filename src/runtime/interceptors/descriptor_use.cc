// SPDX-License-Identifier: Apache-2.0
#include "runtime/interceptors/descriptor_use.h"

#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/prng.h"
#include "base/raw.h"
#include "runtime/interceptors/object.h"

namespace duress {

constexpr int kMost = 4096;

extern "C" {
/// What reports show: the number is the offset divided by 8.
__attribute__((visibility("hidden"), used)) u64 duress_file_descriptors[kMost];
}

namespace {

/// What a number meant when it was first used; 0: not used since it was made or closed.
constinit std::atomic<u64> meanings[kMost] = {};

u64 meaning_of(int fd) {
  struct stat status;
  if (raw_syscall(SYS_fstat, fd, reinterpret_cast<long>(&status)) != 0) return 0;
  return mix(status.st_ino ^ mix(status.st_dev)) | 1;
}

bool is_known(int fd) {
  return awake() && g_objects_compared && fd >= 0 && fd < kMost;
}

}  // namespace

void descriptor_used(int fd, uptr pc) {
  if (!is_known(fd) || !is_instrumented_code(pc)) return;
  if (meanings[fd].load(std::memory_order_relaxed) == 0)
    meanings[fd].store(meaning_of(fd), std::memory_order_relaxed);
  object_accessed(&duress_file_descriptors[fd], /*write=*/false, pc);
}

void descriptor_closing(int fd, uptr pc) {
  if (!is_known(fd)) return;
  u64 used = meanings[fd].exchange(0, std::memory_order_relaxed);
  if (used == 0) return;
  if (is_instrumented_code(pc) && meaning_of(fd) == used)
    object_accessed(&duress_file_descriptors[fd], /*write=*/true, pc);
  object_begins(&duress_file_descriptors[fd]);
}

void descriptor_made(int fd) {
  if (!is_known(fd) || meanings[fd].exchange(0, std::memory_order_relaxed) == 0) return;
  object_begins(&duress_file_descriptors[fd]);
}

}  // namespace duress
