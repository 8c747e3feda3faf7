// SPDX-License-Identifier: Apache-2.0
#include "report/rust_names.h"

#include <gtest/gtest.h>

namespace duress::report {
namespace {

TEST(RustNames, AreAsTheirAuthorsWroteThem) {
  EXPECT_EQ(rust_name("cell::main::h50ecd1b5199f5ed0"), "cell::main");
  EXPECT_EQ(rust_name("cell::main::_$u7b$$u7b$closure$u7d$$u7d$::h50ecd1b5199f5ed0"),
            "cell::main::{{closure}}");
  EXPECT_EQ(
      rust_name("_$LT$alloc..boxed..Box$LT$F$C$A$GT$$u20$as$u20$core..ops..function..FnOnce$LT$Args$GT$$GT$::"
                "call_once::hf85a8d964ad6b861"),
      "<alloc::boxed::Box<F,A> as core::ops::function::FnOnce<Args>>::call_once");
  EXPECT_EQ(rust_name("std::panicking::try::do_call::hc9d43aec77f823a6 (.llvm.15808278427455695167)"),
            "std::panicking::try::do_call");
}

TEST(RustNames, OfOtherLanguagesStay) {
  for (const char* name :
       {"", "main", "std::vector<int>::push_back", "a::h50ecd1b5199f5ed", "h50ecd1b5199f5ed0",
        "a::h50ecd1b5199f5edz", "operator$::f", "__rust_try.llvm.123"})
    EXPECT_EQ(rust_name(name), name);
  EXPECT_EQ(rust_name("odd$u::h50ecd1b5199f5ed0"), "odd$u");
  EXPECT_EQ(rust_name("odd$u00$::h50ecd1b5199f5ed0"), "odd$u00$");
}

}  // namespace
}  // namespace duress::report
