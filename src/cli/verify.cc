// SPDX-License-Identifier: Apache-2.0
//
// `duress verify`: every interleaving of a program up to equivalence. Either no race and no failure in any of
// them, which is a proof for this program and this input, or an interleaving that shows one.
#include <fmt/format.h>

#include "cli/campaign.h"
#include "cli/stop.h"
#include "cli/verify_options.h"
#include "repair/advice.h"
#include "repair/weaken.h"
#include "report/verification_text.h"
#include "report/words.h"
#include "verify/document.h"

namespace duress::cli {
namespace {

using verify::VerifyResult;

/// Which memory orders are needed; each is printed as soon as it is known.
std::vector<report::OrderEntry> find_orders(const VerifyOptions& options, const VerifyResult& result,
                                            finding::Names& names) {
  if (!result.complete || !result.racy.empty() || !result.found.empty()) {
    say("no order is weakened: the program as it is must be proved first");
    return {};
  }
  return repair::weaken(options.setup, result, names, stop_asked, [&](const report::OrderEntry& one) {
    if (!options.prints()) return;
    fmt::print("{}", report::order_text(one, options.finding_style(options.dir)));
    fflush(stdout);
  });
}

/// Whether a change could help. Under rc11 a failure, too, may be there only because an order is too weak.
bool wants_fix(const VerifyOptions& options, const VerifyResult& result) {
  if (options.no_advice || result.interrupted || result.out_of_time) return false;
  return !result.racy.empty() || (options.setup.model != ModelId::kSc && !result.found.empty());
}

}  // namespace

int verify_command(const Arguments& arguments) {
  VerifyOptions options;
  if (std::optional<int> code = read_verify_options(arguments, options)) return *code;
  Campaign campaign("verify", options);
  if (std::optional<int> code = campaign.begin(arguments, options.setup)) return *code;
  LiveLine& line = campaign.line();
  auto show = [&](u64 interleavings, u64 waiting, double seconds) {
    if (!line.due(seconds)) return;
    line.show(fmt::format(
        "{}, {:.0f}/s, {} branches left{}", report::count_text(interleavings, "interleaving"),
        static_cast<double>(interleavings) / seconds, report::grouped(waiting), campaign.workers_text()));
  };
  VerifyResult result = verify::Verifier(options.setup, campaign.names(), show).run(stop_asked);
  line.clear();
  report::Document document = campaign.document();
  if (result.problem.kind == exec::WorkerProblem::Kind::kNone) {
    verify::fill_document(options.setup, result, campaign.names(), document);
    if (options.weaken) document.verification->orders = find_orders(options, result, campaign.names());
    if (wants_fix(options, result)) {
      std::string error = repair::add_fix(options.setup, result, campaign.names(), stop_asked, document);
      if (!error.empty()) say(error);
    }
  }
  if (std::optional<int> code = campaign.end(result.problem)) return *code;
  mark_known(document, options.known);
  if (options.prints()) {
    fmt::print("{}", report::verification_text(document, options.finding_style(options.dir)));
    for (const std::string& text : report::verification_summary(document)) say(text);
  }
  return campaign.finish(document, /*races_count=*/true, result.out_of_time || result.interrupted);
}

}  // namespace duress::cli
