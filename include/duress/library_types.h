// SPDX-License-Identifier: Apache-2.0
//
// The types of library_calls.def's parameters.
#ifndef DURESS_LIBRARY_TYPES_H_
#define DURESS_LIBRARY_TYPES_H_

#include <iconv.h>
#include <netdb.h>
#include <netinet/in.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <time.h>
#include <wchar.h>

#endif  // DURESS_LIBRARY_TYPES_H_
