// SPDX-License-Identifier: Apache-2.0
// FLAGS: -std=c++20
// Much code at once: containers, streams, regular expressions, sorting, random numbers with fixed seeds.
#include <algorithm>
#include <deque>
#include <iomanip>
#include <iostream>
#include <list>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <unordered_map>
#include <variant>
#include <vector>

struct Visitor {
  std::string operator()(int v) { return "int " + std::to_string(v); }
  std::string operator()(const std::string& s) { return "string " + s; }
  std::string operator()(const std::vector<int>& v) { return "vector " + std::to_string(v.size()); }
};

int main() {
  std::mt19937_64 random(7);
  std::vector<int> values(5000);
  for (int& v : values) v = int(random() % 1000);
  auto sorted = values;
  std::sort(sorted.begin(), sorted.end());
  std::stable_sort(values.begin(), values.end(), [](int a, int b) { return a % 10 < b % 10; });
  std::cout << std::accumulate(values.begin(), values.end(), 0L) << ' ' << sorted[2500] << ' ' << values[17]
            << '\n';
  std::map<std::string, std::vector<int>> groups;
  for (int v : values) groups["k" + std::to_string(v % 7)].push_back(v);
  std::unordered_map<int, int> counts;
  for (int v : values) ++counts[v];
  std::multiset<int> bag(values.begin(), values.begin() + 100);
  std::priority_queue<int> heap(values.begin(), values.end());
  std::deque<int> window;
  long total = 0;
  for (int v : values) {
    window.push_back(v);
    if (window.size() > 10) window.pop_front();
    total += window.front();
  }
  std::list<int> chain(values.begin(), values.begin() + 50);
  chain.sort();
  chain.unique();
  for (auto& [name, list] : groups) std::cout << name << ':' << list.size() << ' ';
  std::cout << counts.size() << ' ' << *bag.begin() << ' ' << heap.top() << ' ' << total << ' '
            << chain.size() << '\n';
  std::regex pattern(R"((\w+)@(\w+)\.(com|org))");
  std::string text = "write to ann@example.com, bob@site.org or nobody@nowhere";
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it) {
    std::cout << (*it)[1] << '/' << (*it)[2] << '/' << (*it)[3] << ' ';
  }
  std::cout << std::regex_replace(text, pattern, "<$1>") << '\n';
  std::ostringstream out;
  out << std::hex << std::setw(8) << std::setfill('0') << 48879 << std::fixed << std::setprecision(3)
      << 3.14159;
  std::istringstream in("12 3.5 word");
  int a;
  double b;
  std::string c;
  in >> a >> b >> c;
  std::cout << out.str() << ' ' << a << ' ' << b << ' ' << c << '\n';
  std::vector<std::variant<int, std::string, std::vector<int>>> things{1, std::string("x"),
                                                                       std::vector<int>(3)};
  for (auto& thing : things) std::cout << std::visit(Visitor{}, thing) << "; ";
  std::optional<std::string> maybe = "here";
  std::cout << maybe.value_or("none") << '\n';
  std::vector<double> matrix(64 * 64);
  std::iota(matrix.begin(), matrix.end(), 0.0);
  std::vector<double> product(64 * 64);
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 64; ++j)
      for (int k = 0; k < 64; ++k) product[i * 64 + j] += matrix[i * 64 + k] * matrix[k * 64 + j];
  std::cout << std::accumulate(product.begin(), product.end(), 0.0) << '\n';
}
