// SPDX-License-Identifier: Apache-2.0
//
// Last in the archive: see text_begin.cc.
extern "C" __attribute__((visibility("hidden"), used)) void duress_text_end() {
  __asm__ volatile("nop\n\tnop\n\tnop");
}
