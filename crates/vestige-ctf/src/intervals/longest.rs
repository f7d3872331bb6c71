//! The longest calls of each function.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How many calls are kept, of all functions together: 24 MiB.
const MOST_CALLS: usize = 1 << 20;

/// A complete call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LongCall {
    /// How long it took, nanoseconds.
    pub duration: u64,
    /// When it began, nanoseconds; of calls that took as long, the first one is longer.
    pub begin: Reverse<i64>,
    /// Its node in the call tree.
    pub node: u32,
}

/// The longest calls of all functions.
#[derive(Debug, Clone)]
pub struct Longest {
    most: usize,
    functions: Vec<BinaryHeap<Reverse<LongCall>>>,
    kept: usize,
}

impl Longest {
    /// Keeps so many calls of each function.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { most, functions: Vec::new(), kept: 0 }
    }

    /// Adds a call of a function.
    #[inline]
    pub fn add(&mut self, function: u32, call: LongCall) {
        let function = function as usize;
        if function >= self.functions.len() {
            self.functions.resize_with(function + 1, BinaryHeap::new);
        }
        let Some(calls) = self.functions.get_mut(function) else { return };
        if calls.len() < self.most {
            if self.kept < MOST_CALLS {
                self.kept += 1;
                calls.push(Reverse(call));
            }
        } else if let Some(mut least) = calls.peek_mut() {
            if call > least.0 {
                least.0 = call;
            }
        }
    }

    /// The calls of a function, the longest first.
    #[must_use]
    pub fn calls(&self, function: u32) -> Vec<LongCall> {
        let calls = self.functions.get(function as usize).cloned().unwrap_or_default();
        calls.into_sorted_vec().into_iter().map(|Reverse(call)| call).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(duration: u64, begin: i64) -> LongCall {
        LongCall { duration, begin: Reverse(begin), node: 0 }
    }

    #[test]
    fn the_longest_are_kept_and_of_equal_ones_the_first() {
        let mut longest = Longest::new(3);
        for begin in 0..100 {
            longest.add(1, call(begin as u64 * 37 % 50, begin));
        }
        let expected = [call(49, 27), call(49, 77), call(48, 4)];
        assert_eq!(longest.calls(1), expected);
        assert_eq!(longest.calls(0), []);
        assert_eq!(longest.calls(2), []);
    }

    #[test]
    fn none_are_kept_if_none_are_wanted() {
        let mut longest = Longest::new(0);
        longest.add(0, call(1, 1));
        assert_eq!(longest.calls(0), []);
    }
}
