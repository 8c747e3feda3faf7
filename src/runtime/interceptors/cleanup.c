// SPDX-License-Identifier: Apache-2.0
//
// Some waits are left by cancellation, and a once-routine by an exception: then the code after the call never
// runs. This frame has a clean-up of its own. It is C, compiled with -fexceptions: its personality routine is
// in libgcc, which every program has, while C++'s is in a library that C programs are not linked with.

struct Cleanup {
  void (*undo)(void*);
  void* data;
  int armed;
};

static void leave(struct Cleanup* cleanup) {
  if (cleanup->armed) cleanup->undo(cleanup->data);
}

__attribute__((visibility("hidden"), noinline)) int duress_with_cleanup(int (*body)(void*),
                                                                        void (*undo)(void*), void* data) {
  struct Cleanup cleanup __attribute__((cleanup(leave))) = {undo, data, 1};
  int result = body(data);
  cleanup.armed = 0;
  return result;
}
