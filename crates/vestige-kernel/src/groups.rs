//! Which thread group a thread is of, as far as it is known.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The parent's flag that the child is a thread of its group (clone(2)).
const CLONE_THREAD: u64 = 0x1_0000;
/// Nobody knows.
pub const UNKNOWN: i32 = -1;

/// The thread groups that all CPUs share.
#[derive(Default)]
pub struct ThreadGroups(Mutex<HashMap<i32, i32>>);

impl ThreadGroups {
    /// The groups of threads that are there already, by thread.
    #[must_use]
    pub fn new(known: HashMap<i32, i32>) -> Self {
        Self(Mutex::new(known))
    }

    /// Learns the groups of more threads.
    pub fn learn(&self, known: HashMap<i32, i32>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(known);
    }

    /// The group of a thread, or [`UNKNOWN`].
    #[must_use]
    pub fn of(&self, thread: i32) -> i32 {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&thread).copied().unwrap_or(UNKNOWN)
    }

    /// The groups of a parent and its new child, of which the flags of clone(2) are known or not.
    pub fn fork(&self, parent: i32, child: i32, flags: Option<u64>) -> (i32, i32) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_parent = known.get(&parent).copied().unwrap_or(UNKNOWN);
        let of_child = match flags {
            None => UNKNOWN,
            Some(flags) if flags & CLONE_THREAD == 0 => child,
            Some(_) => of_parent,
        };
        if of_child == UNKNOWN {
            // Its ID may have been another thread's.
            known.remove(&child);
        } else {
            known.insert(child, of_child);
        }
        (of_parent, of_child)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_threads_or_processes() {
        let groups = ThreadGroups::new(HashMap::from([(10, 10)]));

        assert_eq!(groups.fork(10, 11, Some(CLONE_THREAD)), (10, 10));
        assert_eq!(groups.fork(11, 12, Some(0)), (10, 12));
        assert_eq!(groups.fork(12, 13, None), (12, UNKNOWN));
        assert_eq!(groups.fork(99, 14, Some(CLONE_THREAD)), (UNKNOWN, UNKNOWN));
        assert_eq!((groups.of(11), groups.of(13)), (10, UNKNOWN));
    }
}
