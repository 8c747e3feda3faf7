# SPDX-License-Identifier: Apache-2.0
# Builds a project with duress-cc and duress-c++: cmake -B build -DCMAKE_TOOLCHAIN_FILE=$(duress cmake)
# The compilers are found from where this file lies: <prefix>/share/duress/.
get_filename_component(_duress_prefix "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
set(CMAKE_C_COMPILER "${_duress_prefix}/bin/duress-cc")
set(CMAKE_CXX_COMPILER "${_duress_prefix}/bin/duress-c++")
# Lines in reports come from debug information; RelWithDebInfo has it and is as fast as what is shipped.
if(NOT CMAKE_BUILD_TYPE AND NOT DEFINED ENV{CMAKE_BUILD_TYPE})
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Kind of build")
endif()
unset(_duress_prefix)
