// SPDX-License-Identifier: Apache-2.0
//
// The first line of a finding has the shape of a compiler's warning, because every editor and CI system
// already takes that apart. Below it come, in the order in which people ask: who did what where with which
// locks, how they got there, whose memory it was, and where the threads came from.
#include "report/text_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/path.h"

namespace duress::report {
namespace {

using finding::Access;
using finding::BlockKind;
using finding::Frame;

constexpr const char* kBold = "\033[1m";
constexpr const char* kMagenta = "\033[1;35m";
constexpr const char* kRed = "\033[1;31m";
constexpr const char* kDim = "\033[2m";
constexpr const char* kReset = "\033[0m";

const char* verb(Access access) {
  switch (access) {
    case Access::kRead:
      return "reads";
    case Access::kWrite:
      return "writes";
    case Access::kAtomicRead:
      return "atomically reads";
    case Access::kAtomicWrite:
      return "atomically writes";
    case Access::kAtomicRmw:
      return "atomically updates";
    case Access::kFree:
      return "frees";
  }
  return "accesses";
}

class Writer {
 public:
  Writer(const Document& report, const TextStyle& style) : report_(report), style_(style) {}

  std::string write() {
    for (const finding::Race& race : report_.races) write_race(race);
    for (const finding::Race& race : report_.potential) write_race(race, "potential data race on ");
    for (const finding::Suspicion& suspicion : report_.suspicions) write_suspicion(suspicion);
    for (const finding::Crash& crash : report_.crashes) write_crash(crash);
    if (style_.detail == Detail::kQuiet) return std::move(out_);
    for (const std::string& what : report_.incomplete) line("duress: incomplete: {}", printable(what));
    for (const std::string& what : report_.warnings) line("duress: warning: {}", printable(what));
    for (const Suppression& entry : report_.unused_suppressions) {
      line("duress: suppression never used: {}:{} ({}:{})", entry.type, printable(entry.pattern),
           printable(entry.file), entry.line);
    }
    if (style_.stats) write_stats();
    if (report_.collide) write_categories();
    write_summary();
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  std::string colored(const char* color, const std::string& text) const {
    return style_.color ? color + text + kReset : text;
  }

  std::string thread(int id, const std::string& name) const {
    if (id < 0) return "somebody";
    if (id == 0) return "T0 'main'";
    return name.empty() ? fmt::format("T{}", id) : fmt::format("T{} '{}'", id, printable(name));
  }

  std::string place(const Frame& frame) const {
    std::string text = printable(shown_path(frame.file, report_.cwd));
    if (frame.line != 0) text += fmt::format(":{}", frame.line);
    if (frame.line != 0 && frame.column != 0) text += fmt::format(":{}", frame.column);
    return text;
  }

  std::string short_place(const Frame& frame) const {
    if (frame.file.empty()) return printable(base_name(frame.module));
    return fmt::format("{}:{}", printable(base_name(frame.file)), frame.line);
  }

  std::string function(const Frame& frame) const {
    if (frame.function.empty() && frame.module.empty() && frame.module_offset == 0) return "?";
    if (!frame.function.empty()) {
      bool has_own = frame.function.back() == ')';  // operator()
      return printable(frame.function) + (has_own ? "" : "()");
    }
    if (frame.module.empty()) return fmt::format("{:#x}", frame.module_offset);
    return fmt::format("{}+{:#x}", printable(base_name(frame.module)), frame.module_offset);
  }

  std::string frame_text(const Frame& frame) const {
    std::string text = function(frame);
    if (!frame.file.empty()) {
      text += "  " + place(frame);
    } else if (!frame.function.empty() && !frame.module.empty()) {
      if (frame.function_offset != 0) text += fmt::format("+{:#x}", frame.function_offset);
      text += fmt::format("  ({})", printable(base_name(frame.module)));
    }
    if (style_.detail == Detail::kVerbose && !frame.module.empty() && frame.module_offset != 0) {
      text += fmt::format("  [{}+{:#x}]", printable(frame.module), frame.module_offset);
    }
    return text;
  }

  void write_stack(const std::vector<Frame>& stack) {
    // A stack that is all library would fold to nothing.
    bool fold = style_.detail != Detail::kVerbose &&
                std::any_of(stack.begin(), stack.end(), [](const Frame& frame) { return !frame.library; });
    for (std::size_t i = 0; i < stack.size();) {
      std::size_t end = i;
      while (fold && end < stack.size() && stack[end].library) ++end;
      if (end > i) {
        std::size_t folded = end - i;
        // Above the user's code, what that code called says enough.
        std::string called = end < stack.size() ? ", called as " + function(stack[end - 1]) : "";
        line("    {}",
             colored(kDim, fmt::format("… {} library frame{}{}", folded, folded == 1 ? "" : "s", called)));
        i = end;
      } else {
        line("    #{} {}", i, frame_text(stack[i]));
        ++i;
      }
    }
    if (stack.empty()) line("    (no stack)");
  }

  void write_race(const finding::Race& race, const char* what_it_is = "data race on ") {
    const std::size_t first = race.headline();
    const Frame site = race.sites[first].site();
    std::string where = site.file.empty() ? function(site) : place(site);
    line("{} {} {} {}", colored(kBold, where + ":"), colored(kMagenta, "warning:"),
         colored(kBold, what_it_is + printable(race.variable)), fmt::format("[{}]", race.id));
    if (style_.detail == Detail::kQuiet) return;

    std::array<std::string, 2> who, what, in;
    for (std::size_t i = 0; i < 2; ++i) {
      who[i] = thread(race.sites[i].thread, race.sites[i].thread_name);
      what[i] = verb(race.sites[i].access);
      in[i] = function(race.sites[i].site());
    }
    auto width = [](const std::array<std::string, 2>& texts) {
      return std::max(texts[0].size(), texts[1].size());
    };
    for (std::size_t i : {first, 1 - first}) {
      const finding::AccessReport& access = race.sites[i];
      if (race.collision) {
        if (access.thread < 0) {
          line("  somebody {}: only the value changed, the writer is not known", what[i]);
          continue;
        }
        line("  {:<{}} {:<{}}  {:<{}}  {}  {}", who[i], width(who), what[i], width(what), in[i], width(in),
             short_place(access.site()), printable(access.instruction));
      } else {
        std::string locks =
            access.locks.empty() ? "nothing" : printable(fmt::format("{}", fmt::join(access.locks, ", ")));
        line("  {:<{}} {:<{}}  {:<{}}  {}  holds {}", who[i], width(who), what[i], width(what), in[i],
             width(in), short_place(access.site()), locks);
      }
      write_stack(access.stack);
    }
    if (race.collision) write_collision(race);
    write_block(race);
    for (const finding::ThreadReport& created : race.threads) {
      if (created.id == 0) continue;
      if (created.parent < 0 && created.stack.empty()) continue;
      line("  {} was created by T{}", thread(created.id, created.name), created.parent);
      write_stack(created.stack);
    }
    if (race.pid != report_.root_pid) {
      line("  in process {} ({})", race.pid, printable(shown_path(race.exe, report_.cwd)));
    }
    if (what_it_is[0] == 'p') line("  suspected by {}", fmt::join(race.found_by, ", "));
    if (race.count > 1) line("  seen {} more time{}", race.count - 1, race.count == 2 ? "" : "s");
  }

  void write_suspicion(const finding::Suspicion& suspicion) {
    Frame first = suspicion.sites.empty() ? Frame{} : suspicion.sites[0].site();
    std::string where = first.file.empty() ? function(first) : place(first);
    std::string about = suspicion.variable.empty() ? "" : " (" + printable(suspicion.variable) + ")";
    line("{} {} {} [{}]", colored(kBold, where + ":"), colored(kMagenta, "warning:"),
         colored(kBold, printable(suspicion.what) + about), printable(suspicion.analysis));
    if (style_.detail == Detail::kQuiet) return;
    for (const finding::AccessReport& access : suspicion.sites) {
      line("  {}  {}  {}", thread(access.thread, access.thread_name), function(access.site()),
           short_place(access.site()));
      write_stack(access.stack);
    }
  }

  void write_collision(const finding::Race& race) {
    const finding::Collision& collision = *race.collision;
    std::string values = collision.before == collision.after
                             ? fmt::format("stayed {}", collision.before)
                             : fmt::format("went from {} to {}", collision.before, collision.after);
    line("  caught while {} was held for {:.1f} ms just before its access; the value {}",
         thread(race.sites[1].thread, race.sites[1].thread_name),
         static_cast<double>(collision.held_microseconds) / 1000, values);
    if (const char* what = looks_like(collision.category)) line("  looks like {}", what);
  }

  static const char* looks_like(finding::Category category) {
    switch (category) {
      case finding::Category::kCounter:
        return "a statistics counter (--hide=counters)";
      case finding::Category::kFlag:
        return "an update of different bits (--hide=flags)";
      case finding::Category::kSameValue:
        return "a write of the value that was there (--hide=same-value)";
      case finding::Category::kSpecialName:
        return "a variable for debugging or statistics, by its name (--hide=names)";
      case finding::Category::kVolatile:
        return "a race on purpose: it is declared volatile";
      case finding::Category::kUntyped:
        return "a race or an atomic access: without debug information nobody can tell";
      default:
        return nullptr;
    }
  }

  void write_block(const finding::Race& race) {
    const finding::BlockReport& block = race.block;
    switch (block.kind) {
      case BlockKind::kHeap: {
        std::string by = block.thread < 0 ? "" : fmt::format(" by T{}", block.thread);
        line("  in a heap block of {} bytes, at offset {}, allocated{}", block.size, block.offset, by);
        write_stack(block.stack);
        return;
      }
      case BlockKind::kGlobal:
        if (block.name.empty()) return;
        line("  in the global {} of {} bytes, at offset {}", printable(block.name), block.size, block.offset);
        return;
      case BlockKind::kStack:
        line("  on the stack of T{}", block.thread);
        return;
      case BlockKind::kTls:
        line("  in a thread-local variable of T{}", block.thread);
        return;
      case BlockKind::kMmap:
        line("  in mapped memory of {} bytes, at offset {}", block.size, block.offset);
        return;
      case BlockKind::kUnknown:
        return;
    }
  }

  void write_crash(const finding::Crash& crash) {
    Frame frame = crash.blamed < crash.stack.size() ? crash.stack[crash.blamed] : Frame{};
    std::string at;
    if (!frame.file.empty())
      at = " at " + place(frame);
    else if (!crash.stack.empty())
      at = " at " + function(frame);
    std::string process;
    if (crash.pid != report_.root_pid) process = fmt::format(", process {}", crash.pid);
    line("{} SIG{}{} in {}{}", colored(kRed, "duress: the program crashed:"),
         crash.signal.rfind("SIG", 0) == 0 ? printable(crash.signal.substr(3)) : printable(crash.signal), at,
         thread(crash.thread, crash.thread_name), process);
    if (style_.detail != Detail::kQuiet) write_stack(crash.stack);
  }

  void write_stats() {
    std::size_t width = 0;
    for (const auto& [name, value] : report_.stats) width = std::max(width, printable(name).size());
    for (const auto& [name, value] : report_.stats) line("duress: {:<{}}  {}", printable(name), width, value);
  }

  /// The tutorial's table: what was caught, by kind.
  void write_categories() {
    const CollideReport& collide = *report_.collide;
    using finding::Category;
    static constexpr std::pair<Category, const char*> kRows[] = {
        {Category::kCounter, "maybe harmless  statistics counter"},
        {Category::kFlag, "                different bits of a flag word"},
        {Category::kSpecialName, "                named debug or stats"},
        {Category::kSameValue, "                same value written"},
        {Category::kVolatile, "not counted     volatile"},
        {Category::kUntyped, "                type unknown, maybe atomic"},
        {Category::kAtomic, "                atomic, no race"},
        {Category::kOther, "data race       all others"},
    };
    std::uint64_t total = 0;
    for (std::uint64_t n : collide.found) total += n;
    if (total != 0) {
      line("duress: {:<45} {:>5}", "category", "found");
      for (auto [category, name] : kRows) {
        std::uint64_t n = collide.found[static_cast<std::size_t>(category)];
        bool hidden = n != 0 && collide.hidden.count(category) != 0;
        line("duress: {:<45} {:>5}{}", name, n, hidden ? "  not shown" : "");
      }
      line("duress: {:<45} {:>5}", "total", total);
    }
    std::string asked = collide.asked > 0 ? fmt::format(", asked {:.3g} %", collide.asked * 100) : "";
    line("duress: {} samples in {:.1f} s, overhead about {:.2f} %{}", collide.samples, report_.seconds,
         collide.overhead * 100, asked);
  }

  void write_summary() {
    std::size_t n = report_.races.size();
    if (!report_.checked) {
      line("duress: stale values, races were not looked for, seed {}", report_.seed);
      return;
    }
    std::string text = n == 0 ? "no data race found" : fmt::format("{} data race{}", n, n == 1 ? "" : "s");
    if (std::size_t m = report_.potential.size()) text += fmt::format(", {} potential", m);
    if (std::size_t m = report_.suspicions.size())
      text += fmt::format(", {} warning{}", m, m == 1 ? "" : "s");
    if (report_.suppressed != 0) text += fmt::format(" ({} suppressed)", report_.suppressed);
    if (!report_.incomplete.empty()) text += ", incomplete";
    line("duress: {}, seed {}", text, report_.seed);
  }

  const Document& report_;
  const TextStyle& style_;
  std::string out_;
};

}  // namespace

std::string to_text(const Document& report, const TextStyle& style) {
  return Writer(report, style).write();
}

std::string to_suppressions(const Document& report) {
  std::vector<std::pair<std::string, std::string>> lines;  // what to write, and the findings it is for
  for (const finding::Race& race : report.races) {
    std::string text = printable(suggest(race));
    std::string comment = fmt::format("# {}: data race on {}\n", race.id, printable(race.variable));
    auto known =
        std::find_if(lines.begin(), lines.end(), [&](const auto& entry) { return entry.first == text; });
    if (known == lines.end()) known = lines.insert(lines.end(), {text, ""});
    known->second += comment;
  }
  std::string out;
  for (const auto& [text, comments] : lines) out += comments + text + '\n';
  return out;
}

}  // namespace duress::report
