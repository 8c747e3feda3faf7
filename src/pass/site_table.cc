// SPDX-License-Identifier: Apache-2.0
#include "pass/site_table.h"

#include <cstring>

#include "llvm/IR/Constants.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "pass/debug_names.h"

namespace duress::pass {
namespace {

constexpr char kSitesStandIn[] = "__duress_sites_stand_in";
constexpr char kFlagsStandIn[] = "__duress_flags_stand_in";
constexpr char kQuietStandIn[] = "__duress_quiet_stand_in";

/// Found by name: the optimiser deletes an unused one.
llvm::GlobalVariable* stand_in(llvm::Module& module, llvm::StringRef name, bool constant) {
  if (llvm::GlobalVariable* known = module.getGlobalVariable(name)) return known;
  return new llvm::GlobalVariable(module, llvm::Type::getInt8Ty(module.getContext()), constant,
                                  llvm::GlobalValue::ExternalLinkage, nullptr, name);
}

/// Each unit's part must follow the previous one without a gap, in any order that the linker chooses.
constexpr unsigned kSiteAlign = 32;
static_assert(sizeof(DuressSite) == 32 && sizeof(DuressSiteHeader) == 32);

uint32_t first_line(const llvm::DILocalScope* scope) {
  auto* block = llvm::dyn_cast<llvm::DILexicalBlock>(scope);
  return block != nullptr ? block->getLine() : scope->getSubprogram()->getScopeLine();
}

}  // namespace

SiteTable::SiteTable(llvm::Module& module) : module_(module) {
  strings_.push_back('\0');
}

uint32_t SiteTable::intern(llvm::StringRef text) {
  if (text.empty()) return 0;
  auto [it, added] = interned_.try_emplace(text, strings_.size());
  if (added) {
    strings_.append(text.data(), text.size());
    strings_.push_back('\0');
  }
  return it->second;
}

const std::string& SiteTable::cached_path(const llvm::DIFile* file) {
  auto [it, added] = paths_.try_emplace(file);
  if (added) it->second = file_path(file);
  return it->second;
}

const std::string& SiteTable::cached_function(const llvm::DISubprogram* function) {
  auto [it, added] = functions_by_info_.try_emplace(function);
  if (added) it->second = function_name(function);
  return it->second;
}

uint32_t SiteTable::add_site(const DuressSite& site) {
  std::string key(reinterpret_cast<const char*>(&site), sizeof site);
  auto [it, added] = known_.try_emplace(key, sites_.size());
  if (added) sites_.push_back(site);
  return it->second;
}

void SiteTable::fill_location(DuressSite* site, const llvm::DILocation* location, uint32_t function_index) {
  site->file = intern(cached_path(location->getFile()));
  if (const llvm::DISubprogram* function = location->getScope()->getSubprogram()) {
    site->function = intern(cached_function(function));
  }
  site->line = location->getLine();
  site->column = static_cast<uint16_t>(std::min(location->getColumn(), 0xffffu));
  site->function_index = function_index;
  if (location->getInlinedAt() != nullptr)
    site->inlined_at = 1 + frame(location->getInlinedAt(), function_index);
}

uint32_t SiteTable::frame(const llvm::DILocation* location, uint32_t function_index) {
  DuressSite site{};
  fill_location(&site, location, function_index);
  if (site.line == 0) site.line = first_line(location->getScope());
  site.access = kDuressFrame;
  return add_site(site);
}

void SiteTable::remember_line(const DuressSite& site, const llvm::DILocation* location) {
  std::pair<uint32_t, uint16_t> line{site.line, site.column};
  FirstAccess& accesses = source_lines_[{site.variable, site.access}];
  uint32_t begin = location->getScope()->getSubprogram()->getLine();
  auto [it, added] = accesses.try_emplace({site.file, site.function, begin}, line);
  if (!added) it->second = std::min(it->second, line);
}

/// The optimiser gives an access that it merged from several places (both arms of `if (c) x = 1; else x =
/// 2;`) line 0 in the innermost scope that they share. Faithful bodies were made before, so their sites still
/// know these places: the first one in this function stands for all; if the scope is that of a caller, the
/// one in the only function that accesses this variable. Else the line where the scope begins.
void SiteTable::recover_line(DuressSite* site, const llvm::DILocation* location) {
  const FirstAccess& accesses = source_lines_[{site->variable, site->access}];
  const llvm::DILocalScope* scope = location->getScope();
  FunctionKey function{site->file, site->function, scope->getSubprogram()->getLine()};
  if (auto it = accesses.find(function); it != accesses.end()) {
    std::tie(site->line, site->column) = it->second;
    return;
  }
  site->line = first_line(scope);
  if (site->variable == 0 || accesses.size() != 1) return;
  DuressSite caller = *site;
  caller.access = kDuressFrame;
  caller.variable = 0;
  caller.variable_kind = caller.size = caller.flags = 0;
  site->inlined_at = 1 + add_site(caller);
  std::tie(site->file, site->function, std::ignore) = accesses.begin()->first;
  std::tie(site->line, site->column) = accesses.begin()->second;
}

llvm::Constant* SiteTable::add(const Request& request) {
  DuressSite site{};
  if (request.location != nullptr) {
    fill_location(&site, request.location, request.function_index);
  } else {
    if (const llvm::DISubprogram* info = request.function->getSubprogram()) {
      site.file = intern(cached_path(info->getFile()));
      site.function = intern(cached_function(info));
    } else {
      llvm::StringRef symbol = request.function->getName();
      site.function = intern(function_name_of_symbol(symbol.substr(0, symbol.find(".duress."))));
    }
    site.function_index = request.function_index;
  }
  site.variable = intern(request.variable.name);
  site.variable_kind = request.variable.kind;
  site.access = request.access;
  site.size = request.size < 256 ? static_cast<uint8_t>(request.size) : 0;
  site.flags = request.flags;
  if (request.location != nullptr) {
    if (site.line == 0) {
      recover_line(&site, request.location);
    } else if ((site.flags & DURESS_SITE_FAITHFUL) != 0) {
      remember_line(site, request.location);
    }
  }
  return offset_of(stand_in(module_, kSitesStandIn, true),
                   sizeof(DuressSiteHeader) + uint64_t{add_site(site)} * sizeof site);
}

llvm::Constant* SiteTable::flag(uint32_t index) {
  return offset_of(stand_in(module_, kFlagsStandIn, false), index);
}

llvm::Constant* SiteTable::quiet_byte(const llvm::Value* site) {
  llvm::APInt offset(64, 0);
  const llvm::Value* base = site->stripAndAccumulateConstantOffsets(module_.getDataLayout(), offset, true);
  if (base != module_.getGlobalVariable(kSitesStandIn)) return nullptr;
  return offset_of(stand_in(module_, kQuietStandIn, false),
                   (offset.getZExtValue() - sizeof(DuressSiteHeader)) / sizeof(DuressSite));
}

llvm::Constant* SiteTable::offset_of(llvm::GlobalVariable* base, uint64_t bytes) {
  if (bytes == 0) return base;
  llvm::LLVMContext& context = module_.getContext();
  return llvm::ConstantExpr::getGetElementPtr(llvm::Type::getInt8Ty(context), base,
                                              llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), bytes));
}

