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

#include <cstdlib>

namespace duress::report {
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
  llvm::ItaniumPartialDemangler demangler;
  if (demangler.partialDemangle(linkage.c_str())) return;  // not mangled: a C function
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
}

}  // namespace

struct Symbolizer::Impl {
  static llvm::symbolize::LLVMSymbolizer::Options options() {
    llvm::symbolize::LLVMSymbolizer::Options options;
    options.Demangle = false;
    options.UseSymbolTable = true;
    return options;
  }
  llvm::symbolize::LLVMSymbolizer llvm{options()};
};

Symbolizer::Symbolizer() : impl_(std::make_unique<Impl>()) {}
Symbolizer::~Symbolizer() = default;

std::vector<finding::Frame> Symbolizer::code(const std::string& module, std::uint64_t address) {
  std::vector<finding::Frame> frames;
  auto found =
      impl_->llvm.symbolizeInlinedCode(module, {address, llvm::object::SectionedAddress::UndefSection});
  if (!found) {
    llvm::consumeError(found.takeError());
  } else {
    for (std::uint32_t i = 0; i < found->getNumberOfFrames(); ++i) {
      const llvm::DILineInfo& info = found->getFrame(i);
      finding::Frame frame;
      frame.module = module;
      frame.module_offset = address;
      if (known(info.FunctionName)) name_function(info.FunctionName, frame);
      if (known(info.FileName)) frame.file = info.FileName;
      frame.line = info.Line;
      frame.column = info.Column;
      if (info.StartAddress && *info.StartAddress <= address)
        frame.function_offset = address - *info.StartAddress;
      frames.push_back(std::move(frame));
    }
  }
  if (frames.empty()) {
    frames.emplace_back();
    frames.back().module = module;
    frames.back().module_offset = address;
  }
  return frames;
}

std::optional<DataSymbol> Symbolizer::data(const std::string& module, std::uint64_t address) {
  auto found = impl_->llvm.symbolizeData(module, {address, llvm::object::SectionedAddress::UndefSection});
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
