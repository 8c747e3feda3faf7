// SPDX-License-Identifier: Apache-2.0
// Bodies that are made of calls are for the fast instruction selector: faithful ones, and checked ones without a hot place. Of a
// block it leaves all above an instruction that it does not know to the slow one, so they have no such instruction but calls.
// RUN: %clang -O2 %s -S -emit-llvm -fpass-plugin=%plugin -o - | %check %s
// RUN: %clang -O2 %s -c -fpass-plugin=%plugin -Rpass-missed=sdagisel -o /dev/null 2>&1 | %check %s --check-prefix=MISSED
struct Settings {
  int a, b, c, d, e, f;
  double big;
};
void notify(struct Settings* s);

// CHECK: define internal {{.*}}@straight.duress.checked({{.*}} #[[FAST:[0-9]+]] {
// CHECK: call preserve_mostcc void @__duress_test_write4(
void straight(struct Settings* s) {
  s->a = 1;
  s->b = 2;
  notify(s);
  s->c = 3;
  s->d = 4;
  switch (s->e) {
    case 3: s->f = 7; break;
    case 8: notify(s); break;
    case 19: s->big = 2; break;
    case 600: s->a = 3; break;
    default: s->b = 9;
  }
}

// A small function is hot as a whole, and so is one with a small loop.
// CHECK: define internal {{.*}}@few.duress.checked({{.*}} #[[SLOW:[0-9]+]] {
void few(struct Settings* s) {
  s->a = 1;
  notify(s);
}

// CHECK: define internal {{.*}}@loop.duress.checked({{.*}} #[[SLOW]] {
int loop(struct Settings* s, int* p) {
  s->a = s->b = s->c = s->d = s->e = 1;
  int sum = 0;
  while (*p != 0) p += sum += *p;
  notify(s);
  return sum;
}

// CHECK: attributes #[[FAST]] = {{.*}} optnone
// CHECK: attributes #[[SLOW]] = { noinline nounwind uwtable

// MISSED-NOT: FastISel missed:
// MISSED: FastISel missed call: {{.*}}@llvm.returnaddress
// MISSED-NOT: FastISel missed:
