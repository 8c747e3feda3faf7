// SPDX-License-Identifier: Apache-2.0
//
// Chains of any bytes: the host's check and the chain itself agree.
#include <cstdlib>
#include <memory>
#include <string>

#include "analysis/chain.h"
#include "catalog/analyses.h"
#include "catalog/lookup.h"

using namespace duress;

namespace {

struct Nothing final : Analysis {
  const char* name() const override { return "Nothing"; }
  Pass access(AnalysisThread&, const Access&) override { return Pass::kKeep; }
};

Analysis* make(void*, const char* name, size_t length) {
  static Nothing nothing;
  for (const CatalogEntry& known : Catalog<AnalysisId>::kEntries) {
    if (std::string_view(name, length) == known.name) return &nothing;
  }
  return nullptr;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  text = text.substr(0, text.find('\0'));
  Arena arena;
  bool good;
  {
    auto chain = std::make_unique<Chain>(arena);
    const char* bad;
    good = chain->build(text.c_str(), &make, nullptr, &bad);
  }
  arena.release_all();
  if (good != catalog::check_chain(text).empty()) std::abort();
  return 0;
}
