// SPDX-License-Identifier: Apache-2.0
// UNCONFIRMED: its order is made inside the precompiled standard library
use std::sync::{Arc, Condvar, Mutex};
fn main() {
    let pair = Arc::new((Mutex::new(0), Condvar::new()));
    let p = pair.clone();
    let t = std::thread::spawn(move || { *p.0.lock().unwrap() = 5; p.1.notify_one(); });
    let mut g = pair.0.lock().unwrap();
    while *g == 0 { g = pair.1.wait(g).unwrap(); }
    assert_eq!(*g, 5); drop(g); t.join().unwrap();
}
