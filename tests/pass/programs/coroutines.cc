// SPDX-License-Identifier: Apache-2.0
// FLAGS: -std=c++20
// Coroutines: generators, symmetric transfer, exceptions inside, destruction half-way.
#include <coroutine>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <utility>

int alive;

template <class T>
struct Generator {
  struct promise_type {
    T value{};
    std::exception_ptr error;
    promise_type() { ++alive; }
    ~promise_type() { --alive; }
    Generator get_return_object() {
      return Generator{std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(T v) {
      value = v;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { error = std::current_exception(); }
  };
  explicit Generator(std::coroutine_handle<promise_type> h) : handle(h) {}
  Generator(Generator&& o) : handle(std::exchange(o.handle, {})) {}
  ~Generator() {
    if (handle) handle.destroy();
  }
  bool next() {
    handle.resume();
    if (handle.promise().error) std::rethrow_exception(handle.promise().error);
    return !handle.done();
  }
  T value() { return handle.promise().value; }
  std::coroutine_handle<promise_type> handle;
};

Generator<long> fibonacci(int n) {
  long a = 0, b = 1;
  for (int i = 0; i < n; ++i) {
    co_yield a;
    a = std::exchange(b, a + b);
  }
  if (n > 20) throw std::runtime_error("too far");
}

struct Task {
  struct promise_type {
    std::coroutine_handle<> continuation = std::noop_coroutine();
    int result = 0;
    Task get_return_object() { return Task{std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct Transfer {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> h) noexcept {
          return h.promise().continuation;
        }
        void await_resume() noexcept {}
      };
      return Transfer{};
    }
    void return_value(int v) { result = v; }
    void unhandled_exception() { std::terminate(); }
  };
  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> h) {
    handle.promise().continuation = h;
    return handle;
  }
  int await_resume() {
    int r = handle.promise().result;
    handle.destroy();
    return r;
  }
  std::coroutine_handle<promise_type> handle;
};

Task sum(int n) {
  if (n == 0) co_return 0;
  int below = co_await sum(n - 1);
  co_return below + n;
}

int main() {
  {
    auto g = fibonacci(10);
    while (g.next()) printf("%ld ", g.value());
    auto half = fibonacci(5);
    half.next();
    printf("| %d\n", alive);
  }
  auto g = fibonacci(25);
  try {
    long last = 0;
    while (g.next()) last = g.value();
    printf("%ld\n", last);
  } catch (const std::exception& e) {
    puts(e.what());
  }
  Task t = sum(1000);
  t.handle.resume();
  printf("%d %d\n", t.handle.promise().result, alive);
  t.handle.destroy();
}
