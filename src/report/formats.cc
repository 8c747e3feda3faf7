// SPDX-License-Identifier: Apache-2.0
#include "report/formats.h"

namespace duress::report {

#define DURESS_FORMAT(identifier, name, description) Format format_##identifier();
DURESS_FORMATS(DURESS_FORMAT)
#undef DURESS_FORMAT

Format format_of(FormatId id) {
#define DURESS_FORMAT(identifier, name, description) format_##identifier,
  constexpr Format (*kFormats[])() = {DURESS_FORMATS(DURESS_FORMAT)};
#undef DURESS_FORMAT
  return kFormats[raw(id)]();
}

}  // namespace duress::report
