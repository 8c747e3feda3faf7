// SPDX-License-Identifier: Apache-2.0
// Calls have entries in the debug info of plain bodies only: the other two are full of calls of hooks.
// RUN: %clang -O2 -g -fPIE %s -S -emit-llvm -fpass-plugin=%plugin -o - | %check %s
void other(int* p);

void f(int* p) {
  *p = 1;
  other(p);
  *p = 2;
}

// CHECK-DAG: define {{.*}}void @f({{.*}} !dbg [[PLAIN:![0-9]+]]
// CHECK-DAG: define internal {{.*}}void @f.duress.checked({{.*}} !dbg [[CHECKED:![0-9]+]]
// CHECK-DAG: define internal {{.*}}void @f.duress.faithful({{.*}} !dbg [[FAITHFUL:![0-9]+]]
// CHECK-DAG: [[PLAIN]] = distinct !DISubprogram(name: "f", {{.*}}flags: {{[A-Za-z |]*}}DIFlagAllCallsDescribed
// CHECK-DAG: [[CHECKED]] = distinct !DISubprogram(name: "f", {{.*}}flags: DIFlagPrototyped, spFlags
// CHECK-DAG: [[FAITHFUL]] = distinct !DISubprogram(name: "f", {{.*}}flags: DIFlagPrototyped, spFlags
