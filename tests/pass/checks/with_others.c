// SPDX-License-Identifier: Apache-2.0
// Together with other instrumentation and with link-time optimisation: each body runs and gives the same answer.
// RUN: %cc -O1 -fsanitize=address,undefined -fno-sanitize-recover=all %s -o %t && for b in 0 1 2; do DURESS_TEST_BODY=$b %t || exit 1; done
// RUN: %cc -O0 -fsanitize=address %s -o %t && for b in 0 1 2; do DURESS_TEST_BODY=$b %t || exit 1; done
// RUN: %cc -O2 -flto=thin -fuse-ld=lld %s -o %t && for b in 0 1 2; do DURESS_TEST_BODY=$b %t || exit 1; done
// RUN: %cc -O2 -flto=full -fuse-ld=lld %s -o %t && for b in 0 1 2; do DURESS_TEST_BODY=$b %t || exit 1; done
// RUN: %cc -O2 -fPIC -fprofile-instr-generate -fcoverage-mapping %s -o %t && for b in 0 1 2; do LLVM_PROFILE_FILE=/dev/null DURESS_TEST_BODY=$b %t || exit 1; done
// RUN: %cc -O2 -ffunction-sections -fdata-sections -Wl,--gc-sections %s -o %t && for b in 0 1 2; do DURESS_TEST_BODY=$b %t || exit 1; done
// RUN: %cc -O2 -Wl,--gc-sections %s -o %t && %dump %t | %check %s
// CHECK: add read 4 field 'Item::value' faithful
#include <stdlib.h>
#include <string.h>
struct Item { int value; struct Item* next; };
static struct Item* head;
static int counts[16];
double _Complex turn(double _Complex z) { counts[1]++; return z * 2; }
static int add(const struct Item* item) { return item == NULL ? 0 : item->value + add(item->next); }
int main(void) {
  for (int i = 0; i < 10; ++i) {
    struct Item* item = malloc(sizeof *item);
    struct Item copy = {i, head};
    memcpy(item, &copy, sizeof copy);
    head = item;
    counts[i] += i;
  }
  int sum = add(head);
  for (int i = 0; i < 16; ++i) sum += counts[i];
  turn(1.0);
  while (head != NULL) {
    struct Item* next = head->next;
    free(head);
    head = next;
  }
  return sum == 90 && __atomic_add_fetch(&counts[1], 1, __ATOMIC_SEQ_CST) == 3 ? 0 : 1;
}
