// SPDX-License-Identifier: Apache-2.0
#include "classify/trial.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "exec/files.h"

namespace duress::classify {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Identities hold zero bytes, which text in the database must not have.
Json failure_json(const finding::Failure& failure) {
  Json json;
  json["kind"] = failure.kind;
  json["text"] = failure.text;
  json["detail"] = failure.detail;
  json["id"] = failure.id;
  json["identity"] = failure.identity;
  const finding::Frame& place = failure.place;
  if (!place.file.empty() || !place.function.empty())
    json["place"] = {place.function, place.file, place.line, place.column};
  return json;
}

finding::Failure to_failure(const Json& json) {
  finding::Failure failure;
  failure.kind = json.at("kind");
  failure.text = json.at("text");
  failure.detail = json.at("detail");
  failure.id = json.at("id");
  failure.identity = json.at("identity");
  if (auto place = json.find("place"); place != json.end()) {
    failure.place.function = place->at(0);
    failure.place.file = place->at(1);
    failure.place.line = place->at(2);
    failure.place.column = place->at(3);
  }
  return failure;
}

}  // namespace

u64 TrialName::key() const {
  std::string text;
  for (const std::string& part :
       {phase, variable, attack.label(), std::to_string(number), std::to_string(seed), context})
    text += part + '\1';
  return hash_of(text);
}

const char* name_of(TrialOutcome outcome) {
  switch (outcome) {
    case TrialOutcome::kPassed:
      return "passed";
    case TrialOutcome::kFailed:
      return "failed";
    case TrialOutcome::kDiscarded:
      return "discarded";
    case TrialOutcome::kNothing:
      return "nothing";
  }
  return "";
}

Trial trial_of(const exec::Execution& execution) {
  const trail::Record& record = execution.record;
  Trial trial;
  trial.steps = record.steps;
  trial.stale_loads = record.stale_loads;
  trial.future_loads = record.future_loads;
  trial.stores = record.stores;
  trial.changing_stores = record.changing_stores;
  trial.figures = {record.instances, record.writes, record.largest, record.largest_uncompressed,
                   record.reads};
  for (u64 i = 0; i < std::min<u64>(record.races_created, std::size(record.created)); ++i)
    trial.created.push_back(record.created[i]);
  return trial;
}

std::string trial_text(const Trial& trial) {
  Json json;
  json["stale"] = trial.stale_loads;
  json["future"] = trial.future_loads;
  json["stores"] = trial.stores;
  json["changing"] = trial.changing_stores;
  const Figures& f = trial.figures;
  json["figures"] = {f.instances, f.writes, f.largest, f.largest_uncompressed, f.reads};
  if (!trial.created.empty()) {
    json["created"] = Json::array();
    for (const trail::SitePair& pair : trial.created) json["created"].push_back({pair.first, pair.second});
  }
  if (trial.failed()) json["failure"] = failure_json(trial.failure);
  return dump(json);
}

bool read_trial(const std::string& text, Trial& trial) {
  try {
    Json json = Json::parse(text);
    trial.stale_loads = json.at("stale");
    trial.future_loads = json.at("future");
    trial.stores = json.at("stores");
    trial.changing_stores = json.at("changing");
    const Json& f = json.at("figures");
    trial.figures = {f.at(0), f.at(1), f.at(2), f.at(3), f.at(4)};
    if (auto created = json.find("created"); created != json.end()) {
      for (const Json& pair : *created) trial.created.push_back({pair.at(0), pair.at(1)});
    }
    if (trial.failed()) trial.failure = to_failure(json.at("failure"));
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

std::string failure_line(const finding::Failure& failure) {
  return dump(failure_json(failure));
}

bool read_failure(const std::string& text, finding::Failure& failure) {
  try {
    failure = to_failure(Json::parse(text));
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

}  // namespace duress::classify
