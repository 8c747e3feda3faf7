// SPDX-License-Identifier: Apache-2.0
// FAILS
use std::cell::UnsafeCell;
struct Shared(UnsafeCell<i32>);
unsafe impl Sync for Shared {}
fn main() {
    let value = Shared(UnsafeCell::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| unsafe { *value.0.get() += 1 });
        scope.spawn(|| unsafe { *value.0.get() += 1 });
    });
    assert_eq!(unsafe { *value.0.get() }, 2);
}
