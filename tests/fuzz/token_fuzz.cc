// SPDX-License-Identifier: Apache-2.0
//
// Replay tokens of any bytes; one that is understood is written again and means the same.
#include <cstdlib>
#include <string>

#include "exec/token_text.h"

using namespace duress;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  if (!text.empty() && text[0] == '@') return 0;  // names a file
  exec::TokenText token = exec::read_token_text(text);
  if (!token.error.empty()) return 0;
  std::string again = exec::make_token(token.plan, token.plan.trail, token.program);
  exec::TokenText second = exec::read_token_text(again);
  if (!second.error.empty() || exec::make_token(second.plan, second.plan.trail, second.program) != again)
    std::abort();
  return 0;
}
