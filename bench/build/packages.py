# SPDX-License-Identifier: Apache-2.0
"""What is compiled: for each of Debian's source packages how to prepare it, and some of its files with their flags."""
import dataclasses


@dataclasses.dataclass
class Package:
    prepare: str  # shell, in the source folder; with the plain compiler
    folder: str
    files: list
    flags: list


PACKAGES = {
    "memcached": Package(
        "CC=clang-19 ./configure --quiet --disable-docs",
        ".",
        "memcached.c items.c slabs.c thread.c assoc.c proto_text.c proto_bin.c logger.c crawler.c".split(),
        ["-DHAVE_CONFIG_H", "-I.", "-pthread"],
    ),
    "redis": Package(
        "cd src && ./mkreleasehdr.sh",
        "src",
        "server.c networking.c dict.c db.c object.c t_zset.c t_string.c quicklist.c bio.c".split(),
        "-std=c11 -I../deps/hiredis -I../deps/lua/src -I../deps/linenoise -I../deps/hdr_histogram -DREDIS_STATIC=".split(),
    ),
    "libuv1": Package(
        ":",
        "src",
        "threadpool.c uv-common.c timer.c unix/core.c unix/fs.c unix/linux-core.c unix/stream.c unix/thread.c unix/udp.c".split(),
        ["-I../include", "-I.", "-D_GNU_SOURCE", "-pthread"],
    ),
    "zeromq3": Package(
        "cmake -S . -B out -DCMAKE_C_COMPILER=clang-19 -DCMAKE_CXX_COMPILER=clang++-19 -DBUILD_TESTS=OFF",
        "src",
        "socket_base.cpp ctx.cpp pipe.cpp session_base.cpp stream_engine_base.cpp router.cpp msg.cpp signaler.cpp".split(),
        ["-I../include", "-I../out", "-pthread"],
    ),
    "abseil": Package(
        ":",
        "absl",
        "synchronization/mutex.cc strings/cord.cc strings/str_cat.cc container/internal/raw_hash_set.cc "
        "time/time.cc base/internal/sysinfo.cc".split(),
        ["-std=c++17", "-I..", "-pthread"],
    ),
    "libzstd": Package(
        ":",
        "lib",
        "compress/zstd_compress.c compress/zstdmt_compress.c decompress/zstd_decompress.c common/pool.c".split(),
        ["-I.", "-Icommon", "-DZSTD_MULTITHREAD", "-pthread"],
    ),
    "sqlite3": Package(
        "CC=clang-19 ./configure --quiet --disable-tcl && make -s sqlite3.c", ".", ["sqlite3.c"], ["-I."]
    ),
}
