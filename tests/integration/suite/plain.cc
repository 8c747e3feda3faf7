// SPDX-License-Identifier: Apache-2.0
// A test without a framework: wants its file, its word and its folder, and has no race.
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

std::mutex mutex;
int count = 0;

int main(int argc, char** argv) {
  std::thread other([] {
    std::lock_guard guard(mutex);
    ++count;
  });
  {
    std::lock_guard guard(mutex);
    ++count;
  }
  other.join();
  const char* word = std::getenv("SUITE_WORD");
  std::FILE* file = std::fopen(argc > 1 ? argv[1] : "/dev/null", "r");
  bool good = file && (argc < 2 || (word && std::string(word) == "right"));
  if (file) std::fclose(file);
  return good && count == 2 ? 0 : 1;
}
