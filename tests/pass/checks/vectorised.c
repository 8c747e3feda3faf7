// SPDX-License-Identifier: Apache-2.0
// Vectorised loops: one range in front, whatever the optimiser made of the addresses.
// RUN: %clang -O2 -g %s -S -emit-llvm -fpass-plugin=%plugin -o - | %check %s

// An array inside a structure: the member's offset is in the index.
// CHECK-LABEL: define internal {{.*}}@member.duress.checked
// CHECK: call void @__duress_range_write(ptr %{{.*}}, i64 480
// CHECK-NOT: __duress_check
// CHECK: ret i64
struct message { long hops; unsigned long words[60]; };
unsigned long member(struct message* m) {
  unsigned long sum = 0;
  for (unsigned long *w = m->words, *end = w + 60; w != end; ++w) sum += (*w = *w * 5 + 1) >> 33;
  return sum;
}
