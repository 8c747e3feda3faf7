// SPDX-License-Identifier: Apache-2.0
// Accesses that the optimiser merged: line 0 in its debug information, a line of the source in the site table.
// RUN: %c++ -O1 %s -o %t && %dump %t | grep checked > %t.txt && %check %s < %t.txt && ! grep ":0:" %t.txt
// RUN: %c++ -O2 %s -o %t && %dump %t | grep checked > %t.txt && %check %s < %t.txt && ! grep ":0:" %t.txt
int value, other, third;
void arms(int n) {
  if (n & 1)
    value = n;  // CHECK-DAG: merged.cc:[[@LINE]]:{{[0-9]+}} arms write 4 global 'value'
  else
    value = -n;
}
static void set(int n) {
  other = n;  // CHECK-DAG: merged.cc:[[@LINE]]:{{[0-9]+}} set write 4 global 'other'
}
void calls(int n) {
  if (n & 1)
    set(n + 5);
  else
    set(n * 3);
}
auto first = [](int n) {
  if (n & 1)
    third = n;  // CHECK-DAG: merged.cc:[[@LINE]]:{{[0-9]+}} {{.*}} write 4 global 'third'
  else
    third = -n;
};
auto second = [](int n) {
  if (n & 2)
    third = n * 2;  // CHECK-DAG: merged.cc:[[@LINE]]:{{[0-9]+}} {{.*}} write 4 global 'third'
  else
    third = -n;
};
// Else one assignment of main() would be left of both.
void (*both[])(int) = {first, second};
int main(int argc, char**) {
  arms(argc);
  calls(argc);
  first(argc);
  second(argc);
}
