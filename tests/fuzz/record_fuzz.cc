// SPDX-License-Identifier: Apache-2.0
//
// What workers on other machines send: plans and results of any bytes. What is understood is written again and means
// the same.
#include <cstdlib>
#include <string>

#include "cluster/codec.h"

using namespace duress;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (auto plan = cluster::read_plan(bytes)) {
    std::string again = cluster::plan_bytes(*plan);
    auto second = cluster::read_plan(again);
    if (!second || cluster::plan_bytes(*second) != again) std::abort();
  }
  if (auto run = cluster::read_run(bytes)) {
    std::string again = cluster::run_bytes(*run);
    auto second = cluster::read_run(again);
    if (!second || cluster::run_bytes(*second) != again) std::abort();
  }
  return 0;
}
