// SPDX-License-Identifier: Apache-2.0
// UNCONFIRMED: threads that meet are ordered inside the precompiled standard library
use std::sync::{Arc, Mutex};
fn main() {
    let sum = Arc::new(Mutex::new(0));
    let threads: Vec<_> = (0..3).map(|i| { let sum = sum.clone(); std::thread::spawn(move || { *sum.lock().unwrap() += i; }) }).collect();
    for t in threads { t.join().unwrap(); }
    assert_eq!(*sum.lock().unwrap(), 3);
}
