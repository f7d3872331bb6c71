//! How long the complete calls of each function took.

use std::cmp::Reverse;

use super::histogram::Histograms;
use super::longest::{LongCall, Longest};

/// How long the calls of all functions took.
#[derive(Debug, Clone)]
pub struct Durations {
    histograms: Histograms,
    longest: Longest,
    functions: u32,
}

/// How long the calls of a function took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionDurations {
    /// Index of the function.
    pub function: u32,
    /// Index and count of each bucket with any; see [`super::histogram::bounds`].
    pub buckets: Vec<(usize, u64)>,
    /// Its longest calls, the longest first.
    pub longest: Vec<LongCall>,
}

impl Durations {
    /// Keeps so many of the longest calls of each function.
    #[must_use]
    pub fn new(longest: usize) -> Self {
        let histograms = Histograms::default();
        Self { histograms, longest: Longest::new(longest), functions: 0 }
    }

    /// Adds a complete call of a function at a node of the call tree.
    #[inline]
    pub fn add(&mut self, function: u32, node: u32, begin: i64, duration: u64) {
        self.functions = self.functions.max(function.saturating_add(1));
        self.histograms.add(function, duration);
        self.longest.add(function, LongCall { duration, begin: Reverse(begin), node });
    }

    /// How long calls took, for each function that has all of its calls in a histogram.
    #[must_use]
    pub fn of_functions(&self) -> Vec<FunctionDurations> {
        let of_function = |function| {
            let buckets = self.histograms.buckets(function).filter(|all| !all.is_empty())?;
            Some(FunctionDurations { function, buckets, longest: self.longest.calls(function) })
        };
        (0..self.functions).filter_map(of_function).collect()
    }
}
