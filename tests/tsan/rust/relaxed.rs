// SPDX-License-Identifier: Apache-2.0
// RACE: 11 13
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::cell::UnsafeCell;
struct Slot { ready: AtomicBool, value: UnsafeCell<u64> }
unsafe impl Sync for Slot {}
fn main() {
    let slot = Arc::new(Slot { ready: AtomicBool::new(false), value: UnsafeCell::new(0) });
    let s = slot.clone();
    let t = std::thread::spawn(move || { unsafe { *s.value.get() = 7 }; s.ready.store(true, Ordering::Relaxed); });
    while !slot.ready.load(Ordering::Relaxed) { std::thread::yield_now(); }
    assert_eq!(unsafe { *slot.value.get() }, 7);
    t.join().unwrap();
}
