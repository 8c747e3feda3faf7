// SPDX-License-Identifier: Apache-2.0
// UNCONFIRMED: threads that meet are ordered inside the precompiled standard library
fn main() {
    let mut data = vec![1, 2, 3, 4];
    let (a, b) = data.split_at_mut(2);
    std::thread::scope(|s| { s.spawn(|| a[0] = 10); s.spawn(|| b[0] = 20); });
    assert_eq!(data, [10, 2, 20, 4]);
}
