// SPDX-License-Identifier: Apache-2.0
#include "rewrite/request.h"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/Support/JSON.h>

#include <optional>

namespace duress::rewrite {

namespace json = llvm::json;

static bool fromJSON(const json::Value& value, Unit& unit, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("directory", unit.directory) && map.map("file", unit.file) &&
         map.map("command", unit.command);
}

static bool fromJSON(const json::Value& value, Place& place, json::Path path) {
  json::ObjectMapper map(value, path);
  std::int64_t line = 0;
  if (!map || !map.map("file", place.file) || !map.map("line", line) || !map.mapOptional("name", place.name))
    return false;
  place.line = static_cast<unsigned>(line);
  return true;
}

static bool fromJSON(const json::Value& value, Edit& edit, json::Path path) {
  json::ObjectMapper map(value, path);
  std::string kind;
  if (!map || !map.map("kind", kind) || !map.mapOptional("mutex", edit.mutex) ||
      !map.mapOptional("places", edit.places) || !map.mapOptional("threads", edit.threads))
    return false;
  std::optional<Edit::Kind> known = llvm::StringSwitch<std::optional<Edit::Kind>>(kind)
                                        .Case("atomic", Edit::Kind::kAtomic)
                                        .Case("lock", Edit::Kind::kLock)
                                        .Case("new-lock", Edit::Kind::kNewLock)
                                        .Case("join", Edit::Kind::kJoin)
                                        .Case("publish", Edit::Kind::kPublish)
                                        .Default(std::nullopt);
  if (!known) {
    path.field("kind").report("not a kind of edit");
    return false;
  }
  edit.kind = *known;
  return true;
}

static bool fromJSON(const json::Value& value, Request& request, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("units", request.units) && map.map("edits", request.edits);
}

std::string read_request(const std::string& text, Request& request) {
  llvm::Expected<Request> parsed = json::parse<Request>(text, "request");
  if (!parsed) return llvm::toString(parsed.takeError());
  request = std::move(*parsed);
  return "";
}

}  // namespace duress::rewrite
