// SPDX-License-Identifier: Apache-2.0
#include "exhaustive/step.h"

namespace duress::exhaustive {

Mode mode_of(const Step& step, const Touch& touch) {
  u64 state = touch.before;
  bool writes = true;
  switch (step.kind) {
    case OpKind::kRead:
    case OpKind::kAtomicRead:
      writes = false;
      break;
    case OpKind::kAtomicRmw:
      // Values wider than 8 bytes are not compared: it may have written.
      writes = !step.is(Step::kCompares) || touch.size > 8 || state == step.expected;
      break;
    case OpKind::kOnce:
      writes = step.expected == 0;  // else it only reads whether it was done
      break;
    case OpKind::kTryLock:
      writes = state == 0;
      break;
    case OpKind::kTryReadLock:
      writes = !(state & kWriter);
      break;
    case OpKind::kTryAcquire:
    case OpKind::kSignal:
    case OpKind::kBroadcast:
    case OpKind::kFutexWake:
      writes = state != 0;
      break;
    default:
      break;
  }
  return writes ? Mode::kWrite : Mode::kRead;
}

void predict(Step& step, const Step& earlier) {
  if (step.is(Step::kHasStoreAge)) {
    // Which store it reads or follows there is known once it has been executed: until then the newest.
    step.value = 0;
    step.choices = 0;
    step.touch[0].mode = step.kind == OpKind::kAtomicRead ? Mode::kRead : Mode::kWrite;
    step.flags &= static_cast<u8>(~Step::kPending);
    return;
  }
  for (u32 i = 0; i < step.touches; ++i) {
    Touch& mine = step.touch[i];
    if (i > 0 && step.is(Step::kAwaits)) break;  // those are only awaited
    for (u32 k = 0; k < earlier.touches; ++k) {
      const Touch& other = earlier.touch[k];
      if (!overlap(mine, other)) continue;
      if (mine.object != other.object || mine.size != other.size) {
        if (step.is(Step::kCompares)) mine.mode = Mode::kWrite;  // not known
        continue;
      }
      mine.before = other.before;
      if (i == 0) mine.mode = mode_of(step, mine);
    }
  }
  if (step.kind == OpKind::kSignal || step.kind == OpKind::kFutexWake) {
    if (step.choices || step.value) step.value = 0;
    step.choices = step.kind == OpKind::kSignal || step.expected == 1 ? step.touch[0].before : 0;
  }
  // A futex wait that finds another value than expected does not block.
  if (step.kind == OpKind::kFutexWait) {
    bool finds = earlier.is(Step::kHasStoreAge) || step.touch[0].before == step.expected;
    step.touch[1].size = finds && !step.is(Step::kEndsItself) ? 1 : 0;
  }
  step.flags &= static_cast<u8>(~Step::kPending);
}

}  // namespace duress::exhaustive
