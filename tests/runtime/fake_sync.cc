// SPDX-License-Identifier: Apache-2.0
#include "fake_sync.h"

#include <errno.h>
#include <malloc.h>
#include <string.h>

#include "base/check.h"
#include "base/spin_lock.h"
#include "runtime/control.h"
#include "runtime/crash.h"
#include "runtime/misuse.h"
#include "runtime/object_errors.h"
#include "runtime/robust_mutexes.h"
#include "runtime/startup.h"
#include "runtime/sync.h"
#include "runtime/thread_emulation.h"
#include "runtime/thread_start.h"
#include "runtime/unwinding.h"

namespace duress {

bool g_preloaded = false;

struct Thread {
  int number;
};

namespace {

struct Record {
  const char* name;
  const void* object;
  long detail;
  int os_thread;
};

// Every call of an interceptor for a lock causes one of these: lists of events go without them.
constexpr const char* kUsed = "used";
constexpr const char* kChanged = "changed";

constexpr int kMost = 20000;
Record records[kMost];
int used = 0;
constinit SpinLock lock;
Thread threads[256];
constinit std::atomic<int> threads_used{0};
thread_local const Thread* self = nullptr;

void record(const char* name, const void* object, long detail = 0) {
  int thread = thread_number();
  SpinGuard guard(lock);
  if (used < kMost) records[used++] = {name, object, detail, thread};
}

/// sync.h promises to keep errno.
struct Keep {
  int saved = errno;
  ~Keep() { errno = saved; }
};

const void* number_of(int fd) {
  return reinterpret_cast<const void*>(static_cast<uptr>(fd));
}

}  // namespace

struct Runtime {};
Runtime* g_runtime = nullptr;

// No execution is controlled here, so nothing is looked at.
void misuse_at_unlock(const pthread_mutex_t*) {}
bool watches_objects() {
  return false;
}
void check_object_use(const void*, ObjectState, uptr) {}
void check_object_init(const void*, ObjectState, uptr) {}
void check_object_destroy(const void*, ObjectState, uptr) {}
ObjectState state_of(const pthread_mutex_t*) {
  return {};
}
ObjectState state_of(const pthread_rwlock_t*) {
  return {};
}
ObjectState state_of(const pthread_cond_t*) {
  return {};
}
ObjectState state_of(const sem_t*) {
  return {};
}
bool is_read(const pthread_rwlock_t*) {
  return false;
}
void mark_destroyed(pthread_rwlock_t*) {}
u64 thread_start_key(const void*, void*) {
  return 0;
}
void misuse_at_thread_end() {}
void misuse_at_exit() {}
void wait_for_other_threads() {}
void misuse_note_lock(const void*, uptr) {}
void misuse_note_thread(const sched::Strand*, const uptr*) {}
bool g_what_if = false;
void what_if_joined(const sched::Strand*, uptr) {}
void what_if_ended() {}
void record_clock_read(uptr) {}
void control_crashed(int) {}
void control_sends(int, int) {}
void report_exit(int, uptr, bool) {}
void thread_joining(Thread*) {}
void thread_path(Thread*, u64) {}
void visit_robust_mutexes(const sched::KernelThread&, void (*)(std::atomic<u32>&)) {}
void emulation_arrive(sched::Strand*) {}
void emulation_end(sched::Strand*) {}
void emulation_warm_up(int, bool (*)(int), void (*)(int)) {}
EmulatedCreation::EmulatedCreation(sched::Strand*) : emulates_(false) {}
EmulatedCreation::~EmulatedCreation() = default;
void EmulatedCreation::succeeded() {
  DURESS_CHECK(!emulates_);
}
EmulatedNumbers::EmulatedNumbers() : trapped_(false) {}
EmulatedNumbers::~EmulatedNumbers() {
  DURESS_CHECK(!trapped_);
}

static void set_awake(bool on) {
  static Runtime runtime;
  g_runtime = on ? &runtime : nullptr;
}

#define FAKE(...) \
  Keep keep;      \
  record(__VA_ARGS__)

void sync_locked(const void* l, bool shared, uptr) {
  FAKE(shared ? "locked_shared" : "locked", l);
}
void sync_unlocking(const void* l, bool shared, uptr) {
  FAKE(shared ? "unlocking_shared" : "unlocking", l);
}
void sync_wait_begin(const void* c, const void* l, uptr) {
  FAKE("wait_begin", l);
  record("waits_on", c);
}
void sync_wait_end(const void* c, const void* l, uptr) {
  FAKE(c ? "wait_end" : "wait_end_unsignalled", l);
}
void sync_release(const void* o, uptr) {
  FAKE("release", o);
}
void sync_release_join(const void* o, uptr) {
  FAKE("release_join", o);
}
void sync_acquire(const void* o, uptr) {
  FAKE("acquire", o);
}
void sync_atomic_store(const void* o, u8 size, uptr) {
  FAKE("atomic_store", o, size);
}
void sync_atomic_load(const void* o, u8 size, uptr) {
  FAKE("atomic_load", o, size);
}
void sync_futex(const void*) {}
void sync_forget(const void* o) {
  FAKE("forget", o);
}
void sync_release_fd(int n, uptr) {
  FAKE("release_fd", number_of(n));
}
void sync_release_stream(int n, uptr) {
  FAKE("release_stream", number_of(n));
}
void sync_acquire_fd(int n, uptr) {
  FAKE("acquire_fd", number_of(n));
}
void sync_forget_fd(int n) {
  FAKE("forget_fd", number_of(n));
}
void sync_pair_fds(int r, int w) {
  FAKE("pair_fds", number_of(r), w);
}
void sync_network_fd(int n) {
  FAKE("network_fd", number_of(n));
}
void sync_duplicate_fd(int n, int copy) {
  FAKE("duplicate_fd", number_of(n), copy);
}

Thread* thread_created(const uptr*) {
  Thread* t = &threads[threads_used++];
  FAKE("thread_created", t);
  return t;
}
Thread* running_thread() {
  return nullptr;
}
void thread_started(Thread* t) {
  self = t;
  FAKE("thread_started", t);
}
void thread_ended() {
  FAKE("thread_ended", self);
}
void thread_unreferenced(Thread* t) {
  FAKE("thread_unreferenced", t);
}
void thread_not_created(Thread* t) {
  FAKE("thread_not_created", t);
}
void thread_joined(Thread* t, uptr) {
  FAKE("thread_joined", t);
}
void thread_named(Thread* t, const char*) {
  FAKE("thread_named", t);
}

constinit size_t g_redzone = 0;
constinit thread_local PrivateHeap* t_private_heap = nullptr;
void* PrivateHeap::allocate(size_t) {
  return nullptr;
}
constinit bool g_heap_seen = false, g_heap_headers = false;
size_t guarded_size(void*) {
  return 0;
}
void memory_allocated(void* p, size_t size, size_t usable, HeapCall, uptr) {
  CHECK(usable == malloc_usable_size(p));
  FAKE("allocated", p, static_cast<long>(size));
}
void ThreadUpkeep::set(bool) {}
bool memory_freeing(void* p, HeapCall, uptr) {
  FAKE("freeing", p);
  return false;
}
void memory_mapped(void* p, size_t size) {
  FAKE("mapped", p, static_cast<long>(size));
}
void memory_accessed(const void* p, size_t size, bool write, uptr) {
  FAKE(write ? "written" : "read", p, static_cast<long>(size));
}
void object_accessed(const void* o, bool write, uptr) {
  FAKE(write ? kChanged : kUsed, o);
}
void object_begins(const void*) {}
void library_accessed(const void* p, size_t size, bool write, const DuressSite*) {
  FAKE(write ? "written" : "read", p, static_cast<long>(size));
}
uptr unwound_frame_size(uptr, uptr, bool*) {
  return 0;  // what the C++ library does for the test is not recorded
}
void incomplete(const char* what) {
  FAKE("incomplete", what);
}
void before_fork() {
  FAKE("before_fork", nullptr);
}
void after_fork(bool child) {
  FAKE(child ? "after_fork_child" : "after_fork_parent", nullptr);
}
void before_exec(const char* path) {
  FAKE("before_exec", path);
}
void process_ending(int code) {
  FAKE("process_ending", nullptr, code);
  // Tests look at a child's output to see that this was called.
  char text[] = "ending  \n";
  text[7] = static_cast<char>('0' + code % 10);
  write_all(1, text, sizeof text - 1);
}

}  // namespace duress

