// SPDX-License-Identifier: Apache-2.0
// Thread-local memory too large for the static block: each thread's is allocated when it is first used.
thread_local long array[1 << 17];
extern "C" long* get_array() {
  return &array[0];
}
