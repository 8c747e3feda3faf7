# SPDX-License-Identifier: Apache-2.0
# duress_target_part(NAME [PCH KIND] SOURCES ... DEPS ...): a part that runs inside the target (and in tests).
#   No exceptions, RTTI or static constructors; see docs/design/runtime.md.
# duress_host_part(NAME [HOT] SOURCES ... DEPS ...): a part of the host.
# duress_test(NAME SOURCES ... DEPS ...): a GoogleTest binary, found by ctest; label "fast" unless LABEL is given.
# duress_use_fake_target(TEST): the test runs the scripted target, as DURESS_FAKE_TARGET.

# Errors in the preset dev. Fields that an initialiser does not name have their defaults; libstdc++ 12 uses what it deprecates itself
# (std::stable_sort).
set(DURESS_WARNINGS -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wno-unused-parameter -Wno-missing-designated-field-initializers
  -Wno-error=deprecated-declarations)
# Most of the host waits for targets. In the preset dev it is compiled with -O1 and line tables only, which halves its build time;
# parts marked HOT (exploration, trace decoding) and everything in the target keep -O2. Release builds are not affected.
set(DURESS_COLD $<$<CONFIG:RelWithDebInfo>:-O1;-g1>)
set(DURESS_IN_TARGET -fno-exceptions -fno-rtti -fvisibility=hidden -fno-threadsafe-statics -fomit-frame-pointer
  -ftls-model=initial-exec -fno-stack-protector -mcx16)
# Every program that duress-cc links contains the runtime. Lines and inlined functions are enough to read a stack of it; types and
# variables were 5 of the 8 MB of a small program, written by every link and read by every report.
option(DURESS_RUNTIME_VARIABLES "Debug information of the runtime has types and variables (for work on it with gdb)" OFF)
if(NOT DURESS_RUNTIME_VARIABLES)
  list(APPEND DURESS_IN_TARGET $<$<CONFIG:RelWithDebInfo>:-g1>)
endif()

include(DuressPrecompiled)

function(duress_target_part name)
  cmake_parse_arguments(P "" "PCH" "SOURCES;DEPS" ${ARGN})
  add_library(duress_${name} STATIC ${P_SOURCES})
  target_include_directories(duress_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_compile_options(duress_${name} PRIVATE ${DURESS_WARNINGS} ${DURESS_IN_TARGET})
  set_target_properties(duress_${name} PROPERTIES LINKER_LANGUAGE CXX)
  if(NOT P_PCH)
    set(P_PCH target)
  endif()
  duress_precompile(duress_${name} ${P_PCH})
  foreach(dep ${P_DEPS})
    target_link_libraries(duress_${name} PUBLIC duress_${dep})
  endforeach()
endfunction()

function(duress_host_part name)
  cmake_parse_arguments(P "HOT" "" "SOURCES;DEPS" ${ARGN})
  add_library(duress_${name} STATIC ${P_SOURCES})
  target_include_directories(duress_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_compile_options(duress_${name} PRIVATE ${DURESS_WARNINGS})
  if(NOT P_HOT)
    target_compile_options(duress_${name} PRIVATE ${DURESS_COLD})
  endif()
  duress_precompile(duress_${name} host)
  foreach(dep ${P_DEPS})
    target_link_libraries(duress_${name} PUBLIC duress_${dep})
  endforeach()
endfunction()

# PROPERTIES filter: tests that try a share of their cases in the fast suite and all of them in the slow one
# (base/testing/rounds.h).
function(duress_test name)
  cmake_parse_arguments(P "" "LABEL;PROPERTIES" "SOURCES;DEPS" ${ARGN})
  if(NOT DURESS_TESTS)
    return()
  endif()
  if(NOT P_LABEL)
    set(P_LABEL fast)
  endif()
  add_executable(${name} ${P_SOURCES})
  target_compile_options(${name} PRIVATE ${DURESS_WARNINGS} ${DURESS_COLD})
  target_link_libraries(${name} PRIVATE GTest::gtest GTest::gtest_main)
  duress_precompile(${name} test)
  foreach(dep ${P_DEPS})
    target_link_libraries(${name} PRIVATE duress_${dep})
  endforeach()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  gtest_discover_tests(${name} PROPERTIES LABELS ${P_LABEL} DISCOVERY_TIMEOUT 60)
  if(P_PROPERTIES)
    add_test(NAME ${name}.properties COMMAND ${name} --gtest_filter=${P_PROPERTIES})
    set_tests_properties(${name}.properties PROPERTIES LABELS slow ENVIRONMENT DURESS_TEST_ALL=1)
  endif()
endfunction()

# A program that speaks the protocol of targets without an instrumented build (src/exec/testing/fake_target.cc).
function(duress_use_fake_target name)
  if(DURESS_TESTS)
    target_compile_definitions(${name} PRIVATE DURESS_FAKE_TARGET="$<TARGET_FILE:exec_fake_target>")
    add_dependencies(${name} exec_fake_target)
  endif()
endfunction()
