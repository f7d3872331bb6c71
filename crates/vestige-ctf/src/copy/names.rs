//! Names in the other version of the format, and the labels that select options there.

use std::collections::{HashMap, HashSet};

use super::facts::Version;
use super::targets::{scopes, slot_of};
use crate::model::{
    BitMeaning, EnumerationMapping, FieldClass, FieldKind, Member, OptionalClass, Selector,
    TraceClass,
};

/// What a member or an option, or the two options of what was an optional field, are called.
#[derive(Debug, Default)]
pub(super) struct Names {
    members: HashMap<*const Member, String>,
    presence: HashMap<*const OptionalClass, [String; 2]>,
    /// The labels of the numbers that select something, by their slots.
    labels: HashMap<usize, Vec<EnumerationMapping>>,
}

impl Names {
    /// The names of everything in a trace class.
    pub fn new(trace: &TraceClass, version: Version) -> Self {
        let mut names = Self::default();
        for (_, class) in scopes(trace) {
            names.visit(class, version);
        }
        names
    }

    /// The name of a member or an option.
    pub fn of<'a>(&'a self, member: &'a Member) -> &'a str {
        self.members.get(&std::ptr::from_ref(member)).map_or(&member.declared_name, String::as_str)
    }

    /// The names of the options of what is optional: without and with the field.
    pub fn presence(&self, class: &OptionalClass) -> [&str; 2] {
        let names = self.presence.get(&std::ptr::from_ref(class));
        names.map_or(["none", "content"], |[none, content]| [none, content])
    }

    /// The labels that a number must have to select options, when it selects any.
    pub fn labels(&self, class: &FieldClass) -> Option<&[EnumerationMapping]> {
        self.labels.get(&slot_of(class)?).map(Vec::as_slice)
    }

    fn visit(&mut self, class: &FieldClass, version: Version) {
        match &class.kind {
            FieldKind::Array { element, .. } => self.visit(element, version),
            FieldKind::Optional(optional) => {
                if version == Version::Old {
                    self.add_presence(optional);
                }
                self.visit(&optional.field, version);
            }
            FieldKind::Structure { members, .. } => {
                self.add_members(members, version);
                members.iter().for_each(|member| self.visit(&member.class, version));
            }
            FieldKind::Variant { options, selector } => {
                self.add_members(options, version);
                if version == Version::Old && options.iter().all(|option| option.verbatim) {
                    self.add_options(options, selector);
                }
                options.iter().for_each(|option| self.visit(&option.class, version));
            }
            _ if version == Version::Old => {
                let mappings = mappings_of(class);
                if let Some(slot) = slot_of(class).filter(|_| !mappings.is_empty()) {
                    self.labels.entry(slot).or_insert_with(|| mappings.to_vec());
                }
            }
            _ => {}
        }
    }

    fn add_members(&mut self, members: &[Member], version: Version) {
        let mut taken = HashSet::new();
        for member in members {
            let mut name = match (version, member.verbatim) {
                (Version::Old, true) => identifier(&member.declared_name),
                (Version::Old, false) => member.declared_name.clone(),
                (Version::New, _) => member.name().to_owned(),
            };
            if !taken.insert(name.clone()) {
                name = unique(&member.declared_name, |name| taken.insert(name.to_owned()));
            }
            self.members.insert(member, name);
        }
    }

    /// Gives the selector of a variant a label for each option.
    fn add_options(&mut self, options: &[Member], selector: &Selector) {
        for (index, option) in options.iter().enumerate() {
            let ranges = selector.ranges.iter().filter(|range| range.2 == index);
            let ranges: Vec<_> = ranges.map(|range| (range.0, range.1)).collect();
            let name = self.option_name(index, &option.declared_name, selector.slot, &ranges);
            let name = self.add_label(selector.slot, name, &ranges);
            self.members.insert(option, name);
        }
    }

