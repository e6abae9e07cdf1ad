// SPDX-License-Identifier: Apache-2.0
// Iterators, generics, traits, closures: deep inlining.
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::rc::Rc;

trait Score {
    fn score(&self) -> u64;
    fn twice(&self) -> u64 {
        self.score() * 2
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Word(String);

impl Score for Word {
    fn score(&self) -> u64 {
        self.0.bytes().map(|b| u64::from(b)).fold(7, |a, b| a.wrapping_mul(31).wrapping_add(b))
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "<{}>", self.0)
    }
}

mod tree {
    pub enum Tree<T: Ord> {
        Leaf,
        Node(Box<Tree<T>>, T, Box<Tree<T>>),
    }

    impl<T: Ord> Tree<T> {
        pub fn insert(self, value: T) -> Tree<T> {
            match self {
                Tree::Leaf => Tree::Node(Box::new(Tree::Leaf), value, Box::new(Tree::Leaf)),
                Tree::Node(l, v, r) => {
                    if value < v {
                        Tree::Node(Box::new(l.insert(value)), v, r)
                    } else {
                        Tree::Node(l, v, Box::new(r.insert(value)))
                    }
                }
            }
        }
        pub fn depth(&self) -> usize {
            match self {
                Tree::Leaf => 0,
                Tree::Node(l, _, r) => 1 + l.depth().max(r.depth()),
            }
        }
    }
}

fn index(text: &str) -> HashMap<Word, Vec<usize>> {
    let mut map: HashMap<Word, Vec<usize>> = HashMap::new();
    for (i, w) in text.split_whitespace().filter(|w| w.len() > 2).enumerate() {
        map.entry(Word(w.to_lowercase())).or_default().push(i);
    }
    map
}

fn parse(text: &str) -> Result<Vec<i64>, std::num::ParseIntError> {
    text.split(',').map(str::trim).map(|s| s.parse::<i64>()).collect()
}

fn main() {
    let text = "the quick brown fox jumps over the lazy dog while the other foxes sleep";
    let found = index(text);
    let sorted: BTreeMap<_, _> = found.iter().map(|(w, v)| (w.clone(), v.len())).collect();
    let best = sorted.iter().max_by_key(|(w, n)| (w.twice(), **n)).map(|(w, _)| w.to_string());
    let mut t = tree::Tree::Leaf;
    for w in text.split(' ') {
        t = t.insert(Rc::new(w.chars().rev().collect::<String>()));
    }
    let sum: i64 = parse("1, 2, 3, 40").map(|v| v.into_iter().filter(|x| x % 2 == 0).sum()).unwrap_or(-1);
    println!("{:?} {} {} {:?}", best, t.depth(), sum, parse("x").is_err());
}
