// SPDX-License-Identifier: Apache-2.0
//
// Statements that join threads move up. What moves is one line, or a loop around it of up to three lines:
//   worker.join();      for (auto& t : threads) t.join();      for (...) {
//                                                                t.join();
//                                                              }
#include <algorithm>
#include <regex>

#include "repair/source_edit.h"

namespace duress::repair {
namespace {

/// Lines [first, last), from 0.
struct Range {
  std::size_t first = 0, last = 0;
};

// The parts of a line: indent, loop, what is joined by a member, by a function, comment.
const std::regex& join_line() {
  static const std::regex pattern(
      R"(^(\s*)(for \([^{}]*\) ?)?(?:([\w.\[\]]+(?:->[\w.\[\]]+)*?)(?:\.|->)join\(\)|(?:\(void\))?(?:pthread_join|thrd_join)\(([^,;{}]+),[^;{}]*\));(\s*//.*)?$)");
  return pattern;
}

std::size_t indent_of(const std::string& line) {
  return std::min(line.find_first_not_of(" \t"), line.size());
}

bool is_blank(const std::string& line) {
  return indent_of(line) == line.size();
}

/// Whether a statement can begin after that line.
bool ends_statement(const std::string& line) {
  std::string text = line.substr(0, line.find("//"));
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.pop_back();
  if (text.empty() || text[text.find_first_not_of(" \t")] == '#') return true;
  return text.back() == ';' || text.back() == '{' || text.back() == '}';
}

bool begins_statement(const Lines& lines, std::size_t at) {
  static const std::regex no_begin(
      R"(^\s*(else|case|default|catch|public|private|for|do|[})#:?.&|+<>=,*/-]).*)");
  if (is_blank(lines[at]) || std::regex_match(lines[at], no_begin)) return false;
  return at == 0 || ends_statement(lines[at - 1]);
}

/// The statement of which the line joins; nothing if it is not clear.
std::optional<Range> statement_at(const Lines& lines, std::size_t at) {
  static const std::regex loop(R"(^\s*for \([^{}]*\)( \{)?$)");
  std::smatch parts, head;
  if (at >= lines.size() || !std::regex_match(lines[at], parts, join_line())) return std::nullopt;
  if (at == 0 || ends_statement(lines[at - 1])) {
    bool opened = at > 0 && std::regex_match(lines[at - 1], head, loop);
    if (!opened || parts[2].matched) return opened ? std::nullopt : std::optional<Range>({at, at + 1});
    bool closed = at + 1 < lines.size() && lines[at + 1].substr(indent_of(lines[at + 1])) == "}" &&
                  indent_of(lines[at + 1]) == indent_of(lines[at - 1]);
    return closed ? std::optional<Range>({at - 1, at + 2}) : std::nullopt;
  }
  bool loops = std::regex_match(lines[at - 1], head, loop) && !parts[2].matched;
  if (!loops || (at >= 2 && !ends_statement(lines[at - 2]))) return std::nullopt;
  return Range{at - 1, at + 1};
}

/// The words of a line that may be variables.
std::set<std::string> words_of(const std::string& line) {
  static const std::regex word(R"([A-Za-z_]\w*)");
  static const std::set<std::string> known = {"for",     "auto", "const",        "int",      "unsigned",
                                              "size_t",  "std",  "join",         "void",     "thread",
                                              "nullptr", "NULL", "pthread_join", "thrd_join"};
  std::string text = line.substr(0, line.find("//"));
  std::set<std::string> words;
  for (std::sregex_iterator it(text.begin(), text.end(), word), end; it != end; ++it) {
    if (known.count(it->str()) == 0) words.insert(it->str());
  }
  return words;
}

}  // namespace

std::string joined_name(const FileEdit& edit, std::size_t line) {
  static const std::regex each(R"(for \((?:const )?auto&&? \w+ : (\w+)\))");
  if (line < 1 || line > edit.before.size()) return "";
  std::optional<Range> range = statement_at(edit.before, line - 1);
  std::smatch parts;
  if (!range || !std::regex_match(edit.before[line - 1], parts, join_line())) return "";
  std::string loop = parts[2].matched                 ? parts[2].str()
                     : range->last - range->first > 1 ? edit.before[range->first]
                                                      : "";
  std::smatch of;
  if (std::regex_search(loop, of, each)) return of[1].str();
  std::string name = parts[3].matched ? parts[3].str() : parts[4].str();
  static const std::regex element(R"(\[\w+\]$)");  // of a loop, all of them
  return loop.empty() ? name : std::regex_replace(name, element, "");
}

bool move_joins_above(FileEdit& edit, const std::set<std::size_t>& lines, std::size_t above) {
  Lines& text = edit.after;
  if (above < 1 || above > text.size() || lines.empty() || !begins_statement(text, above - 1)) return false;
  std::size_t to = above - 1, indent = indent_of(text[to]);
  std::vector<Range> moved;
  for (std::size_t line : lines) {
    std::optional<Range> range = statement_at(text, line - 1);
    if (!range || range->first <= to || indent_of(text[range->first]) != indent) return false;
    if (!moved.empty() && moved.back().first == range->first) continue;
    if (!moved.empty() && range->first < moved.back().last) return false;
    moved.push_back(*range);
  }
  std::set<std::string> words;
  for (const Range& range : moved) {
    for (std::size_t i = range.first; i < range.last; ++i) words.merge(words_of(text[i]));
  }
  Lines statements;
  for (const Range& range : moved)
    statements.insert(statements.end(), text.begin() + static_cast<std::ptrdiff_t>(range.first),
                      text.begin() + static_cast<std::ptrdiff_t>(range.last));
  for (std::size_t i = moved.size(); i-- > 0;) {
    text.erase(text.begin() + static_cast<std::ptrdiff_t>(moved[i].first),
               text.begin() + static_cast<std::ptrdiff_t>(moved[i].last));
  }
  // What they pass: the same block, and nothing that has to do with them.
  std::size_t passed = moved.back().last - statements.size();
  for (std::size_t i = to; i < passed; ++i) {
    std::set<std::string> here = words_of(text[i]);
    bool shares = std::any_of(here.begin(), here.end(),
                              [&](const std::string& word) { return words.count(word) != 0; });
    if (shares || (!is_blank(text[i]) && indent_of(text[i]) < indent)) {
      text = edit.before;
      return false;
    }
  }
  text.insert(text.begin() + static_cast<std::ptrdiff_t>(to), statements.begin(), statements.end());
  return true;
}

}  // namespace duress::repair
