// SPDX-License-Identifier: Apache-2.0
//
// Random programs of two or three threads, explored by the real runtime (machine.cc) and judged by others: under
// sc by brute force, under rc11 by the axioms (memory/testing/rc11_program.h). Atomics of all orders, fences,
// plain accesses, locks, loops, assumptions; and with `exits` threads that end the process.
//
//   random_programs_test MACHINE PROGRAMS FIRST_SEED            duress::check, both models
//   random_programs_test MACHINE PROGRAMS FIRST_SEED DURESS DIR duress verify of whole programs, with _exit

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/prng.h"
#include "memory/testing/rc11_program.h"
#include "sc_judge.h"

namespace duress::small {
namespace {

using memory::testing::declared;

constexpr int kOrders[] = {0, 2, 3, 4, 5};

int order_of_load(Prng& prng) {
  constexpr int kLoads[] = {0, 2, 5};
  return kLoads[prng.below(3)];
}
int order_of_store(Prng& prng) {
  constexpr int kStores[] = {0, 3, 5};
  return kStores[prng.below(3)];
}

Instruction random_atomic(Prng& prng, int number) {
  Instruction i = {kLoad, static_cast<int>(prng.below(kVariables)), 0, number, 0, 0};
  switch (prng.below(9)) {
    case 0:
    case 1:
    case 2:
      i.order = order_of_load(prng);
      break;
    case 3:
    case 4:
    case 5:
      i.what = kStore;
      i.order = order_of_store(prng);
      break;
    case 6:
      i.what = prng.chance(1, 2) ? kAdd : kExchange;
      i.order = kOrders[prng.below(5)];
      break;
    case 7:
      i.what = kCompare;
      i.order = kOrders[prng.below(5)];
      i.expected = static_cast<int>(prng.below(static_cast<u64>(number)));
      i.failure = order_of_load(prng);
      break;
    default:
      i.what = kFence;
      i.order = kOrders[1 + prng.below(4)];
  }
  return i;
}

/// Which kinds of instructions a program has. The axioms judge those of atomics, fences, assumptions and loops
/// that are run twice.
struct Kind {
  bool plain, locks, loops, exits;
};

Program random_program(Prng& prng, const Kind& kind) {
  Program program = {};
  program.threads = 2 + static_cast<int>(prng.below(2));
  int events = 4 + static_cast<int>(prng.below(3)), number = 0;
  bool has_assumption = false, has_loop = false;
  for (int t = 0; t < program.threads; ++t) {
    Thread& thread = program.thread[t];
    auto put = [&](const Instruction& i) { thread.code[thread.count++] = i; };
    int mine = events / program.threads + (t < events % program.threads ? 1 : 0);
    bool locked = kind.locks && prng.chance(1, 2);
    int lock = static_cast<int>(prng.below(kVariables));
    if (locked) put({kLock, lock, 0, 0, 0, 0});
    for (int k = 0; k < mine; ++k) {
      if (kind.plain && prng.chance(1, 4)) {
        bool writes = prng.chance(1, 2);
        put({writes ? kPlainStore : kPlainLoad, static_cast<int>(prng.below(kVariables)), 0, ++number, 0, 0});
        continue;
      }
      Instruction i = random_atomic(prng, ++number);
      put(i);
      if (i.what == kStore || i.what == kFence) continue;
      if (kind.exits && prng.chance(1, 3))
        put({kExit, 0, 0, 10 + number, static_cast<int>(prng.below(3)), 0});
      // A loop around this one; under rc11 always twice, because the axioms know no branches.
      if (!has_loop && prng.chance(1, 6)) {
        has_loop = true;
        put({kAgain, 0, 0, kind.loops ? static_cast<int>(prng.below(3)) : -1, 1, 0});
      } else if (!has_assumption && prng.chance(1, 6)) {
        has_assumption = true;
        put({kAssume, 0, 0, static_cast<int>(prng.below(4)), 0, 0});
      }
    }
    if (locked) put({kUnlock, lock, 0, 0, 0, 0});
  }
  return program;
}

std::string text_of(const Program& program) {
  std::string text = std::to_string(program.threads);
  for (int t = 0; t < program.threads; ++t) {
    text += "  " + std::to_string(program.thread[t].count);
    for (int k = 0; k < program.thread[t].count; ++k) {
      const Instruction& i = program.thread[t].code[k];
      for (int n : {i.what, i.where, i.order, i.value, i.expected, i.failure})
        text += " " + std::to_string(n);
    }
  }
  return text;
}

// ---- the axioms

struct Declared {
  std::set<std::string> outcomes;
  u64 graphs;
};

/// Loops are unrolled, assumptions select executions.
Declared by_axioms(const Program& program) {
  using What = memory::testing::Instruction::What;
  memory::testing::Program straight = {kVariables, {}};
  struct Assumption {
    u32 thread, index;
    u64 value;
  };
  std::vector<Assumption> assumptions;
  for (int t = 0; t < program.threads; ++t) {
    auto& thread = straight.threads.emplace_back();
    auto put = [&](const Instruction& i) {
      constexpr What kWhats[] = {What::kLoad,     What::kStore,   What::kAdd,
                                 What::kExchange, What::kCompare, What::kFence};
      thread.push_back({kWhats[i.what], static_cast<u32>(i.where), static_cast<MemoryOrder>(i.order),
                        static_cast<u64>(i.value), static_cast<u64>(i.expected),
                        static_cast<MemoryOrder>(i.failure)});
    };
    for (int k = 0; k < program.thread[t].count; ++k) {
      const Instruction& i = program.thread[t].code[k];
      if (i.what == kAgain) {
        put(program.thread[t].code[k - 1]);
      } else if (i.what == kAssume) {
        assumptions.push_back(
            {static_cast<u32>(t), static_cast<u32>(thread.size() - 1), static_cast<u64>(i.value)});
      } else {
        put(i);
      }
    }
  }
  auto results = declared(straight, [&](const std::vector<u64>& read) {
    for (const Assumption& one : assumptions) {
      if (read[straight.event(one.thread, one.index)] != one.value) return false;
    }
    return true;
  });
  Declared found = {{}, results.graphs.size()};
  for (const std::string& one : results.outcomes) {
    std::string text = one;
    text.replace(text.find(';'), 1, "|");
    found.outcomes.insert(text + " 0 0 ");  // plain variables
  }
  return found;
}

// ---- what the machine says

struct Said {
  std::string model, failure;
  u64 executions = 0;
  bool passed = false, complete = false;
  std::set<std::string> outcomes;
};

Said read_line(const std::string& line) {
  Said said;
  std::istringstream in(line);
  in >> said.model >> said.executions >> said.passed >> said.complete;
  std::getline(in >> std::ws, said.failure, ';');
  for (std::string one; std::getline(in, one, ',');) said.outcomes.insert(one);
  return said;
}

std::string join(const std::set<std::string>& all) {
  std::string text;
  for (const std::string& one : all) text += "\n    " + one;
  return text;
}

std::string differs(const std::set<std::string>& judged, const Said& said) {
  if (judged == said.outcomes) return "";
  return said.model + ": outcomes are" + join(said.outcomes) + "\n  but" + join(judged);
}

/// "": as it should be.
std::string compare_sc(const Judged& judged, const Said& said) {
  if (judged.race || judged.deadlock) return said.passed ? "sc: a race or deadlock was not found" : "";
  if (!said.passed) return judged.perhaps ? "" : "sc: fails though it should not: " + said.failure;
  if (!said.complete) return "sc: not complete";
  if (said.executions > judged.interleavings) return "sc: more executions than interleavings";
  return differs(judged.outcomes, said);
}

std::string compare_rc11(const Declared& judged, const Said& said) {
  if (!said.passed) return "rc11: fails though it should not: " + said.failure;
  if (!said.complete) return "rc11: not complete";
  if (said.executions != judged.graphs)
    return "rc11: " + std::to_string(said.executions) + " executions, not " + std::to_string(judged.graphs);
  return differs(judged.outcomes, said);
}

Kind kind_of(u64 seed) {
  switch (seed % 4) {
    case 0:
      return {false, true, true, false};
    case 1:
      return {true, true, true, false};
    default:
      return {false, false, false, false};  // for the axioms
  }
}

int check(const std::string& machine, u64 programs, u64 first) {
  constexpr u64 kBatch = 500;
  u64 compared = 0, racy = 0, by_axiom = 0, wrong = 0;
  char name[] = "/tmp/duress-random-XXXXXX";
  int file = mkstemp(name);
  if (file < 0) return 2;
  for (u64 from = first; from < first + programs; from += kBatch) {
    const u64 to = std::min(from + kBatch, first + programs);
    std::vector<Program> all;
    std::ofstream out(name);
    for (u64 seed = from; seed < to; ++seed) {
      Prng prng(seed);
      all.push_back(random_program(prng, kind_of(seed)));
      out << text_of(all.back()) << "\n";
    }
    out.close();
    FILE* in = popen((machine + " check < " + name).c_str(), "r");
    if (in == nullptr) return 2;
    auto line = [&] {
      std::string text;
      for (int c; (c = fgetc(in)) != EOF && c != '\n';) text += static_cast<char>(c);
      return text;
    };
    for (u64 k = 0; k < all.size(); ++k) {
      const Program& program = all[k];
      Said sc = read_line(line()), rc11 = read_line(line());
      if (rc11.model != "rc11") {
        printf("the machine has stopped at seed %lu: %s\n", from + k, text_of(program).c_str());
        pclose(in);
        unlink(name);
        return 1;
      }
      Judged judged = ScJudge(program).judge();
      std::string problem = compare_sc(judged, sc);
      racy += judged.race;
      ++compared;
      if (problem.empty() && kind_of(from + k).locks == false) {
        problem = compare_rc11(by_axioms(program), rc11);
        ++by_axiom;
      }
      if (problem.empty()) continue;
      ++wrong;
      printf("seed %lu: %s\n  %s\n", from + k, text_of(program).c_str(), problem.c_str());
    }
    pclose(in);
  }
  unlink(name);
  printf("%lu programs compared, %lu of them with a race, %lu by the axioms too; %lu differ\n", compared,
         racy, by_axiom, wrong);
  return wrong != 0 || compared != programs;
}

/// Whole programs: every exit code, and no other.
int verify(const std::string& machine, u64 programs, u64 first, const std::string& duress,
           const std::string& dir) {
  u64 compared = 0, wrong = 0;
  const std::string input = dir + "/program";
  for (u64 seed = first; seed < first + programs; ++seed) {
    Prng prng(seed);
    Program program = random_program(prng, {false, true, true, true});
    std::ofstream(input) << text_of(program) << "\n";
    Judged judged = ScJudge(program).judge();
    judged.exits.erase(0);
    FILE* in = popen((duress + " verify --no-advice -j 1 --json --dir " + dir + "/d -- " + machine +
                      " run < " + input + " 2>/dev/null | grep -oE '\"(failure|complete)\": [^,]*'")
                         .c_str(),
                     "r");
    if (in == nullptr) return 2;
    std::set<int> exits;
    bool complete = false, deadlock = false;
    char text[200];
    while (fgets(text, sizeof text, in) != nullptr) {
      complete |= std::string(text).find("true") != std::string::npos;
      deadlock |= std::string(text).find("deadlock") != std::string::npos;
      if (const char* code = std::strstr(text, "exit:")) exits.insert(atoi(code + 5));
    }
    pclose(in);
    ++compared;
    if (complete && exits == judged.exits && deadlock == judged.deadlock) continue;
    ++wrong;
    printf("seed %lu: %s\n  complete %d, deadlock %d; exit codes", seed, text_of(program).c_str(), complete,
           deadlock);
    for (int code : exits) printf(" %d", code);
    printf(", but");
    for (int code : judged.exits) printf(" %d", code);
    printf("\n");
  }
  printf("%lu whole programs compared, %lu differ\n", compared, wrong);
  return wrong != 0;
}

}  // namespace
}  // namespace duress::small

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string machine = argv[1];
  const auto programs = strtoull(argv[2], nullptr, 10), first = strtoull(argv[3], nullptr, 10);
  if (argc > 5) return duress::small::verify(machine, programs, first, argv[4], argv[5]);
  return duress::small::check(machine, programs, first);
}
