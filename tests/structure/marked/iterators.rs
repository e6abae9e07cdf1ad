// SPDX-License-Identifier: Apache-2.0
// Rust iterators: the head of a `for` is the code of `next`, inlined from the library.
use std::env;

#[inline(never)]
fn total(values: &[f64]) -> f64 {
    let mut sum = 0.0;
    for value in values.iter() { // loop 1 in total
        sum += value / (sum * sum + 1.0);
    }
    sum
}

#[inline(never)]
fn product(a: &[f64], b: &[f64], c: &mut [f64], n: usize) {
    for i in 0..n { // loop 1 in product
        for j in 0..n { // loop 2 in product
            let mut sum = 0.0;
            for k in 0..n { // loop 3 in product
                sum += a[i * n + k] * b[k * n + j];
            }
            c[i * n + j] = sum;
        }
    }
}

#[inline(never)]
fn chunks(bytes: &[u8]) -> u64 {
    let mut hash = 7u64;
    for chunk in bytes.chunks(13) { // loop 1 in chunks
        for byte in chunk { // loop 2 in chunks
            hash = (hash ^ *byte as u64).wrapping_mul(1099511628211);
        }
        hash ^= hash >> 7;
    }
    hash
}

#[inline(never)]
fn words(text: &str) -> usize {
    let mut n = 0;
    let mut inside = false;
    for c in text.bytes() { // loop 1 in words
        match (inside, c) {
            (false, b' ') => {}
            (false, _) => {
                inside = true;
                n += 1;
            }
            (true, b' ') => inside = false,
            (true, _) => {}
        }
    }
    n
}

#[inline(never)]
fn collatz(mut n: u64) -> u32 {
    let mut steps = 0;
    while n != 1 { // loop 1 in collatz
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    steps
}

#[inline(never)]
fn find(table: &[u32], width: usize, wanted: u32) -> Option<usize> {
    let mut row = 0;
    'rows: loop { // loop 1 in find
        if (row + 1) * width > table.len() {
            return None;
        }
        for column in 0..width { // loop 2 in find
            let cell = table[row * width + column];
            if cell == wanted {
                return Some(row * width + column);
            }
            if cell > wanted {
                row += 1;
                continue 'rows;
            }
        }
        row += 2;
    }
}

#[inline(never)]
fn scaled(values: &mut Vec<f64>, by: f64) {
    for (i, value) in values.iter_mut().enumerate() { // loop 1 in scaled
        *value = *value * by + i as f64;
    }
}

fn main() {
    let n = env::args().count();
    let (size, width) = (15 + n, 9 + n);
    let mut values: Vec<f64> = (0..n * 1000).map(|i| i as f64).collect();
    let table: Vec<u32> = (0..n * 100).map(|i| (i * i % 97) as u32).collect();
    let text = env::args().next().unwrap();
    let mut c = vec![0.0; size * size];
    scaled(&mut values, 0.5);
    product(&values[..256], &values[300..556], &mut c, size);
    println!(
        "{} {} {} {} {} {:?}",
        total(&values),
        c[n],
        chunks(text.as_bytes()),
        words(&text),
        collatz(27 + n as u64),
        find(&table, width, 50)
    );
}
