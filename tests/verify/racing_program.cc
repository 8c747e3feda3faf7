// SPDX-License-Identifier: Apache-2.0
//
// Threads that read and write plain memory as the arguments say, one argument for each thread, a letter for
// each operation; the exit code tells what came of it. racing.py computes what can come of it.
#include <pthread.h>

#include <atomic>

struct Box {
  int before, value;
};
struct Pair {
  long first, second;
};

static int x, y, z;
static int elements[4];
static Box* box;
static Pair pair;
static std::atomic<int> flag{0};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

struct Job {
  const char* text;
  int value;
};

static void copy_pair(int& value) {
  Pair copy = pair;
  value = static_cast<int>(copy.first + 2 * copy.second);
}

static void* run(void* data) {
  Job& job = *static_cast<Job*>(data);
  int value = 0;
  auto next = [&] { return (value + 1) & 3; };
  for (const char* at = job.text; *at; ++at) {
    switch (*at) {
      case 'x':
        value = x;
        break;
      case 'y':
        value = y;
        break;
      case 'z':
        value = z;
        break;
      case 'X':
        x = next();
        break;
      case 'Y':
        y = next();
        break;
      case 'Z':
        z = next();
        break;
      case 'e':
        value = elements[2];
        break;
      case 'E':
        elements[2] = next();
        break;
      case 'b':
        value = box->value;
        break;
      case 'B':
        box->value = next();
        break;
      case 'p':
        copy_pair(value);
        break;
      case 'P':
        pair = Pair{1, 1};
        break;
      case 'f':
        value = flag.load(std::memory_order_acquire);
        break;
      case 'F':
        flag.store(next(), std::memory_order_release);
        break;
      case 'l':
        pthread_mutex_lock(&mutex);
        break;
      case 'u':
        pthread_mutex_unlock(&mutex);
        break;
      case '?':
        at += value == 0 && at[1];
        break;  // the next one only if it is not 0
    }
  }
  job.value = value;
  return nullptr;
}

int main(int count, char** texts) {
  box = new Box{0, 0};
  pthread_t threads[3];
  Job jobs[3] = {};
  for (int i = 1; i < count; ++i) {
    jobs[i - 1].text = texts[i];
    pthread_create(&threads[i - 1], nullptr, run, &jobs[i - 1]);
  }
  for (int i = 1; i < count; ++i) pthread_join(threads[i - 1], nullptr);
  return x | jobs[0].value << 2 | jobs[1].value << 4 | (count > 3 ? jobs[2].value : y) << 6;
}
