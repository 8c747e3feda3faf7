// SPDX-License-Identifier: Apache-2.0
#include "runtime/interceptors/pool.h"

#include <link.h>
#include <setjmp.h>
#include <string.h>
#include <unwind.h>

#include "runtime/interceptors/real.h"
#include "sched/context.h"

namespace duress {

bool g_pooling = false;
const StrandObserver* g_strand_observer = nullptr;

namespace {

using sched::Strand;

constinit Strand* spare = nullptr;
constinit Arena arena;

// ---- thread-local storage ----

/// What the executable's thread-local variables are at the start of a thread. Those of libraries that came
/// later have storage elsewhere and keep their values: said in docs/guide/check.md.
struct Storage {
  const char* image = nullptr;
  size_t image_bytes = 0, bytes = 0;
  uptr below = 0;  // how far below the thread pointer it begins
};
constinit Storage storage;

int find_storage(dl_phdr_info* info, size_t, void*) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = info->dlpi_phdr[i];
    if (p.p_type != PT_TLS || !info->dlpi_tls_data) continue;
    storage.image = reinterpret_cast<const char*>(info->dlpi_addr + p.p_vaddr);
    storage.image_bytes = p.p_filesz;
    storage.bytes = p.p_memsz;
    storage.below = sched::thread_pointer() - reinterpret_cast<uptr>(info->dlpi_tls_data);
  }
  return 1;  // the first one is the executable
}

/// The runtime's own variables lie among them; what they must keep is put back.
void renew_storage(Strand* s) {
  if (!storage.bytes) return;
  auto* at = reinterpret_cast<char*>(s->kernel.thread_pointer - storage.below);
  memcpy(at, storage.image, storage.image_bytes);
  memset(at + storage.image_bytes, 0, storage.bytes - storage.image_bytes);
  t_strand = s;
  set_own_thread_number(s->kernel.os_id);
}

// ---- destructors ----

struct Destructor {
  void (*destroy)(void*);
  void* object;
  Destructor* next;
};
constexpr u32 kMostStrands = 4096;
Destructor* destructors[kMostStrands];  // by strand, youngest first

constexpr u32 kMostKeys = PTHREAD_KEYS_MAX;
void (*key_destructors[kMostKeys])(void*);
u32 keys_end = 0;

void run_destructors(Strand* s) {
  Destructor*& list = destructors[s->number % kMostStrands];
  while (Destructor* d = list) {
    list = d->next;
    Destructor copy = *d;
    arena.free(d, sizeof(Destructor));
    copy.destroy(copy.object);
  }
  for (int round = 0; round < PTHREAD_DESTRUCTOR_ITERATIONS; ++round) {
    bool any = false;
    for (u32 key = 0; key < keys_end; ++key) {
      if (!key_destructors[key]) continue;
      void* value = pthread_getspecific(key);
      if (!value) continue;
      any = true;
      pthread_setspecific(key, nullptr);
      key_destructors[key](value);
    }
    if (!any) break;
  }
}

void forget_destructors(Strand* s) {
  Destructor*& list = destructors[s->number % kMostStrands];
  while (Destructor* d = list) {
    list = d->next;
    arena.free(d, sizeof(Destructor));
  }
}

// ---- jobs ----

/// Where pthread_exit goes to: the frame of the job. By strand.
jmp_buf job_ends[kMostStrands];
/// Where those go who give up.
jmp_buf job_begins[kMostStrands];

void run_job(Strand* s) {
  s->job_frame = __builtin_frame_address(0);
  if (_setjmp(job_ends[s->number % kMostStrands]) == 0) s->result = s->pool.job(s->pool.argument);
}

/// So that frames that are gone are recognised (runtime/gone_frames.h).
void find_own_stack(Strand* s) {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* begin = nullptr;
  size_t size = 0;
  pthread_attr_getstack(&attributes, &begin, &size);
  pthread_attr_destroy(&attributes);
  s->kernel.stack_begin = reinterpret_cast<uptr>(begin);
}

void* pool_thread_main(void* data) {
  auto* s = static_cast<Strand*>(data);
  own_thread_number();
  find_own_stack(s);
  t_strand = s;
  scheduler().arrive(s);
  for (;;) {
    if (_setjmp(job_begins[s->number % kMostStrands]) == 0) {
      s->pool.in_job = true;
      renew_storage(s);
      if (g_strand_observer) g_strand_observer->starts(s);
      run_job(s);
      run_destructors(s);
      if (g_strand_observer) g_strand_observer->ends(s);
      if (s->detached) s->joined = true;
      s->pool.in_job = false;
      scheduler().end_job();
    } else {
      forget_destructors(s);
      if (g_strand_observer) g_strand_observer->ends(s);
      s->pool.in_job = false;
      scheduler().give_up_job();
    }
  }
}