    /// The name of an option: that of the label that selects it, if there is one already.
    fn option_name(
        &self,
        index: usize,
        declared: &str,
        slot: usize,
        ranges: &[(i128, i128)],
    ) -> String {
        let protected = identifier(declared);
        // Readers remove an underscore in front of it.
        let plain = is_identifier(declared) && !declared.starts_with('_') && !is_keyword(declared);
        let is_label = |name: &&str| {
            let labels = self.labels.get(&slot).into_iter().flatten();
            let found = labels.filter(|one| one.label == **name);
            found.map(|one| (one.lower, one.upper)).eq(ranges.iter().copied())
        };
        let names = [plain.then_some(declared), Some(protected.as_str())];
        let there = names.into_iter().flatten().find(is_label).map(str::to_owned);
        there.unwrap_or_else(|| match plain {
            true => declared.to_owned(),
            false if declared.is_empty() => format!("option{index}"),
            false => protected.clone(),
        })
    }

    fn add_presence(&mut self, optional: &OptionalClass) {
        let selector = &optional.selector;
        let there: Vec<_> = selector.ranges.iter().map(|range| (range.0, range.1)).collect();
        let absent = complement(&there, selector.signed);
        let none = self.add_label(selector.slot, "none".to_owned(), &absent);
        let content = self.add_label(selector.slot, "content".to_owned(), &there);
        self.presence.insert(optional, [none, content]);
    }

    /// Adds a label with its ranges, unless it is there; returns its name, or that of another
    /// one when it has other ranges.
    fn add_label(&mut self, slot: usize, name: String, ranges: &[(i128, i128)]) -> String {
        let labels = self.labels.entry(slot).or_default();
        let ranges_of = |name: &str| {
            let found = labels.iter().filter(|one| one.label == name);
            found.map(|one| (one.lower, one.upper)).collect::<Vec<_>>()
        };
        let is_free = |name: &str| {
            let there = ranges_of(name);
            there.is_empty() || there == ranges
        };
        let name = if is_free(&name) { name } else { unique(&name, is_free) };
        if ranges_of(&name).is_empty() {
            let mapping = |&(lower, upper): &(i128, i128)| EnumerationMapping {
                label: name.clone(),
                lower,
                upper,
            };
            labels.extend(ranges.iter().map(mapping));
        }
        name
    }
}

/// The labels of a number, whatever its encoding.
pub(super) fn mappings_of(class: &FieldClass) -> &[EnumerationMapping] {
    match &class.kind {
        FieldKind::Enumeration(_, mappings) => mappings,
        FieldKind::VariableLength(class) => &class.mappings,
        FieldKind::BitArray(class) => match &class.meaning {
            BitMeaning::Integer { mappings, .. } => mappings,
            _ => &[],
        },
        _ => &[],
    }
}

/// What a selector of 64 bits can be besides some ranges.
fn complement(ranges: &[(i128, i128)], signed: bool) -> Vec<(i128, i128)> {
    let (lowest, highest) = match signed {
        true => (i64::MIN.into(), i64::MAX.into()),
        false => (0, u64::MAX.into()),
    };
    let mut sorted = ranges.to_vec();
    sorted.sort_unstable();
    let mut rest = Vec::new();
    let mut next: i128 = lowest;
    for (lower, upper) in sorted {
        if lower > next {
            rest.push((next, lower - 1));
        }
        next = next.max(upper + 1);
    }
    if next <= highest {
        rest.push((next, highest));
    }
    rest
}

fn unique(name: &str, mut is_free: impl FnMut(&str) -> bool) -> String {
    let mut number = 0;
    loop {
        let tried = format!("{name}_{number}");
        if is_free(&tried) {
            return tried;
        }
        number += 1;
    }
}

/// A name that TSDL takes, which readers show as it was: they remove the underscore.
pub(super) fn identifier(name: &str) -> String {
    format!("_{}", plain_identifier(name))
}

/// A name of letters, digits and underscores.
pub(super) fn plain_identifier(name: &str) -> String {
    let usable = |one: char| if one.is_ascii_alphanumeric() { one } else { '_' };
    name.chars().map(usable).collect()
}

/// Whether TSDL takes a name (CTF 1.8.3, C.1.2), keywords aside.
pub(super) fn is_identifier(name: &str) -> bool {
    let first = name.chars().next().is_some_and(|one| one.is_ascii_alphabetic() || one == '_');
    first && name.chars().all(|one| one.is_ascii_alphanumeric() || one == '_')
}

/// Whether a word is a keyword of TSDL.
pub(super) fn is_keyword(word: &str) -> bool {
    crate::metadata::is_keyword(word)
}
