// SPDX-License-Identifier: Apache-2.0
//
// Words as the exec functions take them. Only for the host: it allocates.
#pragma once

#include <string>
#include <vector>

namespace duress {

/// Pointers into `words`, and a null at the end. To be made before fork(): a child may not allocate.
inline std::vector<char*> exec_words(const std::vector<std::string>& words) {
  std::vector<char*> list;
  for (const std::string& word : words) list.push_back(const_cast<char*>(word.c_str()));
  list.push_back(nullptr);
  return list;
}

}  // namespace duress
