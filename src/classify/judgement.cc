// SPDX-License-Identifier: Apache-2.0
#include "classify/judgement.h"

#include "report/trace_text.h"

namespace duress::classify {
namespace {

report::AttackName name_of(const Attack& attack) {
  report::AttackName name;
  name.model = name_of(attack.model);
  if (attack.model == ModelId::kSc && attack.strategy != StrategyId::kRandom)
    name.strategy = name_of(attack.strategy);
  name.heuristic = attack.name();
  if (attack.predicts()) name.policy = policy_name(attack.policy);
  name.label = attack.label();
  name.fair = attack.fair;
  return name;
}

report::AttackRate rate_of(const Rate& rate) {
  return {name_of(rate.attack), rate.failed, rate.runs, rate.discarded};
}

report::WitnessEntry entry_of(const Witness& witness, const std::string& token) {
  report::WitnessEntry entry;
  entry.by = name_of(witness.by);
  entry.failure = witness.failure;
  if (!witness.replaced.empty()) {
    const trail::Replaced& first = witness.replaced.front();
    entry.replaced = {first.strand, first.future != 0,
                      report::value_text(first.value, first.size, first.type),
                      report::value_text(first.newest, first.size, first.type)};
  }
  entry.switches = witness.switches;
  entry.values = witness.values;
  entry.replayed = witness.replayed;
  entry.replays = witness.replays;
  entry.token = token;
  entry.interleaving = witness.interleaving;
  return entry;
}

}  // namespace

report::Judgement judgement_of(const Variable& variable, const Verdict& verdict, const std::string& token) {
  report::Judgement judgement;
  judgement.kind = verdict.kind;
  judgement.attacked = true;
  judgement.runs = verdict.runs;
  judgement.unexamined = verdict.evidence;
  for (const Rate& rate : verdict.rates) judgement.rates.push_back(rate_of(rate));
  judgement.counterfactual = rate_of(verdict.counterfactual);
  judgement.charge = verdict.charge.reason;
  judgement.charged = rate_of(verdict.charge.with);
  if (verdict.other_failure) {
    judgement.other_failure = verdict.other_failure->text;
    judgement.other_causes = variable.other_causes;
  }
  judgement.sc_failed = verdict.sc_failed;
  judgement.sc_runs = verdict.sc_runs;
  judgement.output_settled = verdict.output_settled;
  if (verdict.slower) judgement.slower = {name_of(verdict.slower->by), verdict.slower->times};
  if (const Witness* witness = variable.witness()) {
    judgement.witness = entry_of(*witness, token);
    for (const report::AttackRate& rate : judgement.rates) {
      if (rate.attack.label == judgement.witness->by.label) judgement.rate = rate;
    }
  }
  judgement.figures = verdict.figures;
  return judgement;
}

}  // namespace duress::classify
