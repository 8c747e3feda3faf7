// SPDX-License-Identifier: Apache-2.0
//
// First in the archive: the runtime's code lies between this function and that of text_end.cc
// (preemption.cc).
extern "C" __attribute__((visibility("hidden"), used)) void duress_text_begin() {
  __asm__ volatile("nop\n\tnop");
}

// Kept in a stripped program too, where `duress doctor` must know what is ours.
extern "C" __attribute__((visibility("default"), used, alias("duress_text_begin"))) void
__duress_text_begin();
