// SPDX-License-Identifier: Apache-2.0
#include "cluster/codec.h"

#include <zstd.h>

#include <cstring>
#include <type_traits>

namespace duress::cluster {
namespace {

using exec::Execution;
using exec::Plan;
using exec::RemoteRun;

// A plan's bytes name it: padding would give one plan several names.
static_assert(std::has_unique_object_representations_v<trail::Request>);
static_assert(std::has_unique_object_representations_v<trail::Prediction>);
static_assert(std::has_unique_object_representations_v<trail::WhatIfEdit>);
static_assert(std::has_unique_object_representations_v<trail::Deviation>);
static_assert(std::has_unique_object_representations_v<exhaustive::StepLog::Origin>);
// Whoever adds a member adds it to put() and get() below, and the size here.
static_assert(sizeof(Plan) == sizeof(trail::Request) + 10 * sizeof(std::vector<u32>));
static_assert(sizeof(Execution) == sizeof(trail::Record) + 9 * sizeof(std::vector<u32>) + 48);

constexpr std::size_t kWorthCompressing = 512;
constexpr int kLevel = 1;  // bench/scale: higher levels cost more time than they save
constexpr u64 kMostBytes = u64{1} << 32;

class Writer {
 public:
  template <typename T>
  void raw(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <typename T>
  void list(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    raw(static_cast<u64>(values.size()));
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }
  void text(const std::string& value) {
    raw(static_cast<u64>(value.size()));
    bytes += value;
  }
  std::string bytes;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  template <typename T>
  void raw(T& value) {
    if (!good(sizeof value)) return;
    std::memcpy(static_cast<void*>(&value), rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
  }
  template <typename T>
  void list(std::vector<T>& values) {
    u64 count = 0;
    raw(count);
    if (!good(count, sizeof(T))) return;
    values.resize(count);
    if (count != 0) std::memcpy(static_cast<void*>(values.data()), rest_.data(), count * sizeof(T));
    rest_.remove_prefix(count * sizeof(T));
  }
  void text(std::string& value) {
    u64 count = 0;
    raw(count);
    if (!good(count)) return;
    value.assign(rest_.substr(0, count));
    rest_.remove_prefix(count);
  }
  bool whole() const { return good_ && rest_.empty(); }
  bool is_good() const { return good_; }

 private:
  bool good(u64 count, u64 each = 1) {
    good_ = good_ && count <= rest_.size() / each;
    return good_;
  }
  std::string_view rest_;
  bool good_ = true;
};

template <typename Stream, typename P>
void each_list(Stream& stream, P& plan) {
  stream.list(plan.sites);
  stream.list(plan.wait_sites);
  stream.list(plan.pairs);
  stream.list(plan.trail);
  stream.list(plan.predictions);
  stream.list(plan.edits);
  stream.list(plan.planned);
  stream.list(plan.picks);
  stream.list(plan.origins);
  stream.list(plan.spins);
}

template <typename Stream, typename E>
void each_part(Stream& stream, E& execution) {
  stream.raw(execution.record);
  stream.list(execution.trail);
  stream.list(execution.steps);
  stream.list(execution.origins);
  stream.list(execution.spins);
  stream.raw(execution.limits);
  stream.list(execution.future_values);
  stream.list(execution.atomic_profile);
  stream.list(execution.side_events);
  stream.list(execution.observed_pairs);
  stream.list(execution.switch_points);
  stream.raw(execution.pid);
  stream.raw(execution.status);
  stream.raw(execution.timed_out);
  stream.raw(execution.flooded);
  stream.raw(execution.seconds);
  stream.raw(execution.output_bytes);
  stream.raw(execution.error_bytes);
}

}  // namespace

std::string plan_bytes(const Plan& plan) {
  Writer writer;
  writer.raw(plan.head);
  each_list(writer, plan);
  return std::move(writer.bytes);
}

std::optional<Plan> read_plan(std::string_view bytes) {
  Reader reader(bytes);
  Plan plan;
  reader.raw(plan.head);
  each_list(reader, plan);
  if (!reader.whole()) return std::nullopt;
  return plan;
}

std::string run_bytes(const RemoteRun& run) {
  Writer writer;
  writer.raw(run.ran);
  writer.raw(run.problem.kind);
  writer.text(run.problem.text);
  writer.raw(run.restarts);
  writer.raw(run.leftovers);
  if (run.ran) {
    each_part(writer, run.execution);
    writer.text(run.output);
    writer.text(run.errors);
    writer.raw(static_cast<u64>(run.logs.size()));
    for (const auto& [name, text] : run.logs) {
      writer.text(name);
      writer.text(text);
    }
  }
  std::string result(1, '\0');
  if (writer.bytes.size() < kWorthCompressing) return result + writer.bytes;
  result[0] = 1;
  result.resize(1 + ZSTD_compressBound(writer.bytes.size()));
  std::size_t size =
      ZSTD_compress(result.data() + 1, result.size() - 1, writer.bytes.data(), writer.bytes.size(), kLevel);
  if (ZSTD_isError(size)) return std::string(1, '\0') + writer.bytes;
  result.resize(1 + size);
  return result;
}

std::optional<RemoteRun> read_run(std::string_view bytes) {
  if (bytes.empty()) return std::nullopt;
  std::string plain;
  bool packed = bytes[0] == 1;
  bytes.remove_prefix(1);
  if (packed) {
    unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kMostBytes)
      return std::nullopt;
    plain.resize(size);
    std::size_t got = ZSTD_decompress(plain.data(), plain.size(), bytes.data(), bytes.size());
    if (ZSTD_isError(got) || got != size) return std::nullopt;
    bytes = plain;
  }
  Reader reader(bytes);
  RemoteRun run;
  reader.raw(run.ran);
  reader.raw(run.problem.kind);
  reader.text(run.problem.text);
  reader.raw(run.restarts);
  reader.raw(run.leftovers);
  if (run.ran && reader.is_good()) {
    each_part(reader, run.execution);
    reader.text(run.output);
    reader.text(run.errors);
    u64 count = 0;
    reader.raw(count);
    for (u64 i = 0; i < count && reader.is_good(); ++i) {
      std::string name, text;
      reader.text(name);
      reader.text(text);
      run.logs.emplace_back(std::move(name), std::move(text));
    }
  }
  if (!reader.whole()) return std::nullopt;
  return run;
}

std::string protocol_name() {
  std::string text = "1";
  for (u64 size : {u64{trail::kVersion}, u64{sizeof(trail::Request)}, u64{sizeof(trail::Record)},
                   u64{sizeof(exhaustive::Step)}, u64{sizeof(Plan)}, u64{sizeof(Execution)}})
    text += "." + std::to_string(size);
  return text;
}

}  // namespace duress::cluster