_Unwind_Reason_Code leave_frame(int, _Unwind_Action actions, _Unwind_Exception_Class, _Unwind_Exception*,
                                _Unwind_Context* context, void*) {
  // The frame that called _setjmp, or what is above it: the end.
  uptr here = _Unwind_GetCFA(context);
  Strand* s = controlled();
  if ((actions & _UA_END_OF_STACK) || here >= reinterpret_cast<uptr>(s->job_frame)) {
    _longjmp(job_ends[s->number % kMostStrands], 1);
  }
  return _URC_NO_REASON;
}

}  // namespace

Strand* pool_take(void* (*job)(void*), void* argument, uptr created_at) {
  Strand* s = spare;
  if (s) {
    spare = s->pool.next_spare;
    // Everything of the last execution is forgotten; what belongs to the kernel thread stays.
    s->reset();
  } else {
    if (!storage.image) dl_iterate_phdr(find_storage, nullptr);
    s = scheduler().make_spare();
    pthread_t id;
    if (make_real_thread(&id, nullptr, pool_thread_main, s) != 0) return nullptr;
    s->pool.thread = id;
  }
  s->pool.job = job;
  s->pool.argument = argument;
  scheduler().enlist(s, created_at);
  if (g_strand_observer) g_strand_observer->created(controlled(), s);
  return s;
}

Strand* pool_find(pthread_t id) {
  for (Strand* s = scheduler().strands(); s; s = s->next_strand) {
    if (s->pool.thread == id && !s->joined) return s;
  }
  return nullptr;
}

void pool_end_execution(Strand* strands) {
  // In the same order as before, so that each execution has the same stacks.
  Strand** end = &spare;
  Strand* rest = spare;
  for (Strand* s = strands; s; s = s->next_strand) {
    if (s->state != Strand::State::kEnded) continue;
    *end = s;
    end = &s->pool.next_spare;
  }
  *end = rest;
}

int pool_create(pthread_t* id, bool detached, void* (*job)(void*), void* argument, uptr pc) {
  scheduler().creates(pc);
  Strand* s = pool_take(job, argument, pc);
  if (!s) return EAGAIN;
  s->detached = detached;
  *id = s->pool.thread;
  scheduler().launch(s);
  scheduler().created(pc);
  return 0;
}

int pool_join(Strand* s, void** value, u64 deadline, uptr pc) {
  if (!s) return ESRCH;
  if (s == controlled()) return EDEADLK;
  if (s->detached) return EINVAL;
  Operation operation = {OpKind::kJoin, 0, address_of(s), 0, pc};
  if (s->state == Strand::State::kEnded) scheduler().point(operation);
  while (s->state != Strand::State::kEnded) {
    if (scheduler().block(operation, operation.object, deadline) == sched::Wake::kTimeout) return ETIMEDOUT;
  }
  s->joined = true;
  if (g_strand_observer) g_strand_observer->joined(controlled(), s);
  if (value) *value = s->result;
  return 0;
}

int pool_detach(Strand* s) {
  if (!s) return ESRCH;
  if (s->detached) return EINVAL;
  s->detached = true;
  if (s->state == Strand::State::kEnded) s->joined = true;
  return 0;
}

void pool_exit(void* value) {
  Strand* s = controlled();
  s->result = value;
  static thread_local _Unwind_Exception unwinding;
  memset(&unwinding, 0, sizeof unwinding);
  _Unwind_ForcedUnwind(&unwinding, leave_frame, nullptr);
  _longjmp(job_ends[s->number % kMostStrands], 1);
}

void pool_give_up(Strand& strand) {
  _longjmp(job_begins[strand.number % kMostStrands], 1);
}

bool pool_at_thread_end(void (*destroy)(void*), void* object) {
  if (!pooled()) return false;
  Destructor*& list = destructors[controlled()->number % kMostStrands];
  list = arena.make<Destructor>(Destructor{destroy, object, list});
  return true;
}

void pool_key_made(pthread_key_t key, void (*destroy)(void*)) {
  if (key >= kMostKeys) return;
  key_destructors[key] = destroy;
  if (key >= keys_end) keys_end = key + 1;
}

void pool_key_deleted(pthread_key_t key) {
  if (key < kMostKeys) key_destructors[key] = nullptr;
}

}  // namespace duress

using namespace duress;

DURESS_INTERCEPTOR(int, __cxa_thread_atexit_impl, (void (*destroy)(void*), void* object, void* library)) {
  if (pool_at_thread_end(destroy, object)) return 0;
  return DURESS_REAL(__cxa_thread_atexit_impl)(destroy, object, library);
}

DURESS_INTERCEPTOR(int, pthread_key_create, (pthread_key_t * key, void (*destroy)(void*))) {
  int result = DURESS_REAL(pthread_key_create)(key, destroy);
  if (result == 0) pool_key_made(*key, destroy);
  return result;
}

DURESS_INTERCEPTOR(int, pthread_key_delete, (pthread_key_t key)) {
  pool_key_deleted(key);
  return DURESS_REAL(pthread_key_delete)(key);
}
