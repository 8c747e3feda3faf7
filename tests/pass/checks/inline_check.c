// SPDX-License-Identifier: Apache-2.0
// The inline test: shadow cell, byte mask, epoch; the hook only on the cold side. No instruction reads the cell twice.
// RUN: %clang -O2 -g %s -S -emit-llvm -fpass-plugin=%plugin -o - | %check %s
// RUN: %clang -O2 -g %s -S -fpass-plugin=%plugin -o - | %check %s --check-prefix=ASM
// CHECK-LABEL: define internal void @write8.duress.checked
// CHECK: %[[P:.*]] = ptrtoint ptr %0 to i64
// CHECK: lshr i64 %[[P]], 32
// CHECK: add i64 %{{.*}}, 2145386496
// CHECK: load i64, {{.*}}!nosanitize
// CHECK: shl i64 %[[P]], 1
// CHECK: load atomic i64, ptr %{{.*}} monotonic
// CHECK: load i64, ptr @__duress_self
// CHECK: br i1 %{{.*}}, label %[[COLD:.*]], label %[[GO:.*]], !dbg {{.*}}, !prof
// CHECK: [[COLD]]:
// CHECK: call preserve_mostcc void @__duress_check_write8(ptr %0, ptr getelementptr (i8, ptr @__duress_sites, i64 {{[0-9]+}}))
// CHECK: [[GO]]:
// CHECK: store i64 1, ptr %0

// A leaf pushes its frame only on the cold side: nine instructions before the access.
// ASM-LABEL: write8.duress.checked:
// ASM: movq %rdi, %rax
// ASM: shrq $32, %rax
// ASM: movq 2145386496(,%rax,8), %rax
// ASM: movq (%rax,%rdi,2), %rax
// ASM: testb %al, %al
// ASM: jne
// ASM: subq %fs:__duress_self@TPOFF, %rax
// ASM: cmpq %fs:__duress_self@TPOFF+8, %rax
// ASM: jae
// ASM: movq $1, (%rdi)
// ASM: retq
// ASM: callq __duress_check_write8
void write8(long* p) { *p = 1; }

// The plain body pays one comparison with memory.
// CHECK-LABEL: define internal {{.*}}i32 @read4.duress.checked
// CHECK: add i64 %{{.*}}, 8
// CHECK: call i8 @llvm.fshr.i8
// CHECK: call preserve_mostcc void @__duress_check_read4
int read4(int* p) { return *p; }
