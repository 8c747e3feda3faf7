// SPDX-License-Identifier: Apache-2.0
// SILENT
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Arc;
use std::cell::UnsafeCell;
struct Slot { ready: AtomicBool, count: AtomicUsize, value: UnsafeCell<u64> }
unsafe impl Sync for Slot {}
fn main() {
    let slot = Arc::new(Slot { ready: AtomicBool::new(false), count: AtomicUsize::new(0), value: UnsafeCell::new(0) });
    let s = slot.clone();
    let t = std::thread::spawn(move || { unsafe { *s.value.get() = 7 }; s.count.fetch_add(1, Ordering::Relaxed); s.ready.store(true, Ordering::Release); });
    while !slot.ready.load(Ordering::Acquire) { std::thread::yield_now(); }
    assert_eq!(unsafe { *slot.value.get() }, 7);
    t.join().unwrap();
}
