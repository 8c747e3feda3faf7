// SPDX-License-Identifier: Apache-2.0
// The inline test: the entry of the thread's filter, its key, the bytes; the hook only on the cold side.
// RUN: %clang -O2 -g %s -S -emit-llvm -fpass-plugin=%plugin -o - | %check %s
// RUN: %clang -O2 -g %s -S -fpass-plugin=%plugin -o - | %check %s --check-prefix=ASM
// CHECK-LABEL: define internal void @write8.duress.checked
// CHECK: %[[P:.*]] = ptrtoint ptr %0 to i64
// CHECK: lshr i64 %[[P]], 8
// CHECK: mul i64 %{{.*}}, 72
// CHECK: %[[KEY:.*]] = or i64
// CHECK: icmp ne i64 %{{.*}}, %[[KEY]]
// CHECK: load i8, ptr {{.*}}!nosanitize
// CHECK: br i1 %{{.*}}, label %[[COLD:.*]], label %[[GO:.*]], !dbg {{.*}}, !prof
// CHECK: [[COLD]]:
// CHECK: call preserve_mostcc void @__duress_check_write8(ptr %0, ptr getelementptr (i8, ptr @__duress_sites, i64 {{[0-9]+}}))
// CHECK: [[GO]]:
// CHECK: store i64 1, ptr %0

// A leaf pushes its frame only on the cold side: two loads, one of them of the thread's own, and no call before the access.
// ASM-LABEL: write8.duress.checked:
// ASM: shrq $8, %[[I:r[a-z0-9]+]]
// ASM: andq %fs:__duress_self@TPOFF+8, %[[I]]
// ASM: orq %fs:__duress_self@TPOFF+24, %[[KEY:r[a-z0-9]+]]
// ASM: cmpq %[[KEY]], (
// ASM: jne
// ASM: cmpb $-1, 40(
// ASM: jne
// ASM: movq $1, (%rdi)
// ASM: retq
// Not through the loader's resolver, which keeps fewer registers than the hook does. In an executable the linker makes it direct.
// ASM: callq *__duress_check_write8@GOTPCREL(%rip)
void write8(long* p) { *p = 1; }

// The plain body pays one comparison with memory.
// CHECK-LABEL: define internal {{.*}}i32 @read4.duress.checked
// CHECK: add {{.*}}i64 %{{.*}}, 8
// CHECK: call i8 @llvm.fshr.i8
// CHECK: call preserve_mostcc void @__duress_check_read4
int read4(int* p) { return *p; }