void SiteTable::emit(uint32_t features) {
  llvm::LLVMContext& context = module_.getContext();
  llvm::Type* i32 = llvm::Type::getInt32Ty(context);
  llvm::Type* i64 = llvm::Type::getInt64Ty(context);
  auto global = [&](llvm::Constant* init, bool constant, llvm::StringRef name, llvm::StringRef section,
                    unsigned align) {
    auto* variable = new llvm::GlobalVariable(module_, init->getType(), constant,
                                              llvm::GlobalValue::InternalLinkage, init, name);
    variable->setSection(section);
    variable->setAlignment(llvm::Align(align));
    return variable;
  };
  std::vector<uint8_t> zeros(std::max(functions_, 1u));
  auto* flags =
      global(llvm::ConstantDataArray::get(context, zeros), false, "__duress_flags", "duress_flags", 1);
  std::vector<uint8_t> loud(std::max<size_t>(sites_.size(), 1));
  auto* quiet =
      global(llvm::ConstantDataArray::get(context, loud), false, "__duress_quiet", "duress_quiet", 1);
  auto* strings = global(llvm::ConstantDataArray::getString(context, strings_, false), true,
                         "__duress_strings", "duress_strings", 1);

  std::vector<uint32_t> words(sites_.size() * sizeof(DuressSite) / 4);
  if (!words.empty()) std::memcpy(words.data(), sites_.data(), words.size() * 4);
  llvm::Constant* table = llvm::ConstantDataArray::get(context, words);
  llvm::Type* fields[] = {i32, i32, i32, i32, i32, i32, i32, i32, table->getType()};
  auto* type = llvm::StructType::get(context, llvm::ArrayRef<llvm::Type*>(fields));
  auto* sites = new llvm::GlobalVariable(module_, type, true, llvm::GlobalValue::InternalLinkage, nullptr,
                                         "__duress_sites");
  auto number = [&](uint32_t value) { return llvm::ConstantInt::get(i32, value); };
  auto relative = [&](llvm::Constant* target, unsigned field) {
    llvm::Constant* here = llvm::ConstantExpr::getPtrToInt(offset_of(sites, field * 4), i64);
    return llvm::ConstantExpr::getTrunc(
        llvm::ConstantExpr::getSub(llvm::ConstantExpr::getPtrToInt(target, i64), here), i32);
  };
  uint32_t magic;
  std::memcpy(&magic, "DURS", 4);
  sites->setInitializer(llvm::ConstantStruct::get(
      type, {number(magic), number(DURESS_HOOK_VERSION | features << 16), number(sites_.size()),
             relative(strings, 3), relative(flags, 4), number(functions_), number(strings_.size()),
             relative(quiet, 7), table}));
  sites->setSection("duress_sites");
  sites->setAlignment(llvm::Align(kSiteAlign));

  for (auto [name, real] :
       {std::pair{kSitesStandIn, sites}, std::pair{kFlagsStandIn, flags}, std::pair{kQuietStandIn, quiet}}) {
    llvm::GlobalVariable* old = stand_in(module_, name, true);
    old->replaceAllUsesWith(real);
    old->eraseFromParent();
  }
  // The host finds the table in the file even where the code that used it was optimised away.
  llvm::appendToUsed(module_, {sites, strings, flags, quiet});
}

}  // namespace duress::pass
