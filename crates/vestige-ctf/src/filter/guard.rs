//! What must hold of a record's integers before its expression has to run.

use super::step::{Change, Comparison, Step};
use crate::record::{NumberPlace, RunStarts};

/// An integer at a known place that must be in a range, or must not.
#[derive(Debug, Clone, Copy)]
pub struct Guard {
    place: NumberPlace,
    lowest: i64,
    /// From the lowest to the highest.
    width: u64,
    /// Whether it must be in the range.
    inside: bool,
}

impl Guard {
    fn new(place: NumberPlace, comparison: Comparison, value: i64) -> Self {
        let (lowest, highest, inside) = match comparison {
            Comparison::Less => (value, i64::MAX, false),
            Comparison::LessEqual => (i64::MIN, value, true),
            Comparison::Greater => (i64::MIN, value, false),
            Comparison::GreaterEqual => (value, i64::MAX, true),
            Comparison::Equal => (value, value, true),
            Comparison::NotEqual => (value, value, false),
        };
        Self { place, lowest, width: highest.wrapping_sub(lowest) as u64, inside }
    }

    /// Whether it holds of a record whose runs begin at `starts`.
    #[inline(always)]
    pub fn holds(&self, data: &[u8], starts: &RunStarts) -> bool {
        let value = self.place.value(data, starts);
        (value.wrapping_sub(self.lowest) as u64 <= self.width) == self.inside
    }
}

/// The comparisons with which an expression begins and of which each can make it false:
/// they are done while records are found, without the machine.
#[derive(Debug, Clone, Default)]
pub struct Guards {
    /// The comparisons.
    pub all: Vec<Guard>,
    /// Whether they are the whole expression.
    pub decide: bool,
}

impl Guards {
    /// The guards of the steps of an expression; `places` has those of its fields.
    pub fn new(steps: &[Step], places: &[Option<NumberPlace>]) -> Self {
        let (mut guards, mut next) = (Self::default(), 0);
        loop {
            next += match steps.get(next) {
                // Here all before was true: the value is dropped, and it goes on.
                Some(Step::Skip(false, _)) if next > 0 => 1,
                Some(&Step::CompareField(comparison, slot, value)) => {
                    let place = places.get(slot as usize).copied().flatten();
                    let Some(place) = place.filter(|_| ends_false(steps, next + 3)) else { break };
                    guards.all.push(Guard::new(place, comparison, value));
                    // The two steps behind it are done with it.
                    3
                }
                Some(Step::Return) => {
                    guards.decide = next > 0;
                    break;
                }
                _ => break,
            };
        }
        guards
    }
}

/// Whether an expression is false once 0 is all that is on the stack at a step.
fn ends_false(steps: &[Step], mut next: usize) -> bool {
    loop {
        next = match steps.get(next) {
            Some(Step::Return) => return true,
            Some(Step::Change(Change::ToInteger)) => next + 1,
            // Skips only lead forward.
            Some(&Step::Skip(false, target)) if target as usize > next => target as usize,
            _ => return false,
        };
    }
}
