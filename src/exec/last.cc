// SPDX-License-Identifier: Apache-2.0
#include "exec/last.h"

#include <filesystem>

#include "exec/files.h"

namespace duress::exec {

std::string save_last(const std::string& dir, const std::string& document) {
  std::string absolute = std::filesystem::absolute(dir).lexically_normal().string();
  if (std::string error = make_folder(absolute, absolute); !error.empty()) return error;
  return write_file(absolute + "/last.json", document);
}

std::optional<std::string> load_last(const std::string& dir, std::string& error) {
  std::optional<std::string> text = read_file(dir + "/last.json");
  if (!text)
    error = "no campaign is recorded in '" + dir +
            "'; run duress classify, explore, verify or run first, or pass its folder with --dir";
  return text;
}

}  // namespace duress::exec
