// SPDX-License-Identifier: Apache-2.0
// UNCONFIRMED: its order is made inside the precompiled standard library
use std::sync::mpsc;
fn main() {
    let (tx, rx) = mpsc::channel::<Box<i32>>();
    let t = std::thread::spawn(move || { for i in 0..5 { tx.send(Box::new(i)).unwrap(); } });
    let mut sum = 0; for v in rx { sum += *v; }
    t.join().unwrap(); assert_eq!(sum, 10);
}
