// SPDX-License-Identifier: Apache-2.0
// Where there are many accesses, those in loops are tested in the code; the others call a function that makes the same test.
// RUN: %clang -O2 -g %s -S -emit-llvm -fpass-plugin=%plugin -o - | %check %s
// RUN: %clang -O2 -g %s -S -emit-llvm -fpass-plugin=%plugin -o - | %check %s --check-prefix=FAITHFUL
// RUN: %cc -O2 %s -o %t && DURESS_TEST_BODY=1 DURESS_TEST_COUNTS=1 %t 2>&1 | %check %s --check-prefix=COUNT
struct Settings {
  int a, b, c, d, e, f;
};
int last;

// CHECK-LABEL: define internal {{.*}}@many.duress.checked
// CHECK: call preserve_mostcc void @__duress_test_write4(
// CHECK-NOT: @__duress_check_write4
// CHECK: call preserve_mostcc void @__duress_check_read4(
// CHECK-NOT: @__duress_test_read4
// CHECK: {{^}}}

// FAITHFUL-LABEL: define internal {{.*}}@many.duress.faithful
// FAITHFUL: call void @__duress_store4(
// FAITHFUL: load i8, ptr {{.*}}@__duress_quiet
// FAITHFUL: {{^}}}
__attribute__((noinline)) int many(struct Settings* s, int* p) {
  s->a = 1;
  s->b = 2;
  s->c = 3;
  s->d = 4;
  s->e = 5;
  s->f = 6;
  int rounds = 0;
  while (*p != 0) {
    p = p + *p;
    ++rounds;
  }
  return rounds;
}

// CHECK-LABEL: define internal {{.*}}@few.duress.checked
// CHECK: @__duress_check_write4(
// CHECK-NOT: __duress_test
// CHECK: {{^}}}
__attribute__((noinline)) void few(int n) { last = n; }

int main(void) {
  struct Settings settings;
  int chain[8] = {1, 1, 1, 1, 0};
  few(many(&settings, chain));
  return settings.f == 6 && last == 4 ? 0 : 1;
}
// COUNT: __duress_check_write4 1
// COUNT: __duress_test_write4
// COUNT: frames 0
