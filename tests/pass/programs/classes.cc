// SPDX-License-Identifier: Apache-2.0
// FLAGS: -std=c++20
// Virtual and multiple inheritance, thunks with variadic and covariant methods, pointers to members, thread_local with
// constructors, function statics, templates, lambdas, placement new.
#include <cstdarg>
#include <cstdio>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

struct Base {
  explicit Base(int v) : base(v) {}
  virtual ~Base() { ++destroyed; }
  virtual int get() const { return base; }
  virtual Base* self() { return this; }
  int base;
  static int destroyed;
};
int Base::destroyed;
struct Left : virtual Base {
  Left() : Base(1) {}
  int get() const override { return base * 10 + left; }
  Left* self() override { return this; }
  int left = 2;
};
struct Right : virtual Base {
  Right() : Base(5) {}
  virtual int total(int n, ...) {
    va_list list;
    va_start(list, n);
    for (int i = 0; i < n; ++i) right += va_arg(list, int);
    va_end(list);
    return right;
  }
  int right = 3;
};
struct Bottom : Left, Right {
  Bottom() : Base(7) {}
  int get() const override { return Left::get() + right; }
  Bottom* self() override { return this; }
  int total(int n, ...) override {
    va_list list;
    va_start(list, n);
    int first = va_arg(list, int);
    va_end(list);
    return first * n + left;
  }
  std::string name = "bottom";
};

template <class T, int N>
struct Ring {
  void push(T v) { data[count++ % N] = std::move(v); }
  T& operator[](int i) { return data[i % N]; }
  T data[N]{};
  int count = 0;
};

thread_local std::string tls_text = "start";
thread_local int tls_count = 3;

int once() {
  static int value = [] {
    puts("once");
    return 11;
  }();
  return ++value;
}

int main() {
  std::unique_ptr<Base> object = std::make_unique<Bottom>();
  printf("%d %d\n", object->get(), object->self() == object.get());
  Bottom* bottom = dynamic_cast<Bottom*>(object.get());
  Right* right = bottom;
  printf("%d %d\n", right->total(3, 4, 5, 6), bottom->right);
  int (Base::*method)() const = &Base::get;
  int Left::* field = &Left::left;
  bottom->*field = 9;
  printf("%d %s\n", (object.get()->*method)(), bottom->name.c_str());
  object.reset();
  printf("%d\n", Base::destroyed);
  Ring<std::string, 4> ring;
  for (int i = 0; i < 10; ++i) ring.push("item " + std::to_string(i));
  printf("%s %s\n", ring[0].c_str(), ring[3].c_str());
  std::vector<std::function<int(int)>> functions;
  for (int i = 0; i < 3; ++i) functions.push_back([i, &ring](int x) { return ring.count += x * i; });
  int sum = 0;
  for (auto& f : functions) sum += f(2);
  printf("%d %d %d\n", sum, once(), once());
  tls_text += " main";
  std::thread([&sum] {
    tls_text += " thread";
    sum += ++tls_count + int(tls_text.size());
  }).join();
  printf("%s %d %d\n", tls_text.c_str(), tls_count, sum);
  alignas(Left) char memory[sizeof(Left)];
  Left* placed = new (memory) Left;
  printf("%d\n", placed->self()->get());
  placed->~Left();
}
