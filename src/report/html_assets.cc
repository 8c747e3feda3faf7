// SPDX-License-Identifier: Apache-2.0
//
// The assembler includes the files as they are: no tool is needed to embed them, and nothing to escape.
#include "report/html_assets.h"

// DURESS_HTML is the folder, set by CMake, which also knows that this file depends on those.
#define DURESS_ASSET(name, file)                                                                             \
  asm(".pushsection .rodata\n"                                                                               \
      ".globl duress_asset_" #name "\n.hidden duress_asset_" #name "\nduress_asset_" #name                   \
      ":\n.incbin \"" DURESS_HTML "/" file                                                                   \
      "\"\n"                                                                                                 \
      ".globl duress_asset_" #name "_end\n.hidden duress_asset_" #name "_end\nduress_asset_" #name           \
      "_end:\n.byte 0\n.popsection\n");                                                                      \
  extern "C" __attribute__((visibility("hidden"))) const char duress_asset_##name[];                         \
  extern "C" __attribute__((visibility("hidden"))) const char duress_asset_##name##_end[];                   \
  static std::string_view name##_asset() {                                                                   \
    return {duress_asset_##name, static_cast<std::size_t>(duress_asset_##name##_end - duress_asset_##name)}; \
  }

DURESS_ASSET(body, "body.html")
DURESS_ASSET(style, "style.css")
DURESS_ASSET(dom, "dom.js")
DURESS_ASSET(model, "model.js")
DURESS_ASSET(source, "source.js")
DURESS_ASSET(chart, "chart.js")
DURESS_ASSET(lanes, "lanes.js")
DURESS_ASSET(cycle, "cycle.js")
DURESS_ASSET(comparison, "comparison.js")
DURESS_ASSET(coverage, "coverage.js")
DURESS_ASSET(finding, "finding.js")
DURESS_ASSET(list, "list.js")
DURESS_ASSET(main, "main.js")

namespace duress::report {

std::string_view html_body() {
  return body_asset();
}

std::string_view html_style() {
  return style_asset();
}

std::vector<std::string_view> html_modules() {
  return {dom_asset(),        model_asset(),    source_asset(),  chart_asset(), lanes_asset(), cycle_asset(),
          comparison_asset(), coverage_asset(), finding_asset(), list_asset(),  main_asset()};
}

}  // namespace duress::report
