// SPDX-License-Identifier: Apache-2.0
//
// The one interface of all memory models: given a load, which values are legal, and which one is returned?
// The runtime calls a model from its load and store hooks and knows nothing else of it.
//
// Memory itself always holds the newest value: a model is told of each store before it happens, and of each
// load with what memory holds. It never writes the target's memory.
#ifndef DURESS_MEMORY_MODEL_H_
#define DURESS_MEMORY_MODEL_H_

#include "event/memory_models.h"
#include "memory/location_table.h"

namespace duress::memory {

enum class ModelId : u32 {
#define DURESS_MODEL(identifier, name, description) identifier,
  DURESS_MODELS(DURESS_MODEL)
#undef DURESS_MODEL
};

/// The number of a name. False: no model has it.
bool model_named(const char* name, ModelId* id);

/// What a load returned, for reports.
struct LoadResult {
  u32 pieces = 0;       // how many tearing words it touched
  u32 open = 0;         // how many of these had more than one legal value
  bool stale = false;   // it returned something else than memory holds
  bool forced = false;  // it had to be the newest, for fairness
  SiteId site{0};       // if stale: of the store that wrote the first stale piece; 0: the initial value
};

/// Threads: one at a time; controlled mode gives that, free mode will need a lock.
class MemoryModel {
 public:
  /// A plain load. Writes extent.size() bytes to `into`; `memory` is what memory holds, and may be `into`.
  virtual LoadResult load(const Viewer& who, Extent extent, Tracking tracking, const u8* memory, u8* into,
                          Picker& picker) = 0;
  /// A store of any kind and size, atomic ones and memcpy, memset and calloc too; called before it happens.
  /// For what REQUIRES say about epochs see StoreHistory::store().
  virtual void store(const Viewer& who, Extent extent, Tracking tracking, SiteId site, const u8* before,
                     Source value) = 0;
  /// The bytes were freed, or their stack frame is gone.
  virtual void forget(Extent extent) = 0;
  virtual const Statistics& statistics() const = 0;

 protected:
  ~MemoryModel() = default;  // models live as long as the process
};

/// SCMM: a load returns the last write.
class ScModel final : public MemoryModel {
 public:
  LoadResult load(const Viewer&, Extent extent, Tracking, const u8* memory, u8* into, Picker&) override {
    if (memory != into) __builtin_memmove(into, memory, extent.size());
    return {};
  }
  void store(const Viewer&, Extent, Tracking, SiteId, const u8*, Source) override {}
  void forget(Extent) override {}
  const Statistics& statistics() const override { return statistics_; }

 private:
  Statistics statistics_;
};

/// PJMM, as JUMBLE implements it: see docs/models/stale.md.
class StaleModel final : public MemoryModel {
 public:
  struct Options {
    LocationTable::Options table;
    /// After so many stale loads in a row of one location by one thread the next returns the newest value;
    /// 0 is unfair: never. Spinning ends then, at the latest, and 16 is far more than a check and a use need.
    u32 fair_after = 16;
  };

  StaleModel(Arena& arena, ClockSource& threads, Options options)
      : table_(arena, threads, options.table), fair_after_(options.fair_after) {}

  LoadResult load(const Viewer& who, Extent extent, Tracking tracking, const u8* memory, u8* into,
                  Picker& picker) override;
  void store(const Viewer& who, Extent extent, Tracking tracking, SiteId site, const u8* before,
             Source value) override {
    table_.store(who, extent, tracking, site, before, value);
  }
  void forget(Extent extent) override { table_.forget(extent); }
  const Statistics& statistics() const override { return table_.statistics(); }
  const LocationTable& table() const { return table_; }

  /// Whether a load of the extent could return `value`, each tearing word for itself.
  bool allows(const Viewer& who, Extent extent, const u8* memory, const u8* value);
  /// What a load of the extent could return, into `values`; how many. Only of extents within one tearing
  /// word; of others what memory holds.
  u32 visible(const Viewer& who, Extent extent, const u8* memory, u128* values, u32 most);

 private:
  LocationTable table_;
  u32 fair_after_;
};

}  // namespace duress::memory

#endif  // DURESS_MEMORY_MODEL_H_
