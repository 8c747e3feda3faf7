// SPDX-License-Identifier: Apache-2.0
//
// The page is a skeleton, a style, a script and data. Everything that a target could have named is in the
// data, and the script puts it on the page as text only. Should that ever fail, the content security policy
// lets nothing run but our own script, by its hash, and nothing be fetched.
//
// Lanes are the bulk. Each is a block of its own, compressed (by zlib, which browsers undo), after all that
// the first paint needs, and unpacked when somebody looks at it.
#include "report/html_writer.h"

#include <fmt/format.h>
#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/SHA256.h>
#include <zlib.h>

#include <algorithm>
#include <stdexcept>

#include "report/formats.h"
#include "report/html_assets.h"
#include "report/lanes_json.h"
#include "report/sources.h"

namespace duress::report {
namespace {

std::string compressed(const std::string& text) {
  uLongf size = compressBound(static_cast<uLong>(text.size()));
  std::string out(size, '\0');
  int code = compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                       reinterpret_cast<const Bytef*>(text.data()), static_cast<uLong>(text.size()), 6);
  if (code != Z_OK) throw std::runtime_error("cannot compress a trace");
  out.resize(size);
  return out;
}

std::string hash_source(const std::string& text) {
  auto hash = llvm::SHA256::hash(
      llvm::ArrayRef<std::uint8_t>(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
  return "'sha256-" + base64({reinterpret_cast<const char*>(hash.data()), hash.size()}) + "'";
}

/// Every block of lanes, in the order of the document's.
std::vector<std::string> lane_blocks(const StoredDocument& document) {
  std::vector<std::string> blocks;
  std::size_t bytes = 0;
  for (const finding::Lanes& lanes : document.lanes) {
    blocks.push_back(base64(compressed(lanes_columns(lanes))));
    bytes += blocks.back().size();
  }
  std::size_t most = 10000;
  while (bytes > kMostLaneBytes && most > 16) {
    most = std::min(most * 3 / 4, most * kMostLaneBytes / bytes);
    bytes = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (document.lanes[i].events.size() > most)
        blocks[i] = base64(compressed(lanes_columns(tail_of(document.lanes[i], most))));
      bytes += blocks[i].size();
    }
  }
  return blocks;
}

/// What the script reads first: the document, what was made for it, and source lines.
Json page_data(const StoredDocument& document) {
  Json data;
  data["document"] = document.json;
  Json& extra = data["findings"] = Json::object();
  for (const char* list : {"races", "failures"}) {
    for (const Json& finding : list_at(document.json, list)) {
      std::string id = text_at(finding, "id");
      if (extra.contains(id)) continue;  // another pair of accesses to the same variable
      Json& one = extra[id];
      one["replay"] = replay_line(document, finding);
      one["token"] = replay_token_line(document, finding);
      if (list == std::string("races")) {
        one["rule"] = rule_of(finding);
        one["headline"] = headline_of(finding);
      }
      if (auto lanes = document.lanes_of.find(id); lanes != document.lanes_of.end()) {
        one["lanes"] = lanes->second;
        one["events"] = document.lanes[lanes->second].events.size();
      } else if (auto lack = document.lanes_lack.find(id); lack != document.lanes_lack.end()) {
        one["lack"] = lack->second;
      }
    }
  }
  data["sources"] = sources_of(document);
  if (!document.comparison.is_null()) data["comparison"] = document.comparison;
  if (!document.editor.empty()) {
    data["editor"] = document.editor;
    data["folder"] = document.folder;
  }
  return data;
}

}  // namespace

std::string base64(std::string_view bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      out += i + k <= bytes.size() ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

std::string json_block(std::string text) {
  std::string out;
  out.reserve(text.size() + text.size() / 16);
  for (char c : text) {
    if (c == '<')
      out += "\\u003c";
    else if (c == '>')
      out += "\\u003e";
    else if (c == '&')
      out += "\\u0026";
    else
      out += c;
  }
  return out;
}

std::string page_script() {
  std::string script = "(() => {\n\"use strict\";\n";
  for (std::string_view module : html_modules()) {
    bool importing = false;
    while (!module.empty()) {
      std::size_t end = std::min(module.find('\n'), module.size() - 1);
      std::string_view line = module.substr(0, end + 1);
      module.remove_prefix(end + 1);
      importing = importing || line.starts_with("import ");
      if (importing) {
        importing = line.find(';') == std::string_view::npos;
        continue;
      }
      if (line.starts_with("export ")) line.remove_prefix(7);
      script += line;
    }
  }
  return script + "})();\n";
}

std::string to_html(const StoredDocument& document) {
  const std::string script = page_script(), style(html_style());
  std::string policy = fmt::format(
      "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'; "
      "require-trusted-types-for 'script'; trusted-types 'none'",
      hash_source(script), hash_source(style));
  std::string page = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  page += "<meta http-equiv=\"Content-Security-Policy\" content=\"" + policy + "\">\n";
  page +=
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n<title>Duress report</title>\n<style>";
  page += style + "</style>\n</head>\n<body>\n" + std::string(html_body());
  page += "<script type=\"application/json\" id=\"data\">" +
          json_block(page_data(document).dump(-1, ' ', false, Json::error_handler_t::replace)) +
          "</script>\n";
  page += "<script>" + script + "</script>\n";
  std::size_t index = 0;
  for (const std::string& block : lane_blocks(document))
    page += fmt::format("<script type=\"text/plain\" id=\"lanes-{}\">{}</script>\n", index++, block);
  return page + "</body>\n</html>\n";
}

DURESS_DEFINE_FORMAT(Html, to_html, true);

}  // namespace duress::report
