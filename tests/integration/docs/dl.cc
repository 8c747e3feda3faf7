// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <thread>
std::mutex a, b;
int main() { std::thread one([] { std::lock_guard x(a); std::lock_guard y(b); }); std::thread two([] { std::lock_guard x(b); std::lock_guard y(a); }); one.join(); two.join(); }
