//! Names of columns and of members, each unique among its neighbours.

use std::collections::HashSet;

use crate::model::Member;

/// The first of `name`, `name_2`, `name_3`, … that is not taken; it is taken from then on.
pub fn unique(name: &str, taken: &mut HashSet<String>) -> String {
    let mut candidate = name.to_owned();
    let mut number = 2usize;
    while !taken.insert(candidate.clone()) {
        candidate = format!("{name}_{number}");
        number += 1;
    }
    candidate
}

/// The names of members as columns: without the underscore that protects them, and unique.
pub fn member_names(members: &[Member]) -> Vec<String> {
    let mut taken = HashSet::with_capacity(members.len());
    let name = |(index, member): (usize, &Member)| match member.name() {
        "" => unique(&format!("option_{index}"), &mut taken),
        name => unique(name, &mut taken),
    };
    members.iter().enumerate().map(name).collect()
}
