// SPDX-License-Identifier: Apache-2.0
//
// The translation unit's table of sites: where in the source each hook was placed. It costs nothing at
// run time (hooks receive an address into it), is read by the host from the file, and is laid out
// exactly as DuressSite in hooks.h. Equal sites are stored once, because optimisation copies code.
#pragma once

#include <duress/hooks.h>

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"
#include "pass/variable_namer.h"

namespace duress::pass {

class SiteTable {
 public:
  explicit SiteTable(llvm::Module& module);

  struct Request {
    const llvm::Function* function;    // whose body it is: names the site when there is no debug info
    const llvm::DILocation* location;  // may be null
    DuressAccess access;
    uint64_t size;
    Variable variable;
    uint32_t function_index;
    uint8_t flags;
  };
  /// The address of the site as a hook's argument. Stands for a place in the table until emit().
  llvm::Constant* add(const Request& request);

  /// A new byte in `duress_flags`.
  uint32_t add_function() { return functions_++; }
  uint32_t functions() const { return functions_; }
  /// The address of function `index`'s byte. Stands for it until emit().
  llvm::Constant* flag(uint32_t index);
  /// The address of the byte in `duress_quiet` of a site that add() returned; null if it is none. Stands for
  /// it until emit().
  llvm::Constant* quiet_byte(const llvm::Value* site);

  bool empty() const { return sites_.empty() && functions_ == 0; }

  /// Makes the sections and replaces the stand-ins. `features`: DURESS_UNIT_*.
  void emit(uint32_t features);

 private:
  uint32_t intern(llvm::StringRef text);
  uint32_t frame(const llvm::DILocation* location, uint32_t function_index);
  uint32_t add_site(const DuressSite& site);
  void fill_location(DuressSite* site, const llvm::DILocation* location, uint32_t function_index);
  void remember_line(const DuressSite& site, const llvm::DILocation* location);
  void recover_line(DuressSite* site, const llvm::DILocation* location);
  const std::string& cached_path(const llvm::DIFile* file);
  const std::string& cached_function(const llvm::DISubprogram* function);
  llvm::Constant* offset_of(llvm::GlobalVariable* base, uint64_t bytes);

  /// Line and column of the first access to a variable in each function, by the function's file, name and
  /// line: lambdas share their name.
  using FunctionKey = std::tuple<uint32_t, uint32_t, uint32_t>;
  using FirstAccess = std::map<FunctionKey, std::pair<uint32_t, uint16_t>>;

  llvm::Module& module_;
  std::vector<DuressSite> sites_;
  std::map<std::pair<uint32_t, uint8_t>, FirstAccess> source_lines_;  // by variable and access
  std::map<std::string, uint32_t> known_;                             // by the bytes of the site
  std::string strings_;
  llvm::StringMap<uint32_t> interned_;
  llvm::DenseMap<const llvm::DIFile*, std::string> paths_;
  llvm::DenseMap<const llvm::DISubprogram*, std::string> functions_by_info_;
  uint32_t functions_ = 0;
};

}  // namespace duress::pass
