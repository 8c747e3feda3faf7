// SPDX-License-Identifier: Apache-2.0
#include "sched/wait_queues.h"

namespace duress::sched {

WaitQueues::Object& WaitQueues::make(uptr address) {
  Object*& bucket = buckets_[mix(address) % kBuckets];
  bucket = arena_.make<Object>(Object{address, bucket, nullptr, nullptr, 0, 0, nullptr, 0});
  ++count_;
  return *bucket;
}

void WaitQueues::drop(Object& o) {
  Object** link = &buckets_[mix(o.address) % kBuckets];
  while (*link != &o) link = &(*link)->next;
  *link = o.next;
  arena_.free(&o, sizeof(Object));
  --count_;
}

void WaitQueues::enqueue(Strand* s, uptr queue) {
  Object& o = get(queue);
  s->wait.queue = queue;
  s->wait.queued = true;
  s->wait.next_in_queue = nullptr;
  (o.last ? o.last->wait.next_in_queue : o.first) = s;
  o.last = s;
  ++o.waiting;
}

void WaitQueues::dequeue(Strand* s) {
  if (!s->wait.queued) return;
  Object& o = get(s->wait.queue);
  Strand* before = nullptr;
  for (Strand* w = o.first; w != s; w = w->wait.next_in_queue) before = w;
  (before ? before->wait.next_in_queue : o.first) = s->wait.next_in_queue;
  if (o.last == s) o.last = before;
  --o.waiting;
  s->wait.queued = false;
  drop_if_unused(o);
}

u64 WaitQueues::waiting_in(uptr queue) const {
  u64 all = 0;
  const Object* o = find(queue);
  for (Strand* s = o ? o->first : nullptr; s; s = s->wait.next_in_queue) all |= u64{1} << s->id;
  return all;
}

void WaitQueues::clear() {
  if (count_ == 0) return;
  for (Object*& bucket : buckets_) {
    while (Object* o = bucket) {
      bucket = o->next;
      arena_.free(o, sizeof(Object));
    }
  }
  count_ = 0;
}

void WaitQueues::forget_waiting() {
  for (Object* bucket : buckets_) {
    for (Object* o = bucket; o; o = o->next) {
      o->first = o->last = nullptr;
      o->waiting = o->contenders = 0;
    }
  }
}

}  // namespace duress::sched
