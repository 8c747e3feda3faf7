// SPDX-License-Identifier: Apache-2.0
//
// Symbolising after the run, in the host, keeps a DWARF reader out of the target and lets one cache
// serve all its processes. Names are demangled here rather than by LLVM's option, because the site
// table names functions without parameters and both must look the same in one stack.
#include "report/symbolizer.h"

#include <llvm/DebugInfo/DIContext.h>
#include <llvm/DebugInfo/Symbolize/Symbolize.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/ErrorHandling.h>

#include <cstdlib>

#include "finding/plain_file.h"
#include "report/openmp_names.h"
#include "report/rust_names.h"

namespace duress::report {

void when_out_of_memory(void (*end)()) {
  llvm::install_bad_alloc_error_handler(
      [](void* call, const char*, bool) { reinterpret_cast<void (*)()>(call)(); },
      reinterpret_cast<void*>(end));
}

namespace {

bool known(const std::string& text) {
  return !text.empty() && text != llvm::DILineInfo::BadString && text != llvm::DILineInfo::Addr2LineBadString;
}

/// Sets both spellings of a function's name from its linkage name. The pass gives a function several bodies,
/// the others with a suffix (`work.duress.faithful`) that means nothing to its author.
void name_function(const std::string& symbol, finding::Frame& frame) {
  const std::string linkage = symbol.substr(0, symbol.find(".duress."));
  frame.function = linkage;
  frame.signature = linkage;
  if (linkage.starts_with("_R")) {  // Rust
    frame.function = frame.signature = llvm::demangle(linkage);
    return;
  }
  if (!linkage.starts_with("_Z")) return;  // a C function: the demangler would take `w` for the type wchar_t
  llvm::ItaniumPartialDemangler demangler;
  if (demangler.partialDemangle(linkage.c_str())) return;
  if (char* all = demangler.finishDemangle(nullptr, nullptr)) {
    frame.signature = all;
    frame.function = all;
    std::free(all);
  }
  if (demangler.isFunction()) {
    std::size_t size = 0;
    if (char* name = demangler.getFunctionName(nullptr, &size)) {
      frame.function = name;
      std::free(name);
    }
  }
  frame.function = rust_name(frame.function);
  frame.signature = rust_name(frame.signature);
}

}  // namespace

struct Symbolizer::Impl {
  static llvm::symbolize::LLVMSymbolizer::Options options() {
    llvm::symbolize::LLVMSymbolizer::Options options;
    options.Demangle = false;
    options.UseSymbolTable = true;
    return options;
  }
  /// What follows the last colon is an architecture for LLVM, if it sounds like one; so that it is never a
  /// part of the path, there always is one. A path that cannot be opened, named twice with different
  /// architectures, makes it crash.
  static std::string llvm_name(const std::string& module) { return module + ":x86_64"; }
  llvm::symbolize::LLVMSymbolizer llvm{options()};
};

Symbolizer::Symbolizer() : impl_(std::make_unique<Impl>()) {}
Symbolizer::~Symbolizer() = default;

std::vector<finding::Frame> Symbolizer::code(const std::string& module, std::uint64_t address) {
  std::vector<finding::Frame> frames(1);
  frames[0].module = module;
  frames[0].module_offset = address;
  if (!finding::is_plain_file(module)) return frames;
  auto found = impl_->llvm.symbolizeInlinedCode(Impl::llvm_name(module),
                                                {address, llvm::object::SectionedAddress::UndefSection});
  if (!found) {
    llvm::consumeError(found.takeError());
    return frames;
  }
  if (found->getNumberOfFrames() != 0) frames.resize(found->getNumberOfFrames(), frames[0]);
  for (std::uint32_t i = 0; i < found->getNumberOfFrames(); ++i) {
    const llvm::DILineInfo& info = found->getFrame(i);
    finding::Frame& frame = frames[i];
    if (known(info.FunctionName)) {
      name_function(info.FunctionName, frame);
      frame.function = openmp_name(frame.function);
    }
    if (known(info.FileName)) frame.file = info.FileName;
    frame.line = info.Line;
    frame.column = info.Column;
    if (info.StartAddress && *info.StartAddress <= address)
      frame.function_offset = address - *info.StartAddress;
  }
  return frames;
}

std::optional<DataSymbol> Symbolizer::data(const std::string& module, std::uint64_t address) {
  if (!finding::is_plain_file(module)) return std::nullopt;
  auto found = impl_->llvm.symbolizeData(Impl::llvm_name(module),
                                         {address, llvm::object::SectionedAddress::UndefSection});
  if (!found) {
    llvm::consumeError(found.takeError());
    return std::nullopt;
  }
  // LLVM answers with the last symbol before the address, whether or not it reaches that far.
  if (!known(found->Name) || address < found->Start || address - found->Start >= found->Size)
    return std::nullopt;
  return DataSymbol{llvm::demangle(found->Name), found->Start, found->Size};
}

}  // namespace duress::report
