// SPDX-License-Identifier: Apache-2.0
// Generics, closures, trait objects, threads and a panic that is caught.
use std::collections::HashMap;

trait Shape {
    fn area(&self, n: u64) -> u64;
}
struct Square(u64);
struct Comb(Vec<u64>);
impl Shape for Square {
    fn area(&self, n: u64) -> u64 {
        (0..2000).fold(self.0 + n, |a, b| a.wrapping_mul(31).wrapping_add(b))
    }
}
impl Shape for Comb {
    fn area(&self, n: u64) -> u64 {
        self.0.iter().map(|x| x.wrapping_mul(n)).fold(0, u64::wrapping_add)
    }
}

fn sorted(n: u64) -> u64 {
    let mut v: Vec<u64> = (0..3000).map(|x| (x * 7919 + n) % 3001).collect();
    v.sort_by(|a, b| b.cmp(a));
    v[7]
}

fn counted(n: u64) -> usize {
    let mut m: HashMap<String, u64> = HashMap::new();
    for i in 0..400 {
        *m.entry(format!("{}", (i * n) % 97)).or_insert(0) += i;
    }
    m.len()
}

fn round(n: u64) -> u64 {
    let shapes: Vec<Box<dyn Shape>> = vec![Box::new(Square(n)), Box::new(Comb((0..500).collect()))];
    let caught = std::panic::catch_unwind(|| if n % 64 == 63 { std::panic::resume_unwind(Box::new(n)) } else { n });
    shapes.iter().map(|s| s.area(n)).fold(0, u64::wrapping_add) + sorted(n) + counted(n) as u64 + caught.unwrap_or(1)
}

fn main() {
    let first = (0..400).map(round).fold(0, u64::wrapping_add);
    let threads: Vec<_> = (0..2)
        .map(|t| std::thread::spawn(move || (0..3000).map(|n| round(n + t)).fold(0, u64::wrapping_add)))
        .collect();
    let total = threads.into_iter().map(|t| t.join().unwrap()).fold(first, u64::wrapping_add);
    std::process::exit((total == 1) as i32);
}
