// SPDX-License-Identifier: Apache-2.0
// The variable's name in each site, before and after optimisation.
// RUN: %c++ -O0 %s -o %t && %dump %t > %t.txt && %check %s < %t.txt && %check %s --check-prefix=FAITHFUL < %t.txt
// RUN: %c++ -O2 %s -o %t && %dump %t | grep checked | %check %s --check-prefix=OPTIMISED
// RUN: %c++ -O2 %s -o %t && %dump %t > %t.txt && %check %s < %t.txt && %check %s --check-prefix=FAITHFUL < %t.txt
struct Point { int x, y; };
struct Named { char text[16]; Point corner; long size_; };
struct Derived : Named { int extra; static int made; };
typedef struct { int a; struct { int b; }; union { int c; float d; }; } Untagged;
namespace ns { namespace { long hidden; } int counter; struct Inner { short s; Inner* next; }; }
struct Bits { unsigned low : 3; unsigned high : 13; };
int Derived::made;
int plain;
int numbers[10];
Point points[4];
Bits bits;
struct Node { Node* next; int value; };
int* pointer;
void escape(int*);

int field(Point* p) { return p->y; }                          // CHECK-DAG: names.cc:[[@LINE]]:{{.*}} field read 4 field 'Point::y'
void nested(Named* n) { n->corner.x = 1; }                    // CHECK-DAG: names.cc:[[@LINE]]:{{.*}} nested write 4 field 'Named::corner.x'
void member_array(Named* n, int i) { n->text[i] = 1; }        // CHECK-DAG: names.cc:[[@LINE]]:{{.*}} member_array write 1 array 'Named::text[]'
void inherited(Derived& d) { d.size_ = 2; }                   // CHECK-DAG: names.cc:[[@LINE]]:{{.*}} inherited write 8 field 'Named::size_'
void own(Derived& d) { d.extra = 3; }                         // CHECK-DAG: names.cc:[[@LINE]]:{{.*}} own write 4 field 'Derived::extra'
void fixed() { Derived::made = 4; }                           // CHECK-DAG: names.cc:[[@LINE]]:{{.*}} fixed write 4 global 'Derived::made'
void global() { plain = 5; }                                  // CHECK-DAG: names.cc:[[@LINE]]:{{.*}} global write 4 global 'plain'
void in_namespace() { ns::counter = 6; }                      // CHECK-DAG: names.cc:[[@LINE]]:{{.*}} in_namespace write 4 global 'ns::counter'
long anonymous() { return ++ns::hidden; }                     // CHECK-DAG: names.cc:[[@LINE]]:{{.*}} anonymous write 8 global 'ns::(anonymous)::hidden'
void element(int i) { numbers[i] = 7; }                       // CHECK-DAG: names.cc:[[@LINE]]:{{.*}} element write 4 array 'numbers[]'
void element_field(int i) { points[i].y = 8; }                // CHECK-DAG: names.cc:[[@LINE]]:{{.*}} element_field write 4 field 'Point::y'
void pointee(int* p) { *p = 9; }                              // CHECK-DAG: names.cc:[[@LINE]]:{{.*}} pointee write 4 pointee '*p'
void through_global() { *pointer = 10; }                      // CHECK-DAG: names.cc:[[@LINE]]:{{.*}} through_global write 4 pointee '*pointer'
short chase(ns::Inner* i) { return i->next->s; }              // CHECK-DAG: names.cc:[[@LINE]]:{{.*}} chase read 2 field 'ns::Inner::s'
int untagged(Untagged* u) { return u->a + u->b; }             // CHECK-DAG: names.cc:[[@LINE]]:{{.*}} untagged read 4 field 'Untagged::b'
void bit() { bits.low = 1; }                                  // CHECK-DAG: names.cc:[[@LINE]]:{{.*}} bit write {{[0-9]}} field 'Bits::low'
int local() { int mine = 1; escape(&mine); return mine; }     // CHECK-DAG: names.cc:[[@LINE]]:{{.*}} local read 4 local 'local()::mine'
int list(Node* n) { int s = 0; for (; n; n = n->next) s += n->value; return s; }  // CHECK-DAG: names.cc:[[@LINE]]:{{.*}} list read 4 field 'Node::value'
struct Method { int m; int get() const { return m; } int set(int v); };
int Method::set(int v) { return m = v; }                      // CHECK-DAG: names.cc:[[@LINE]]:{{.*}} Method::set write 4 field 'Method::m'
int volatile_read(volatile int* p) { return *p; }             // CHECK-DAG: names.cc:[[@LINE]]:{{.*}} volatile_read read 4 pointee '*p' checked volatile
void escape(int* p) { *p = 2; }
void either(int c) { if (c) plain = 1; else ns::counter = 1; }  // OPTIMISED: either write 4 unknown ''
void fill() { for (int& n : numbers) n = 3; }                 // OPTIMISED: {{.*}} fill write {{[0-9]+}} array 'numbers[]'
int main() { return 0; }
// FAITHFUL-DAG: field read 4 field 'Point::y' faithful
