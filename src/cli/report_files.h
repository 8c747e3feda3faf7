// SPDX-License-Identifier: Apache-2.0
//
// The reports that a campaign's document is rendered to: `duress report`, and the same options on the
// commands that find things.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "catalog/formats.h"
#include "cli/editor.h"
#include "report/document.h"
#include "report/stored_document.h"

namespace duress::cli {

class CommandApp;

/// Where each format goes; "": it is not wanted, "-": stdout.
struct ReportFiles {
  std::array<std::string, kCatalogSize<FormatId>> places;
  std::string editor = kDefaultEditor;  // of --editor

  std::string& operator[](FormatId id) { return places[raw(id)]; }
  bool any() const;
  /// Adds an option for each format but --json, which is each command's own, and --editor.
  void add_to(CommandApp& app);
  /// "" or what is wrong with one of the places or the editor; asked before the work.
  std::string check() const;
};

struct ReportRequest {
  ReportFiles files;
  std::string dir = ".duress";  // of the record, for replays
  bool replay = true;           // executions are run again, for their interleavings
  bool quiet = false;
};

/// A document with its header filled in.
report::Document new_document(const char* command, std::int64_t seed, const std::vector<std::string>& target);

/// Renders `document`. Says what goes wrong and returns an exit code.
int write_reports(const ReportRequest& request, report::StoredDocument document);

/// What a campaign does at its end: keeps the document for `duress report`, and writes the reports that were
/// asked for. False: one of them could not be written, which has been said.
bool finish_with_reports(const ReportFiles& files, const std::string& dir, report::Json document);

}  // namespace duress::cli
