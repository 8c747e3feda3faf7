// SPDX-License-Identifier: Apache-2.0
#include "repair/source_edit.h"

#include <algorithm>
#include <regex>

#include "exec/files.h"

namespace duress::repair {
namespace {

/// A statement of one line that is neither a declaration nor part of another one.
const std::regex& statement() {
  static const std::regex pattern(
      R"(^(\s*)((?:\+\+|--)?[\w.:\[\]]+(?:->[\w.\[\]]+)*\s*(?:\+\+|--|[-+*/%|&^]?=[^=].*)?;)(\s*//.*)?$)");
  return pattern;
}

const std::string& line_at(const FileEdit& edit, std::size_t line) {
  static const std::string none;
  return line >= 1 && line <= edit.after.size() ? edit.after[line - 1] : none;
}

/// Lines [first, last) in which a field of that type can be declared; all for a global.
std::pair<std::size_t, std::size_t> scope_of(const Lines& lines, const std::string& type) {
  if (type.empty()) return {0, lines.size()};
  std::regex head("^\\s*(?:struct|class)\\s+(?:alignas\\([^)]*\\)\\s*)?" + type + "\\b[^;]*$");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!std::regex_search(lines[i], head)) continue;
    std::size_t indent = lines[i].find_first_not_of(" \t");
    for (std::size_t k = i + 1; k < lines.size(); ++k) {
      if (lines[k].find_first_not_of(" \t") == indent && lines[k].compare(indent, 1, "}") == 0)
        return {i + 1, k};
    }
  }
  return {0, 0};
}

void include_atomic(Lines& lines) {
  std::size_t at = lines.size();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].rfind("#include <atomic>", 0) == 0) return;
    if (at == lines.size() && lines[i].rfind("#include <", 0) == 0) at = i;
  }
  if (at == lines.size()) {
    at = 0;
    while (at < lines.size() && lines[at].rfind("//", 0) == 0) ++at;
  }
  lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at), "#include <atomic>");
}

}  // namespace

