// SPDX-License-Identifier: Apache-2.0
#include "report/junit_writer.h"

#include <fmt/format.h>

#include <optional>

#include "report/formats.h"
#include "report/path.h"

namespace duress::report {
namespace {

constexpr std::size_t kMostText = 100000;  // bytes: of a program's output the end is kept

struct Case {
  std::string name, place, file, type, message, text;
  std::uint64_t line = 0;
  enum class Result { kPassed, kFailed, kSkipped } result = Result::kPassed;
};

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// Commands that try races out say what is harmless; of the others every race is a finding.
bool judges(const StoredDocument& document) {
  std::string command = text_at(document.json, "command");
  return command == "classify" || command == "test";
}

std::string stack_text(const Json& frames) {
  std::string text;
  for (const Json& frame : frames)
    text += fmt::format("    {} {}:{}\n", text_at(frame, "function"), text_at(frame, "file"),
                        number_at(frame, "line"));
  return text;
}

Case race_case(const StoredDocument& document, const std::vector<const Json*>& pairs) {
  const Json& race = *pairs[0];
  Case one;
  one.name = fmt::format("data race on {} [{}]", text_at(race, "variable"), text_at(race, "id"));
  one.type = rule_of(race);
  one.message = title_of(race);
  const Json& sites = list_at(race, "sites");
  if (headline_of(race) < sites.size()) {
    const Json& site = sites[headline_of(race)];
    one.file = text_at(site, "file");
    one.line = number_at(site, "line");
    one.place = text_at(site, "function");
  }
  if (std::string test = text_at(race, "test"); !test.empty()) one.place = test;
  one.text = joined(story_of(pairs));
  bool known = true;
  for (const Json* pair : pairs) {
    known = known && pair->value("baseline", Json()) == true;
    for (const Json& side : list_at(*pair, "sites"))
      one.text +=
          fmt::format("  stack of T{}:\n{}", number_at(side, "thread"), stack_text(list_at(side, "stack")));
  }
  one.text += joined(texts_at(object_at(race, "evidence"), "interleaving"));
  if (std::string line = replay_line(document, race); !line.empty()) one.text += "replay: " + line + "\n";
  bool judged = !text_at(race, "verdict").empty();
  if (is_destructive(race) || !judges(document))
    one.result = known ? Case::Result::kSkipped : Case::Result::kFailed;
  else if (!judged)
    one.result = Case::Result::kSkipped;
  if (known) one.message += " (in the baseline)";
  return one;
}

Case failure_case(const StoredDocument& document, const Json& failure) {
  Case one;
  one.result = Case::Result::kFailed;
  one.message = title_of(failure);
  one.name = fmt::format("{} [{}]", one.message, text_at(failure, "id"));
  one.type = "failure";
  one.place = "failure";
  one.file = text_at(failure, "file");
  one.line = number_at(failure, "line");
  for (const Json& stack : list_at(failure, "stacks"))
    one.text +=
        fmt::format("stack of T{}:\n{}", number_at(stack, "thread"), stack_text(list_at(stack, "stack")));
  if (std::string errors = text_at(failure, "stderr"); !errors.empty()) one.text += errors + "\n";
  if (std::string line = replay_line(document, failure); !line.empty()) one.text += "replay: " + line + "\n";
  return one;
}

/// A case of `duress test` that has no race of its own in the list: it passed, or could not be looked at.
std::optional<Case> test_case(const Json& entry) {
  if (!list_at(entry, "races").empty()) return std::nullopt;
  Case one;
  one.name = text_at(entry, "name");
  one.place = text_at(entry, "test");
  std::string outcome = text_at(entry, "outcome");
  one.message = outcome + (text_at(entry, "text").empty() ? "" : ": " + text_at(entry, "text"));
  one.type = "error";
  if (outcome != "passed") one.result = outcome == "error" ? Case::Result::kFailed : Case::Result::kSkipped;
  return one;
}

std::string limited(const std::string& text) {
  return text.size() <= kMostText ? text : "…" + text.substr(text.size() - kMostText);
}

std::string to_xml(const Case& one) {
  std::string xml = fmt::format("    <testcase classname=\"{}\" name=\"{}\"", xml_text(limited(one.place)),
                                xml_text(limited(one.name)));
  if (!one.file.empty())
    xml += fmt::format(" file=\"{}\" line=\"{}\"", xml_text(limited(one.file)), one.line);
  xml += ">\n";
  std::string message = xml_text(limited(one.message)), text = xml_text(limited(one.text));
  if (one.result == Case::Result::kFailed)
    xml += fmt::format("      <failure type=\"{}\" message=\"{}\">{}</failure>\n", one.type, message, text);
  else if (one.result == Case::Result::kSkipped)
    xml += fmt::format("      <skipped message=\"{}\"/>\n", message);
  if (one.result != Case::Result::kFailed && !one.text.empty())
    xml += fmt::format("      <system-out>{}\n{}</system-out>\n", message, text);
  return xml + "    </testcase>\n";
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::size_t end = text.find('\n');
    for (char c : printable(text.substr(0, end))) {
      switch (c) {
        case '&':
          out += "&amp;";
          break;
        case '<':
          out += "&lt;";
          break;
        case '>':
          out += "&gt;";
          break;
        case '"':
          out += "&quot;";
          break;
        case '\'':
          out += "&apos;";
          break;
        default:
          out += c;
      }
    }
    if (end == std::string_view::npos) break;
    out += "&#10;";
    text.remove_prefix(end + 1);
  }
  // The two code points that are UTF-8 but no XML.
  for (const char* never : {"\xef\xbf\xbe", "\xef\xbf\xbf"}) {
    for (std::size_t at = out.find(never); at != std::string::npos; at = out.find(never, at))
      out.replace(at, 3, "\xef\xbf\xbd");
  }
  return out;
}

std::string to_junit(const StoredDocument& document) {
  std::vector<Case> cases;
  for (const std::vector<const Json*>& race : races_of(document)) cases.push_back(race_case(document, race));
  for (const Json& failure : list_at(document.json, "failures"))
    cases.push_back(failure_case(document, failure));
  for (const Json& entry : list_at(document.json, "cases")) {
    if (std::optional<Case> one = test_case(entry)) cases.push_back(std::move(*one));
  }
  if (cases.empty()) {
    Case none;
    none.name = "no finding";
    none.place = text_at(document.json, "command");
    cases.push_back(none);
  }
  std::size_t failed = 0, skipped = 0;
  std::string body;
  for (const auto& [name, value] : object_at(document.json, "summary").items())
    body +=
        fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", xml_text(name), xml_text(value.dump()));
  if (!body.empty()) body = "    <properties>\n" + body + "    </properties>\n";
  for (const Case& one : cases) {
    failed += one.result == Case::Result::kFailed ? 1 : 0;
    skipped += one.result == Case::Result::kSkipped ? 1 : 0;
    body += to_xml(one);
  }
  std::string words;
  for (const Json& word : list_at(document.json, "target"))
    words += (words.empty() ? "" : " ") + (word.is_string() ? word.get<std::string>() : "");
  auto seconds = document.json.find("seconds");
  double time = seconds != document.json.end() && seconds->is_number() ? seconds->get<double>() : 0;
  std::string counts = fmt::format("tests=\"{}\" failures=\"{}\" skipped=\"{}\" errors=\"0\" time=\"{:.3f}\"",
                                   cases.size(), failed, skipped, time);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"duress\" {}>\n"
      "  <testsuite name=\"{}\" {}>\n{}  </testsuite>\n</testsuites>\n",
      counts, xml_text(limited("duress " + text_at(document.json, "command") + " -- " + words)), counts,
      body);
}

DURESS_DEFINE_FORMAT(Junit, to_junit, false);

}  // namespace duress::report
