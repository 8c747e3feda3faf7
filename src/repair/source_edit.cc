// SPDX-License-Identifier: Apache-2.0
#include "repair/source_edit.h"

#include <algorithm>

#include "exec/files.h"

namespace duress::repair {
Lines split_lines(const std::string& text) {
  Lines lines;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string joined_lines(const Lines& lines, bool ends_in_newline) {
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i)
    text += lines[i] + (i + 1 < lines.size() || ends_in_newline ? "\n" : "");
  return text;
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
