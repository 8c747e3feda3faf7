// SPDX-License-Identifier: Apache-2.0
#include "report/openmp_names.h"

#include <gtest/gtest.h>

namespace duress::report {
namespace {

TEST(OpenmpNames, RegionsAreNamedAfterTheirFunction) {
  EXPECT_EQ(openmp_name("main.omp_outlined"), "parallel region in main");
  EXPECT_EQ(openmp_name("main.omp_outlined.4"), "parallel region in main");
  EXPECT_EQ(openmp_name("_ZN2ns1AIlE3addEi.omp_outlined.4"), "parallel region in ns::A<long>::add");
  EXPECT_EQ(openmp_name("ns::A<long>::add(int) (.omp_outlined.4)"), "parallel region in ns::A<long>::add");
}

TEST(OpenmpNames, BodiesAreTheFunctionItself) {
  EXPECT_EQ(openmp_name("main.omp_outlined_debug__"), "main");
  EXPECT_EQ(openmp_name("main.omp_outlined_debug__.1"), "main");
  EXPECT_EQ(openmp_name("_ZN2ns1AIlE3addEi.omp_outlined_debug__.3"), "ns::A<long>::add");
  EXPECT_EQ(openmp_name("main.omp_outlined_debug__()::(unnamed)::operator()"),
            "main()::(unnamed)::operator()");
}

TEST(OpenmpNames, NestedConstructs) {
  EXPECT_EQ(openmp_name("main.omp_outlined_debug__.omp_outlined_debug__.2"), "main");
  EXPECT_EQ(openmp_name("main.omp_outlined_debug__.omp_outlined"), "parallel region in main");
  EXPECT_EQ(openmp_name("main.omp_outlined.1.omp_outlined"), "parallel region in main");
}

TEST(OpenmpNames, VariablesOfBodies) {
  EXPECT_EQ(openmp_name("main.omp_outlined_debug__()::counter"), "main()::counter");
  EXPECT_EQ(openmp_name("main.omp_outlined_debug__.3()::counter"), "main()::counter");
}

TEST(OpenmpNames, Tasks) {
  EXPECT_EQ(openmp_name(".omp_outlined."), "(task)");
  EXPECT_EQ(openmp_name(".omp_outlined..7"), "(task)");
  EXPECT_EQ(openmp_name(".omp_task_entry."), "(task)");
}

TEST(OpenmpNames, OthersStayAsTheyAre) {
  for (const char* name : {"main", "", "Cache::get", "free", "_Z3foov", "x.omp", "work.duress.faithful"})
    EXPECT_EQ(openmp_name(name), name);
}

}  // namespace
}  // namespace duress::report
