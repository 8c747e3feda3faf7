// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"

#include "base/check.h"

namespace duress {

int Arena::size_class(size_t bytes) {
  int c = kSmallest;
  while ((size_t{1} << c) < bytes) ++c;
  return c;
}

void* Arena::map_tracked(size_t bytes) {
  // 64 bytes in front hold the list of mappings and keep cache-line alignment.
  size_t total = (bytes + 64 + kPageSize - 1) & ~(kPageSize - 1);
  auto* mapping = static_cast<Mapping*>(map_memory(total));
  if (!mapping) fatal("out of memory for the detector's own data", "give the process more memory");
  mapping->bytes = total;
  mapping->next = mappings_;
  mappings_ = mapping;
  mapped_ += total;
  return reinterpret_cast<char*>(mapping) + 64;
}

void Arena::reserve(size_t bytes) {
  SpinGuard guard(lock_);
  if (static_cast<size_t>(bump_end_ - bump_) >= bytes) return;
  size_t refill = bytes > kRefill ? bytes : kRefill;
  bump_ = static_cast<char*>(map_tracked(refill));
  bump_end_ = bump_ + refill;
}

void* Arena::allocate(size_t bytes) {
  int c = size_class(bytes);
  size_t size = size_t{1} << c;
  SpinGuard guard(lock_);
  if (c > kLargest) return map_tracked(size);
  if (FreeBlock* block = free_[c]) {
    free_[c] = block->next;
    return block;
  }
  // Whole lines are taken, and smaller blocks cut out of one, so that blocks of a line and more are aligned
  // to it.
  const size_t taken = size < kLine ? kLine : size;
  if (static_cast<size_t>(bump_end_ - bump_) < taken) {
    size_t refill = taken > kRefill ? taken : kRefill;
    bump_ = static_cast<char*>(map_tracked(refill));
    bump_end_ = bump_ + refill;
  }
  char* p = bump_;
  bump_ += taken;
  for (size_t at = size; at < taken; at += size) free_[c] = new (p + at) FreeBlock{free_[c]};
  return p;
}

void Arena::free(void* p, size_t bytes) {
  if (!p) return;
  int c = size_class(bytes);
  if (c > kLargest) {  // keep the address range, give the pages back: rare, and simpler than a list
    auto at = (reinterpret_cast<uptr>(p) + kPageSize - 1) & ~(kPageSize - 1);
    auto end = (reinterpret_cast<uptr>(p) + bytes) & ~(kPageSize - 1);
    if (end > at) drop_pages(reinterpret_cast<void*>(at), end - at);
    return;
  }
  SpinGuard guard(lock_);
  auto* block = static_cast<FreeBlock*>(p);
  block->next = free_[c];
  free_[c] = block;
}

void Arena::release_all() {
  while (Mapping* mapping = mappings_) {
    mappings_ = mapping->next;
    unmap_memory(mapping, mapping->bytes);
  }
  bump_ = bump_end_ = nullptr;
  mapped_ = 0;
  for (FreeBlock*& list : free_) list = nullptr;
}

}  // namespace duress
