// SPDX-License-Identifier: Apache-2.0
//
// A report as one page that needs nothing else: no network, no other file.
#pragma once

#include <string>
#include <string_view>

#include "report/stored_document.h"

namespace duress::report {

/// Lanes are cut, the longest first, until they fit: a page of more can be neither sent nor opened.
inline constexpr std::size_t kMostLaneBytes = std::size_t{14} << 20;

std::string to_html(const StoredDocument& document);

/// The modules of src/report/html as one script, without their imports and exports.
std::string page_script();

/// `text`, which is JSON, for a data block of a page: nothing in it can end the block.
std::string json_block(std::string text);
std::string base64(std::string_view bytes);

}  // namespace duress::report
