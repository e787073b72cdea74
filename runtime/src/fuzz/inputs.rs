//! The mutator of a harness with inputs: which bytes it makes, and where they come from.
//!
//! An execution's bytes are its choices of non-local reads, its inputs, and an extension of the choices. Interference and
//! inputs are changed by themselves more often than together, so that what is right of one is kept while the other is
//! sought.

use std::collections::HashMap;

use super::comparisons::{Compared, directed, record, recorded};
use super::literals::{Literal, Literals, one_of};
use super::mutation;
use crate::harness::AnyHarness;
use crate::input::{Random, Shape, Value, read_all, write_all};
use crate::rounds::descend;

/// The most strings that wait for their turn.
const WAITING: usize = 256;
/// The number of strings that wait for their turn beyond which no more are made.
const ENOUGH: usize = 4;
/// The most comparisons of an execution that are followed.
const FOLLOWED: usize = 8;
/// The number of changes that are tried for a comparison that is new.
const TRIES: usize = 3;
/// The number of comparisons of which it is known how often they were followed.
const REMEMBERED_COMPARISONS: usize = 1 << 16;
/// The number of strings of the corpus that are remembered, to take parts from.
const REMEMBERED: usize = 64;

/// What changes the inputs of one harness.
#[derive(Debug)]
pub(super) struct Mutator {
    shapes: Vec<Shape>,
    /// The number of non-local reads.
    k: usize,
    literals: Option<Literals>,
    random: Random,
    /// Strings made from comparisons; the last one is the next.
    waiting: Vec<Vec<u8>>,
    /// The string that was taken last from those that waited, until it is executed.
    taken: Option<Vec<u8>>,
    /// How often each comparison was followed.
    followed: HashMap<Compared, u32>,
    /// Strings of the corpus.
    remembered: Vec<Vec<u8>>,
}

impl Mutator {
    /// `None`: the harness has no inputs.
    pub(super) fn of(harness: &dyn AnyHarness, k: usize) -> Option<Self> {
        let shapes = harness.shapes();
        let width: usize = shapes.iter().map(Shape::width).sum();
        (width > 0).then(|| Self {
            shapes,
            k,
            literals: None,
            random: Random::new(0),
            waiting: Vec::new(),
            taken: None,
            followed: HashMap::new(),
            remembered: Vec::new(),
        })
    }

    /// Runs the execution of these bytes, and has strings wait that may make its failed comparisons succeed.
    pub(super) fn watch<R>(&mut self, bytes: &[u8], execute: impl FnOnce() -> R) -> R {
        // What a change has broken, a checksum perhaps, the next change may mend.
        let changed = self.taken.take().is_some_and(|taken| taken == bytes);
        if !changed && (self.waiting.len() > ENOUGH || self.random.below(2) == 0) {
            return execute();
        }
        let result = record(execute);
        if self.followed.len() > REMEMBERED_COMPARISONS {
            self.followed.clear();
        }
        // Most of what is compared is always the same; what is new is due to the inputs.
        let mut all: Vec<_> = recorded()
            .into_iter()
            .map(|compared| {
                let times = self.followed.get(&compared).copied().unwrap_or(0);
                (times, self.random.next(), compared)
            })
            .collect();
        all.sort_unstable_by_key(|(times, random, _)| (*times, *random));
        all.truncate(FOLLOWED);
        let inputs = inputs(bytes, self.k);
        let values = read_all(&self.shapes, inputs);
        // What is new comes last, which is what is taken first.
        for (times, _, compared) in all.into_iter().rev() {
            if let Some(directed) = directed(&self.shapes, &values, inputs, &compared) {
                for _ in 0..if times == 0 { TRIES } else { 1 } {
                    let mut values = values.clone();
                    directed.apply(&self.shapes, &mut values, inputs, &mut self.random);
                    let new = with_inputs(bytes, self.k, &self.shapes, &values);
                    self.waiting.push(new);
                }
            }
            self.followed.insert(compared, times + 1);
        }
        let old = self.waiting.len().saturating_sub(WAITING);
        self.waiting.drain(..old);
        result
    }

    /// Makes new bytes out of the first `size` ones of `data`, which is long enough for an execution. `None`: the fuzzer is
    /// to make them.
    pub(super) fn mutate(
        &mut self,
        literals: &'static [Literal],
        data: &mut [u8],
        size: usize,
        seed: u32,
    ) -> Option<usize> {
        self.random = Random::new(u64::from(seed) ^ self.random.next() << 32);
        if self.random.below(2) == 0
            && let Some(next) = self.waiting.pop()
        {
            let length = next.len().min(data.len());
            data[..length].copy_from_slice(&next[..length]);
            self.taken = Some(next);
            return Some(length);
        }
        let old = data[..size].to_vec();
        self.remember(&old);
        let (choices, inputs) = match self.random.below(16) {
            0 => return None,
            1..=4 => (true, false),
            5..=6 => (true, true),
            _ => (false, true),
        };
        let mut new = old;
        if inputs {
            let literals = self.literals.get_or_insert_with(|| Literals::new(literals));
            let mut values = read_all(&self.shapes, self::inputs(&new, self.k));
            let other = one_of(&self.remembered, &mut self.random);
            let others = read_all(&self.shapes, self::inputs(other, self.k));
            mutation::mutate(
                &self.shapes,
                &mut values,
                &others,
                literals,
                &mut self.random,
            );
            new = with_inputs(&new, self.k, &self.shapes, &values);
        }
        if choices && self.k > 0 {
            let parent = new.clone();
            new.resize(new.len().max(2 * self.k), 0);
            descend(&mut new[..2 * self.k], &[&parent], self.k, &mut self.random);
        }
        let length = new.len().min(data.len());
        data[..length].copy_from_slice(&new[..length]);
        Some(length)
    }

    /// Remembers a string of the corpus, in the place of another one where there are enough.
    fn remember(&mut self, bytes: &[u8]) {
        if self.remembered.len() < REMEMBERED {
            self.remembered.push(bytes.to_vec());
        } else if self.random.below(16) == 0 {
            let at = self.random.below(REMEMBERED as u64) as usize;
            self.remembered[at] = bytes.to_vec();
        }
    }
}

/// The bytes of the inputs in an execution's bytes for `k` non-local reads, and what follows.
pub(crate) fn inputs(bytes: &[u8], k: usize) -> &[u8] {
    bytes.get(2 * k..).unwrap_or_default()
}

/// An execution's bytes with these values in the place of its inputs. Choices that are missing before them are none.
pub(crate) fn with_inputs(bytes: &[u8], k: usize, shapes: &[Shape], values: &[Value]) -> Vec<u8> {
    let mut new = bytes[..bytes.len().min(2 * k)].to_vec();
    new.resize(2 * k, crate::engine::NO_MORE);
    write_all(shapes, values, &mut new);
    // The extension stays.
    new.extend(bytes.get(new.len()..).unwrap_or_default());
    new
}