using namespace duress;

extern "C" void fake_set_awake(int on) {
  if (on) interceptors_ready();
  set_awake(on != 0);
}

extern "C" void fake_clear() {
  SpinGuard guard(lock);
  used = 0;
}

static bool matches(const Record& r, const char* name, const void* object) {
  return strcmp(r.name, name) == 0 && (!object || object == r.object);
}

extern "C" void fake_expect(const char* file, int line, const FakeEvent* events, int count) {
  set_awake(false);  // printing and ending must not add events
  int thread = thread_number(), seen = 0;
  bool right = true;
  for (int i = 0; i < used; ++i) {
    if (records[i].os_thread != thread || records[i].name == kUsed || records[i].name == kChanged) continue;
    right &= seen < count && matches(records[i], events[seen].name, events[seen].object);
    ++seen;
  }
  if (right && seen == count) {
    set_awake(true);
    return;
  }
  fprintf(stderr, "%s:%d: events differ\nexpected:\n", file, line);
  for (int i = 0; i < count; ++i) fprintf(stderr, "  %s %p\n", events[i].name, events[i].object);
  fprintf(stderr, "recorded:\n");
  for (int i = 0; i < used; ++i) {
    if (records[i].os_thread != thread) continue;
    fprintf(stderr, "  %s %p %ld\n", records[i].name, records[i].object, records[i].detail);
  }
  abort();
}