Lines split_lines(const std::string& text) {
  Lines lines;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::optional<FileEdit> open_for_edit(const std::string& path) {
  std::optional<std::string> text = exec::read_file(path);
  if (!text) return std::nullopt;
  FileEdit edit;
  edit.path = path;
  edit.before = edit.after = split_lines(*text);
  edit.ends_in_newline = text->empty() || text->back() == '\n';
  return edit;
}

bool make_atomic(FileEdit& edit, const std::string& variable) {
  static const std::regex name(R"(^(?:(\w+)::)?(\w+)(\[\d*\])?$)");
  std::smatch parts;
  if (!std::regex_match(variable, parts, name)) return false;
  // Elements of an array: each becomes atomic.
  const char* bounds = parts[3].matched ? R"(((?:\s*\[[^\]]*\])+)" : R"((())";
  // A type of one word, signed or not, or a pointer.
  std::regex declaration(
      R"(^(\s*(?:(?:static|inline|thread_local)\s+)*)(?:volatile\s+)?)"
      R"(((?:unsigned\s+|signed\s+|long\s+|short\s+)*[A-Za-z_][\w:]*(?:\s*\*)?)(\s*)\b)" +
      parts[2].str() + bounds +
      (parts[3].matched ? R"((?:\s*=?\s*\{[^;{}]*\})?;.*)$)" : R"((?:\s*=[^,;]*|\s*\{[^,;]*\})?;.*)$)"));
  static const std::regex no_type(R"(^(return|delete|goto|typedef|using|new|throw|else|extern)\b.*)");
  Lines& lines = edit.after;
  auto [first, last] = scope_of(lines, parts[1].str());
  std::size_t found = lines.size(), count = 0;
  for (std::size_t i = first; i < last; ++i) {
    std::smatch match;
    if (!std::regex_match(lines[i], match, declaration) || std::regex_match(match[2].str(), no_type))
      continue;
    if (match[3].length() == 0 && match[2].str().back() != '*') continue;
    bool global = parts[1].length() == 0 && !match[1].str().empty() && match[1].str()[0] == ' ';
    if (global) continue;  // a local of that name
    found = i;
    ++count;
  }
  if (count != 1) return false;
  std::smatch match;
  std::string line = lines[found];
  std::regex_match(line, match, declaration);
  std::string type = match[2].str();
  lines[found] = match[1].str() + "std::atomic<" + type + "> " + parts[2].str() + match[4].str();
  include_atomic(lines);
  return true;
}

bool add_lock(FileEdit& edit, std::size_t line, const std::string& lock) {
  static const std::regex name(R"(^\w+$)");
  if (!std::regex_match(lock, name)) return false;
  std::regex declared("std::mutex[^;()]*\\b" + lock + "\\b");
  bool known = std::any_of(edit.after.begin(), edit.after.end(),
                           [&](const std::string& text) { return std::regex_search(text, declared); });
  std::smatch match;
  std::string text = line_at(edit, line);
  if (!known || !std::regex_match(text, match, statement())) return false;
  std::string indent = match[1].str();
  Lines fresh = {indent + "{", indent + "  std::lock_guard guard(" + lock + ");", "  " + text, indent + "}"};
  auto at = edit.after.begin() + static_cast<std::ptrdiff_t>(line - 1);
  at = edit.after.erase(at);
  edit.after.insert(at, fresh.begin(), fresh.end());
  return true;
}

bool move_below(FileEdit& edit, std::size_t line, std::size_t below) {
  std::smatch one, other;
  std::string moved = line_at(edit, line), fixed = line_at(edit, below);
  if (line >= below || !std::regex_match(moved, one, statement()) ||
      !std::regex_match(fixed, other, statement()) || one[1].str() != other[1].str())
    return false;
  auto first = edit.after.begin() + static_cast<std::ptrdiff_t>(line - 1);
  std::rotate(first, first + 1, edit.after.begin() + static_cast<std::ptrdiff_t>(below));
  return true;
}

std::string unified_diff(const FileEdit& edit) {
  const Lines &a = edit.before, &b = edit.after;
  if (a == b) return "";
  // Longest common subsequence of what lies between the equal ends: edits are small, files may be long.
  std::size_t head = 0, tail = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  while (tail < a.size() - head && tail < b.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  std::size_t n = a.size() - head - tail, m = b.size() - head - tail;
  std::vector<std::vector<unsigned>> common(n + 1, std::vector<unsigned>(m + 1, 0));
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = m; k-- > 0;) {
      common[i][k] = a[head + i] == b[head + k] ? common[i + 1][k + 1] + 1
                                                : std::max(common[i + 1][k], common[i][k + 1]);
    }
  }
  struct Entry {
    char kind;
    std::string text;
  };
  std::vector<Entry> all;
  for (std::size_t i = 0; i < head; ++i) all.push_back({' ', a[i]});
  for (std::size_t i = 0, k = 0; i < n || k < m;) {
    if (i < n && k < m && a[head + i] == b[head + k]) {
      all.push_back({' ', a[head + i]});
      ++i, ++k;
    } else if (i < n && (k == m || common[i + 1][k] >= common[i][k + 1])) {
      all.push_back({'-', a[head + i++]});
    } else {
      all.push_back({'+', b[head + k++]});
    }
  }
  for (std::size_t i = a.size() - tail; i < a.size(); ++i) all.push_back({' ', a[i]});
  constexpr std::size_t kContext = 3;
  std::string text = "--- a/" + edit.path + "\n+++ b/" + edit.path + "\n";
  std::size_t old_line = 1, new_line = 1;
  for (std::size_t at = 0; at < all.size();) {
    std::size_t change = at;
    while (change < all.size() && all[change].kind == ' ') ++change;
    if (change == all.size()) break;
    std::size_t from = std::max(at, change > kContext ? change - kContext : 0), to = change;
    for (std::size_t last = change; to < all.size() && to <= last + 2 * kContext; ++to) {
      if (all[to].kind != ' ') last = to;
    }
    while (to > change && all[to - 1].kind == ' ') --to;
    to = std::min(all.size(), to + kContext);
    for (; at < from; ++at) ++old_line, ++new_line;
    std::size_t olds = 0, news = 0;
    std::string hunk;
    for (std::size_t i = from; i < to; ++i) {
      olds += all[i].kind != '+';
      news += all[i].kind != '-';
      hunk += all[i].kind + all[i].text + "\n";
    }
    text += "@@ -" + std::to_string(old_line) + "," + std::to_string(olds) + " +" + std::to_string(new_line) +
            "," + std::to_string(news) + " @@\n" + hunk;
    old_line += olds;
    new_line += news;
    at = to;
  }
  return text;
}

}  // namespace duress::repair
