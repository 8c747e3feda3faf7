// SPDX-License-Identifier: Apache-2.0
//
// Suppression files of any bytes.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "report/suppressions.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static std::string path = "/tmp/duress-suppressions-fuzz-" + std::to_string(getpid());
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (!file) std::abort();
  std::fwrite(data, 1, size, file);
  std::fclose(file);
  duress::report::Suppressions suppressions;
  std::string error = suppressions.load(path);
  if (error.empty()) {
    duress::finding::Race race;
    suppressions.hides(race, "/");
  }
  std::remove(path.c_str());
  return 0;
}
