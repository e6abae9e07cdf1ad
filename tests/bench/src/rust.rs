use std::collections::{BTreeMap, HashMap};
trait Shape {
    fn area(&self) -> f64;
    fn kids(&self) -> &[Box<dyn Shape>];
}
struct Leaf(f64);
struct Group {
    k: Vec<Box<dyn Shape>>,
}
impl Shape for Leaf {
    fn area(&self) -> f64 {
        (self.0 * 1.1).sqrt().ln_1p()
    }
    fn kids(&self) -> &[Box<dyn Shape>] {
        &[]
    }
}
impl Shape for Group {
    fn area(&self) -> f64 {
        self.k
            .iter()
            .map(|x| x.area())
            .fold(0.0, |a, b| a * 0.5 + b)
    }
    fn kids(&self) -> &[Box<dyn Shape>] {
        &self.k
    }
}
fn mk(d: u32, r: &mut u64) -> Box<dyn Shape> {
    *r = r
        .wrapping_mul(6364136223846793005)
        .wrapping_add(1442695040888963407);
    if d == 0 {
        Box::new(Leaf((*r >> 40) as f64))
    } else {
        Box::new(Group {
            k: (0..3 + (*r >> 62)).map(|_| mk(d - 1, r)).collect(),
        })
    }
}
#[inline(never)]
fn count(s: &dyn Shape) -> usize {
    1 + s.kids().iter().map(|k| count(k.as_ref())).sum::<usize>()
}
#[inline(never)]
fn words(n: u64) -> u64 {
    let mut m: HashMap<String, u64> = HashMap::new();
    let mut r = n;
    for i in 0..60000u64 {
        r = r.wrapping_mul(6364136223846793005).wrapping_add(i);
        *m.entry(format!("w{}", (r >> 45) % 5000)).or_insert(0) += 1;
    }
    let b: BTreeMap<_, _> = m.into_iter().collect();
    b.iter().map(|(k, v)| k.len() as u64 * v).sum()
}
#[inline(never)]
fn sieve(n: usize) -> usize {
    let mut s = vec![true; n];
    let mut i = 2;
    while i * i < n {
        if s[i] {
            (i * i..n).step_by(i).for_each(|j| s[j] = false);
        }
        i += 1;
    }
    s.iter().filter(|x| **x).count()
}
#[inline(never)]
fn sorts(r: u64) -> u64 {
    let mut v: Vec<(u64, String)> = (0..20000u64)
        .map(|i| {
            let x = (i ^ r).wrapping_mul(0x9E3779B97F4A7C15);
            (x % 1000, format!("{x:x}"))
        })
        .collect();
    v.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| b.1.cmp(&a.1)));
    v[77].0
}
fn parse(s: &str) -> Result<i64, std::num::ParseIntError> {
    s.split(',').map(|x| x.trim().parse::<i64>()).sum()
}
fn main() {
    let n: u64 = std::env::args()
        .nth(1)
        .and_then(|x| x.parse().ok())
        .unwrap_or(10);
    let mut r = 1;
    let t = mk(9, &mut r);
    let mut a = 0.0;
    let mut c = 0u64;
    let line = (0..2000)
        .map(|i| i.to_string())
        .collect::<Vec<_>>()
        .join(", ");
    for i in 0..n {
        a += t.area();
        c += count(t.as_ref()) as u64;
        c += words(i);
        c += sieve(600000) as u64;
        c += sorts(i);
        for _ in 0..30 {
            c += parse(&line).unwrap() as u64;
        }
    }
    println!("{a} {c}");
}
