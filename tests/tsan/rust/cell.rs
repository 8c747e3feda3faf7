// SPDX-License-Identifier: Apache-2.0
// RACE: 10 11
use std::cell::UnsafeCell;
use std::sync::Arc;
struct Shared(UnsafeCell<i32>);
unsafe impl Sync for Shared {}
fn main() {
    let value = Arc::new(Shared(UnsafeCell::new(0)));
    let other = value.clone();
    let thread = std::thread::spawn(move || unsafe { *other.0.get() += 1 });
    unsafe { *value.0.get() += 1 };
    thread.join().unwrap();
    println!("{}", unsafe { *value.0.get() });
}
