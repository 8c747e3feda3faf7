// SPDX-License-Identifier: Apache-2.0
//
// A `duress/1` document as a file holds it, and the executions behind its findings as lanes: what pages,
// SARIF, JUnit and Perfetto are made of. It stays JSON, because it may come from another version, or from a
// file that somebody edited or cut off: keys that are not known are kept, and one that is missing or of
// another type counts as not there.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "finding/lanes.h"

namespace duress::report {

using Json = nlohmann::ordered_json;

struct StoredDocument {
  Json json;                                      // without lanes
  std::vector<finding::Lanes> lanes;              // each once
  std::map<std::string, std::size_t> lanes_of;    // by the finding's id
  std::map<std::string, std::string> lanes_lack;  // why a finding that could have lanes has none
  std::string folder;                             // relative paths are relative to it
  std::string replay_options;                     // "" or " --dir FOLDER", as a shell reads it
  Json comparison;                                // with an older one, of comparison_json; null: none
  std::string editor;                             // a page's links to sources, with {file}; "": none

  const finding::Lanes* lanes_for(const std::string& id) const;
};

/// Takes the lanes out of `json`, and findings without an id. REQUIRES: it is an object.
StoredDocument stored_document(Json json);
/// Empty if `text` is not a findings document; `error` then says why.
std::optional<StoredDocument> read_document(const std::string& text, std::string& error);
/// As `duress report --json` writes it, with `lanes` in each finding that has some.
std::string to_json(const StoredDocument& document);

/// A finding's value of `key`; "" (0, nothing) if there is none of that type.
std::string text_at(const Json& json, const char* key);
std::uint64_t number_at(const Json& json, const char* key);
const Json& object_at(const Json& json, const char* key);
const Json& list_at(const Json& json, const char* key);

/// A stack that belongs to a memory error: of the access, of the free, of the allocation.
struct MemoryStack {
  std::string words;  // "freed by T1"
  const Json& frames;
};
std::vector<MemoryStack> memory_stacks(const Json& failure);
std::vector<std::string> texts_at(const Json& json, const char* key);

/// "race/destructive", "race/confirmed", "race/unconfirmed": what SARIF and JUnit call it.
const char* rule_of(const Json& race);
/// The access whose place opens the report: the write; of two writes the first.
std::size_t headline_of(const Json& race);
/// The races, each as the list of its pairs of accesses, one that is destructive first.
std::vector<std::vector<const Json*>> races_of(const StoredDocument& document);
bool is_destructive(const Json& race);
/// What the document calls the finding: "data race on Point::x is DESTRUCTIVE".
std::string title_of(const Json& finding);
/// What the document says of a race: its accesses, pair by pair, how often it does harm, its fix.
std::vector<std::string> story_of(const std::vector<const Json*>& pairs);
/// The line that shows a finding again; "" if nothing can.
std::string replay_line(const StoredDocument& document, const Json& finding);
/// The same with its token, for other folders; "" if the token is in a file.
std::string replay_token_line(const StoredDocument& document, const Json& finding);
/// The finding's token; "" if it has none.
std::string token_of(const Json& finding);

/// `text` as one word of a shell, on one line and without control characters.
std::string shell_word(const std::string& text);
/// A command with its arguments.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace duress::report
