// A deadlock: two threads take two mutexes in different orders.
#include <mutex>
#include <thread>

std::mutex mutex_a, mutex_b;

static void forwards() {
  mutex_a.lock();
  mutex_b.lock();
  mutex_b.unlock();
  mutex_a.unlock();
}

static void backwards() {
  mutex_b.lock();
  mutex_a.lock();
  mutex_a.unlock();
  mutex_b.unlock();
}

int main() {
  std::thread first(forwards);
  std::thread second(backwards);
  first.join();
  second.join();
}
