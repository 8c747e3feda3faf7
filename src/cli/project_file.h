// SPDX-License-Identifier: Apache-2.0
//
// .duress.toml: the defaults of a project, found in the working directory or above it.
//
//   seed = 7                 # for every command that has the option
//   [classify]               # for one command
//   runs = 500
//   suppressions = ["known.supp"]
#pragma once

#include <string>
#include <vector>

namespace duress::cli {

struct ProjectSetting {
  std::string command;              // "": every command that has the option
  std::string key;                  // an option's long name, without its dashes
  std::vector<std::string> values;  // a flag has "true" or "false"
  bool flag = false, number = false, list = false;
  unsigned line = 0;
};

struct ProjectFile {
  std::string path;  // "": there is none
  std::vector<ProjectSetting> settings;
  std::string error;  // "path:line: what is wrong"; then nothing is to run

  std::string place(const ProjectSetting& setting) const;  // "path:line"
};

/// The file that applies in `folder`: DURESS_CONFIG names another one, or with "none" none.
ProjectFile find_project_file(const std::string& folder);
/// `known`: tables that may be in it.
ProjectFile read_project_file(const std::string& path, const std::string& text,
                              const std::vector<std::string>& known);

}  // namespace duress::cli
