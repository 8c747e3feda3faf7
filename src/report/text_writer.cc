// SPDX-License-Identifier: Apache-2.0
//
// The first line of a finding has the shape of a compiler's warning, because every editor and CI system
// already takes that apart. Below it come, in the order in which people ask: who did what where with which
// locks, how they got there, whose memory it was, and where the threads came from.
#include "report/text_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/access_text.h"
#include "report/path.h"
#include "report/words.h"

namespace duress::report {
namespace {

using finding::BlockKind;
using finding::Frame;

class Writer {
 public:
  Writer(const Document& report, FindingStyle style) : report_(report), style_(std::move(style)) {
    style_.cwd = report.cwd;
  }

  std::string write(bool stats) {
    for (const RaceEntry& race : report_.races)
      write_race(race, race.title, race.another_pair ? FirstLine::kNote : FirstLine::kWarning);
    for (const finding::Race& race : report_.potential) {
      write_race(race, "potential data race on " + race.variable, FirstLine::kWarning);
      if (!style_.quiet) line("  suspected by {}", fmt::join(race.found_by, ", "));
    }
    for (const finding::Suspicion& suspicion : report_.suspicions) write_suspicion(suspicion);
    for (const finding::Crash& crash : report_.crashes) write_crash(crash);
    if (style_.quiet) return std::move(out_);
    for (const std::string& what : report_.incomplete) line("duress: incomplete: {}", printable(what));
    for (const std::string& what : report_.warnings) line("duress: warning: {}", printable(what));
    for (const Suppression& entry : report_.unused_suppressions) {
      line("duress: suppression never used: {}:{} ({}:{})", entry.type, printable(entry.pattern),
           printable(entry.file), entry.line);
    }
    if (stats) write_stats();
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

  void write_stack(const std::vector<Frame>& stack) { out_ += stack_text(stack, style_); }

  void write_race(const finding::Race& race, const std::string& title, FirstLine::Severity severity) {
    const std::size_t first = race.headline();
    const Frame site = race.sites[first].site();
    out_ += first_line({site, function_text(site), severity, title, race.id}, style_);
    if (style_.quiet) return;
    std::array<std::string, 2> accesses = access_lines(race, /*thread_names=*/true);
    for (std::size_t i : {first, 1 - first}) {
      line("  {}", accesses[i == first ? 0 : 1]);
      if (race.sites[i].thread >= 0) write_stack(race.sites[i].stack);
    }
    if (race.collision) write_collision(race);
    write_block(race);
    for (const finding::ThreadReport& created : race.threads) {
      if (created.id == 0) continue;
      if (created.parent < 0 && created.stack.empty()) continue;
      line("  {} was created by T{}", thread_text(created.id, created.name), created.parent);
      write_stack(created.stack);
    }
    if (race.pid != report_.root_pid) {
      line("  in process {} ({})", race.pid, printable(shown_path(race.exe, report_.cwd)));
    }
    if (!race.unconfirmed.empty()) line("  unconfirmed: {}", printable(race.unconfirmed));
    if (race.count > 1) line("  seen {}", plural(race.count - 1, "more time"));
  }

  void write_suspicion(const finding::Suspicion& suspicion) {
    Frame first = suspicion.sites.empty() ? Frame{} : suspicion.sites[0].site();
    std::string about = suspicion.variable.empty() ? "" : " (" + suspicion.variable + ")";
    out_ += first_line(
        {first, function_text(first), FirstLine::kWarning, suspicion.what + about, suspicion.analysis},
        style_);
    if (style_.quiet) return;
    for (const finding::AccessReport& access : suspicion.sites) {
      line("  {}  {}  {}", thread_text(access.thread, access.thread_name), function_text(access.site()),
           short_place_text(access.site()));
      write_stack(access.stack);
    }
  }

  void write_collision(const finding::Race& race) {
    const finding::Collision& collision = *race.collision;
    std::string values = collision.before == collision.after
                             ? fmt::format("stayed {}", collision.before)
                             : fmt::format("went from {} to {}", collision.before, collision.after);
    line("  caught while {} was held for {:.1f} ms just before its access; the value {}",
         thread_text(race.sites[1].thread, race.sites[1].thread_name),
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
      at = " at " + place_text(frame, style_.cwd);
    else if (!crash.stack.empty())
      at = " at " + function_text(frame);
    std::string process;
    if (crash.pid != report_.root_pid) process = fmt::format(", process {}", crash.pid);
    line("{} SIG{}{} in {}{}", style_.red("duress: the program crashed:"),
         crash.signal.rfind("SIG", 0) == 0 ? printable(crash.signal.substr(3)) : printable(crash.signal), at,
         thread_text(crash.thread, crash.thread_name), process);
    if (!style_.quiet) write_stack(crash.stack);
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
    if (!report_.checked) {
      line("duress: stale values, races were not looked for, seed {}", report_.seed);
      return;
    }
    bool blind = report_.collide && report_.collide->samples == 0;
    std::string text =
        !report_.races.empty() ? races_text(report_.summary, "data race")
        : blind ? "nothing was sampled, so nothing is known of races; let it run for longer or with "
                  "a higher --overhead"
                : "no data race found";
    if (std::size_t m = report_.potential.size()) text += fmt::format(", {} potential", m);
    if (std::size_t m = report_.suspicions.size()) text += ", " + plural(m, "warning");
    if (report_.suppressed != 0) text += fmt::format(" ({} suppressed)", report_.suppressed);
    if (!report_.incomplete.empty()) text += ", incomplete";
    line("duress: {}, seed {}", text, report_.seed);
  }

  const Document& report_;
  FindingStyle style_;
  std::string out_;
};

}  // namespace

std::string to_text(const Document& report, const FindingStyle& style, bool stats) {
  return Writer(report, style).write(stats);
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
