//! Of which processes and users records are wanted.

use std::collections::HashSet;

use crate::facts::Facts;

/// What is wanted; `None`: all are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tracked {
    pub processes: Option<HashSet<i32>>,
    /// In their namespaces.
    pub inner_processes: Option<HashSet<i32>>,
    pub users: Option<HashSet<u32>>,
    pub inner_users: Option<HashSet<u32>>,
    pub groups: Option<HashSet<u32>>,
    pub inner_groups: Option<HashSet<u32>>,
}

/// Places of the real user and group in [`Facts::ids`].
const USER: usize = 0;
const GROUP: usize = 3;

impl Tracked {
    /// Whether records of a thread are wanted: all of its IDs must be.
    ///
    /// Of what is unknown, none is.
    #[must_use]
    pub fn has(&self, facts: &Facts) -> bool {
        let id = |which| facts.ids.get(which).copied().unwrap_or(u32::MAX);
        has(self.processes.as_ref(), facts.process)
            && has(self.inner_processes.as_ref(), facts.inner[0])
            && has(self.users.as_ref(), id(USER))
            && has(self.inner_users.as_ref(), facts.inner_id(USER))
            && has(self.groups.as_ref(), id(GROUP))
            && has(self.inner_groups.as_ref(), facts.inner_id(GROUP))
    }
}

fn has<T: Eq + std::hash::Hash>(wanted: Option<&HashSet<T>>, one: T) -> bool {
    wanted.is_none_or(|wanted| wanted.contains(&one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ids_must_be_wanted() {
        let facts = Facts { process: 7, ids: [1, 0, 0, 4, 0, 0], ..Facts::default() };
        let of = |processes: &[i32], users: &[u32]| Tracked {
            processes: Some(processes.iter().copied().collect()),
            users: Some(users.iter().copied().collect()),
            ..Tracked::default()
        };

        assert!(Tracked::default().has(&facts));
        assert!(of(&[7, 8], &[1]).has(&facts));
        assert!(!of(&[7, 8], &[2]).has(&facts) && !of(&[], &[1]).has(&facts));
    }

    #[test]
    fn the_unknown_is_not_wanted() {
        let groups = Some(HashSet::from([4]));
        let tracked = Tracked { inner_groups: groups, ..Tracked::default() };

        assert!(!tracked.has(&Facts::default()));
    }
}
