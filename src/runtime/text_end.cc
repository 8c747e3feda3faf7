// SPDX-License-Identifier: Apache-2.0
//
// Last in the archive: see text_begin.cc.
extern "C" __attribute__((visibility("hidden"), used)) void duress_text_end() {
  __asm__ volatile("nop\n\tnop\n\tnop");
}

// Kept in a stripped program too, where `duress doctor` must know what is ours.
extern "C" __attribute__((visibility("default"), used, alias("duress_text_end"))) void __duress_text_end();
