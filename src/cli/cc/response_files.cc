// SPDX-License-Identifier: Apache-2.0
#include "cli/cc/response_files.h"

#include <fstream>
#include <iterator>

namespace duress::cc {
namespace {

/// GNU rules: white space separates, quotes group, a backslash takes the next character as it is.
std::vector<std::string> split_response_file(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\\' && i + 1 < text.size()) {
      word += text[++i];
      in_word = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (in_word) words.push_back(word);
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) words.push_back(word);
  return words;
}

void expand(const std::vector<std::string>& args, unsigned depth, std::vector<std::string>* out) {
  for (const std::string& arg : args) {
    if (arg.size() > 1 && arg[0] == '@' && depth < 16) {
      std::ifstream file(arg.substr(1));
      if (file) {
        std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
        expand(split_response_file(text), depth + 1, out);
        continue;
      }
    }
    out->push_back(arg);
  }
}

}  // namespace

std::vector<std::string> with_response_files(const std::vector<std::string>& args) {
  std::vector<std::string> words;
  expand(args, 0, &words);
  return words;
}

}  // namespace duress::cc