extern "C" void fake_fail(const char* file, int line, const char* condition) {
  set_awake(false);
  fprintf(stderr, "%s:%d: failed: %s (errno %d)\n", file, line, condition, errno);
  abort();
}

extern "C" int fake_find(const char* name, const void* object, int from) {
  SpinGuard guard(lock);
  for (int i = from; i < used; ++i) {
    if (matches(records[i], name, object)) return i;
  }
  return -1;
}

extern "C" int fake_count(const char* name) {
  SpinGuard guard(lock);
  int n = 0;
  for (int i = 0; i < used; ++i) n += matches(records[i], name, nullptr);
  return n;
}

extern "C" long fake_detail(int index) {
  return records[index].detail;
}
extern "C" const void* fake_object(int index) {
  return records[index].object;
}
extern "C" const void* fake_self() {
  return self;
}

// Controlled mode is never on here: what is left of it is that nobody is a strand.
namespace duress {

thread_local sched::Strand* t_strand __attribute__((tls_model("initial-exec"))) = nullptr;
sched::Scheduler* g_scheduler = nullptr;
void control_settle(uptr) {}
void control_fork_point() {}
void control_crashed() {}
void control_enter_strand() {}
void control_child_made() {}
bool control_has_children() {
  return false;
}
void control_leave_strand() {}
u64 control_deadline(clockid_t, const timespec*) {
  return sched::kNever;
}
u64 control_timeout(const timespec*) {
  return sched::kNever;
}
u64 control_clock_start(clockid_t) {
  return 0;
}

}  // namespace duress

// What the interceptors of OpenMP call.
namespace duress {
const void* openmp_team() {
  return nullptr;
}
void openmp_expect_team_reduction() {}
bool openmp_tasks_unfinished(bool) {
  return false;
}
bool openmp_task_made() {
  return false;
}
bool openmp_dependences_unfinished(const void*, int) {
  return false;
}
}  // namespace duress
extern "C" void __duress_annotate_ignore(int) {}
extern "C" void __duress_fence(duress::u32, const DuressSite*) {}
