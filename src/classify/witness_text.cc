// SPDX-License-Identifier: Apache-2.0
//
// Witnesses as the record keeps them. A record may be damaged or of another build: what makes no sense counts
// as not there, and the witness is made again.
#include <nlohmann/json.hpp>

#include "classify/witness.h"

namespace duress::classify {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

std::string witness_text(const Witness& witness) {
  Json json;
  json["accepted"] = witness.accepted;
  json["trial"] = witness.trial;
  json["failure"] = failure_line(witness.failure);
  json["output"] = witness.output;
  json["trail"] = Json::array();
  for (const trail::Deviation& d : witness.trail) json["trail"].push_back({d.choice, d.kind_and_pick});
  json["predictions"] = Json::array();
  for (const trail::Prediction& p : witness.plan.predictions)
    json["predictions"].push_back({p.strand, p.site, p.ordinal, p.size, p.value[0], p.value[1]});
  json["replaced"] = Json::array();
  for (const trail::Replaced& r : witness.replaced)
    json["replaced"].push_back(
        {r.strand, r.site, r.size, r.future, raw(r.type), r.value[0], r.value[1], r.newest[0], r.newest[1]});
  json["counts"] = {witness.switches, witness.values, witness.replayed, witness.replays, witness.executions};
  json["interleaving"] = witness.interleaving;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool read_witness(const std::string& text, Witness& witness) {
  try {
    Json json = Json::parse(text);
    witness.accepted = json.at("accepted");
    witness.trial = json.at("trial");
    if (!read_failure(json.at("failure"), witness.failure)) return false;
    witness.output = json.at("output");
    for (const Json& d : json.at("trail")) witness.trail.push_back({d.at(0), d.at(1)});
    for (const Json& p : json.at("predictions"))
      witness.plan.predictions.push_back({p.at(0), p.at(1), p.at(2), p.at(3), {p.at(4), p.at(5)}});
    for (const Json& r : json.at("replaced")) {
      auto type = static_cast<trail::ValueType>(r.at(4).get<u8>());
      witness.replaced.push_back(
          {r.at(0), r.at(1), r.at(2), r.at(3), type, 0, {r.at(5), r.at(6)}, {r.at(7), r.at(8)}});
    }
    const Json& counts = json.at("counts");
    witness.switches = counts.at(0);
    witness.values = counts.at(1);
    witness.replayed = counts.at(2);
    witness.replays = counts.at(3);
    witness.executions = counts.at(4);
    witness.interleaving = json.at("interleaving").get<std::vector<std::string>>();
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

}  // namespace duress::classify
