//! The body of a structure or a variant while it is read.

use std::collections::{HashMap, HashSet};

use crate::model::{FieldKind, Member};

/// The body of a structure or a variant that is being read.
#[derive(Default)]
pub(super) struct OpenBody {
    pub(super) members: Vec<Member>,
    /// Index of a member by its declared name.
    pub(super) declared: HashMap<String, usize>,
    /// Index of the first member with a name to show, where that is another one.
    pub(super) shown: HashMap<String, usize>,
    /// Whether its fields lie one behind the other: the options of a variant do not.
    pub(super) structure: bool,
    /// Labels of the enumerations among the members that select options.
    pub(super) labels: HashMap<usize, HashSet<String>>,
}

impl OpenBody {
    /// Index of a member by a name that it has.
    pub(super) fn index(&self, name: &str) -> Option<usize> {
        self.declared.get(name).or_else(|| self.shown.get(name)).copied()
    }

    /// Whether one of the options has the name of a label of an enumeration.
    pub(super) fn selects(&mut self, index: usize, options: &[Member]) -> bool {
        let Some(member) = self.members.get(index) else { return true };
        let FieldKind::Enumeration(_, mappings) = &member.class.kind else { return false };
        let labels = self
            .labels
            .entry(index)
            .or_insert_with(|| mappings.iter().map(|mapping| mapping.label.clone()).collect());
        options
            .iter()
            .any(|option| labels.contains(&option.declared_name) || labels.contains(option.name()))
    }
}
