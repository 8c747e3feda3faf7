// SPDX-License-Identifier: Apache-2.0
//
// Randomness from outside the program. In controlled mode it comes from the seed, so that the same seed makes
// the same execution. rand() and its kin are fixed anyway: their seed is the program's.
#include <stdlib.h>
#include <sys/random.h>

#include "base/prng.h"
#include "runtime/control.h"
#include "runtime/interceptors/real.h"

namespace duress {
namespace {

/// Which strand asks for how many bytes is part of the execution, so one generator for all is deterministic.
constinit Prng generator(0);

u64 next_random() {
  return generator.next();
}

void fill(void* buffer, size_t size) {
  auto* at = static_cast<unsigned char*>(buffer);
  for (u64 bits = 0, i = 0; i < size; ++i, bits >>= 8) {
    if (i % 8 == 0) bits = next_random();
    at[i] = static_cast<unsigned char>(bits);
  }
}

}  // namespace

void control_random_begin(u64 seed) {
  generator = Prng(mix(seed ^ 0x9e3779b97f4a7c15u));
}

}  // namespace duress

using namespace duress;

DURESS_INTERCEPTOR(ssize_t, getrandom, (void* buffer, size_t size, unsigned flags)) {
  if (!controlled()) return DURESS_REAL(getrandom)(buffer, size, flags);
  fill(buffer, size);
  return static_cast<ssize_t>(size);
}

DURESS_INTERCEPTOR(int, getentropy, (void* buffer, size_t size)) {
  if (!controlled() || size > 256) return DURESS_REAL(getentropy)(buffer, size);
  fill(buffer, size);
  return 0;
}

DURESS_INTERCEPTOR(uint32_t, arc4random, ()) {
  if (!controlled()) return DURESS_REAL(arc4random)();
  return static_cast<uint32_t>(next_random());
}

DURESS_INTERCEPTOR(uint32_t, arc4random_uniform, (uint32_t bound)) {
  if (!controlled() || bound == 0) return DURESS_REAL(arc4random_uniform)(bound);
  return static_cast<uint32_t>(next_random() % bound);
}

DURESS_INTERCEPTOR(void, arc4random_buf, (void* buffer, size_t size)) {
  if (!controlled()) return DURESS_REAL(arc4random_buf)(buffer, size);
  fill(buffer, size);
}

/// std::random_device, which asks the processor. Interceptors are found by name, and this is its name.
DURESS_INTERCEPTOR(unsigned, _ZNSt13random_device9_M_getvalEv, (void* device)) {
  if (!controlled()) return DURESS_REAL(_ZNSt13random_device9_M_getvalEv)(device);
  return static_cast<unsigned>(next_random());
}
