# SPDX-License-Identifier: Apache-2.0
# The programs of run.sh: build_NAME runs in the source folder, check_NAME after it. Nothing of a source is changed.

# A file of 8 MB that compresses somewhat, the same on every machine.
input=$work/input
[[ -f $input ]] || python3 - "$input" <<'PY'
import random, sys
random.seed(1)
words = [bytes(random.choices(b"abcdefgh ", k=random.randint(2, 9))) for _ in range(3000)]
with open(sys.argv[1], "wb") as file:
    size = 0
    while size < 8 << 20:
        size += file.write(b" ".join(random.choices(words, k=1000)) + random.randbytes(40))
PY

# round_trip NAME COMPRESS... -- EXPAND...: both are filters on stdin and stdout.
round_trip() {
  local name=$1 compress=()
  shift
  while [[ $1 != -- ]]; do compress+=("$1"); shift; done
  shift
  watched "$name" "${compress[@]}" <"$input" >"$work/$name/packed" || return 1
  watched "$name" "$@" <"$work/$name/packed" >"$work/$name/again" || return 1
  [[ $(stat -c %s "$work/$name/packed") -lt $(stat -c %s "$input") ]] && cmp "$input" "$work/$name/again"
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

build_pigz() { make -j2 CC="$CC" pigz; }
check_pigz() { round_trip pigz ./pigz -p 4 -b 128 -c -- ./pigz -p 4 -d -c; }

# Written before C++11, which reads "%"PRIuMAX differently.
build_pbzip2() { make -j2 CXX="$CXX -std=gnu++98" CC="$CC" pbzip2; }
check_pbzip2() { round_trip pbzip2 ./pbzip2 -p4 -c -- ./pbzip2 -p4 -d -c; }

# Without the decoders of formats from before 2016, which take longer to compile than all the rest.
build_libzstd() { make -j2 -C programs CC="$CC" ZSTD_LEGACY_SUPPORT=0 zstd; }
check_libzstd() { round_trip libzstd programs/zstd -q -T4 -B512K -c -- programs/zstd -q -d -c; }

build_xz_utils() {
  ./configure --quiet --disable-shared --disable-nls --disable-doc --disable-scripts && make -s -j2
}
check_xz_utils() { round_trip xz-utils src/xz/xz -T4 -1 --block-size=1MiB -c -- src/xz/xz -T4 -d -c; }

build_leveldb() {
  cmake -S . -B out -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DLEVELDB_BUILD_TESTS=OFF \
    -DLEVELDB_BUILD_BENCHMARKS=OFF -DLEVELDB_INSTALL=OFF &&
    ninja -C out -j2 leveldb &&
    $CXX -std=c++17 -g -O2 -Iinclude "$here/leveldb_check.cc" -o out/check $(ls out/libleveldb.*) \
      -Wl,-rpath,"$PWD/out" -lsnappy -pthread
}
check_leveldb() { watched leveldb out/check "$work/leveldb/database"; }

build_memcached() { ./configure --quiet --disable-docs && make -s -j2 memcached; }
check_memcached() {
  local port pid code=0
  port=$(free_port)
  watched memcached ./memcached -u root -A -t 4 -l 127.0.0.1 -p "$port" -U 0 -m 64 &
  pid=$!
  timeout 300 python3 "$here/memcached_client.py" "$port" || { code=1; kill "$pid" 2>/dev/null; }
  wait "$pid" || code=1
  return $code
}

# Its server with four threads for sockets, and 10,000 requests of its own benchmark with the data types that have code of their own.
build_redis() { make -j2 -C src MALLOC=libc CC="$CC" OPT=-O2 redis-server redis-benchmark redis-cli; }
check_redis() {
  local port pid code=0
  port=$(free_port)
  mkdir -p "$work/redis/data"
  watched redis src/redis-server --port "$port" --dir "$work/redis/data" --io-threads 4 --io-threads-do-reads yes \
    --save "" --appendonly yes --appendfsync everysec --daemonize no &
  pid=$!
  for _ in $(seq 300); do
    src/redis-cli -p "$port" ping 2>/dev/null | grep -q PONG && break
    sleep 0.1
  done
  timeout 300 src/redis-benchmark -p "$port" -q -n 1000 -c 20 -P 4 -d 100 -r 300 \
    -t set,get,incr,lpush,rpop,sadd,hset,zadd,lrange_100,mset || code=1
  [[ $(src/redis-cli -p "$port" dbsize) -gt 100 ]] || code=1
  src/redis-cli -p "$port" bgrewriteaof && src/redis-cli -p "$port" flushall async || code=1
  src/redis-cli -p "$port" shutdown nosave
  wait "$pid" || code=1
  return $code
}

# Tests of threads, the pool of threads, wake-ups and signals, each in a process of its own as its runner would start it.
build_libuv1() {
  cmake -S . -B out -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo && ninja -C out -j2 uv_run_tests_a &&
    $CC -g -O2 -Iinclude "$here/libuv_signals.c" out/libuv_a.a -o out/libuv_signals -pthread -ldl -lrt
}
check_libuv1() {
  local test
  for test in async async_null_cb barrier_1 barrier_2 barrier_3 barrier_serial_thread condvar_1 condvar_2 condvar_3 condvar_4 condvar_5 \
    semaphore_1 semaphore_2 semaphore_3 thread_mutex thread_mutex_recursive thread_rwlock thread_rwlock_trylock thread_create thread_equal \
    thread_local_storage thread_stack_size threadpool_queue_work_simple threadpool_cancel_work threadpool_cancel_fs threadpool_cancel_single \
    threadpool_cancel_random threadpool_multiple_event_loops we_get_signal we_get_signals signal_multiple_loops signal_pending_on_close \
    fs_file_async fs_readdir_empty_dir getaddrinfo_basic_sync loop_handles; do
    grep -q "TEST_ENTRY.*($test)" test/test-list.h || continue
    echo "== $test"
    (cd out && UV_RUN_AS_ROOT=1 watched libuv1 timeout 120 ./uv_run_tests_a "$test" "$test") || return 1
  done
  watched libuv1 timeout 120 out/libuv_signals
}

# Tests of both transports, of many sockets and of ending a context beside its users.
zeromq_tests=(test_pair_inproc test_pair_tcp test_reqrep_inproc test_reqrep_tcp test_inproc_connect test_hwm test_ctx_destroy test_many_sockets
  test_shutdown_stress test_spec_pushpull test_proxy test_atomics test_iov test_sub_forward test_monitor)
build_zeromq3() {
  cmake -S . -B out -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBUILD_SHARED=OFF -DWITH_LIBSODIUM=OFF -DENABLE_CURVE=OFF -DWITH_DOCS=OFF \
    -DWITH_PERF_TOOL=OFF -DWITH_LIBBSD=OFF -DWITH_TLS=OFF -DENABLE_PRECOMPILED=OFF && ninja -C out -j2 "${zeromq_tests[@]}"
}
check_zeromq3() {
  local test
  for test in "${zeromq_tests[@]}"; do
    echo "== $test"
    watched zeromq3 timeout 120 "out/bin/$test" || return 1
  done
}

# Readers and writers of each flavour, and its queues, stacks and hash table, a second each. Not test_urcu_wfs: it keeps its threads'
# ids beyond the end of an array.
build_liburcu() { autoreconf -fi && ./configure --quiet --disable-shared && make -s -j2; }
check_liburcu() {
  local test
  for test in unit/test_urcu_multiflavor unit/test_uatomic "benchmark/test_urcu 2 2 1" "benchmark/test_urcu_mb 2 2 1" \
    "benchmark/test_urcu_qsbr 2 2 1" "benchmark/test_urcu_bp 2 2 1" "benchmark/test_urcu_lfq 2 2 1" "benchmark/test_urcu_wfcq 2 2 1" \
    "benchmark/test_urcu_lfs 2 2 1" "benchmark/test_urcu_hash 2 2 1"; do
    echo "== $test"
    watched liburcu timeout 120 tests/$test || return 1
  done
}

# Its locks, conditions, barriers and counters, with GoogleTest built the same way. Tests that exist for several numbers of threads run with two
# and four of them.
abseil_tests=(absl_barrier_test absl_blocking_counter_test absl_notification_test absl_per_thread_sem_test absl_lifetime_test absl_mutex_test)
build_abseil() {
  cmake -S . -B out -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_STANDARD=17 -DBUILD_TESTING=ON -DABSL_BUILD_TESTING=ON \
    -DABSL_USE_GOOGLETEST_HEAD=OFF -DABSL_LOCAL_GOOGLETEST_DIR=/usr/src/googletest && ninja -C out -j2 "${abseil_tests[@]}"
}
check_abseil() {
  local test
  for test in "${abseil_tests[@]}"; do
    echo "== $test"
    watched abseil timeout 600 "out/bin/$test" --gtest_filter='-*/10:*.RW/4' || return 1
  done
}

# The amalgamation as its own Makefile makes it, and its test of threads; each part runs for a fixed time of ten seconds.
build_sqlite3() {
  mkdir -p out && cd out && CC=cc ../configure --quiet --disable-tcl --disable-readline --disable-shared && make -s sqlite3.c &&
    $CC -g -O2 -I. -DSQLITE_THREADSAFE=1 -DSQLITE_NO_SYNC=1 -c sqlite3.c -o sqlite3.o &&
    $CC -g -O2 -I. -I../src ../test/threadtest3.c ../src/test_multiplex.c sqlite3.o -o threadtest3 -lpthread -ldl -lm
}
check_sqlite3() {
  local test
  for test in lookaside1 checkpoint_starvation_1 create_drop_index_1 vacuum1 stress1 shared1; do
    (cd out && watched sqlite3 timeout 300 ./threadtest3 "$test") || return 1
  done
}
