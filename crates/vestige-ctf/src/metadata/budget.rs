//! A bound on what names of types may multiply.
//!
//! A type that is used by its name is copied. In honest metadata the copies are small; in
//! other metadata a page of types, each with two fields of the one before it, would be
//! larger than any memory, and a chain of them deeper than any stack.

use super::parser::Parser;
use super::MAX_TYPE_DEPTH;
use crate::error::Result;
use crate::model::{BitMeaning, EnumerationMapping, FieldClass, FieldKind};

/// How much may be copied altogether: fields, enumeration labels, and 32 bytes of name each.
pub(super) const MAX_COPIED: u64 = 1_000_000;

/// Bytes of a name that weigh as much as a field.
const NAME_UNIT: usize = 32;

impl Parser<'_> {
    /// Takes a copy of a declared type into account.
    pub(super) fn charge_copy(&mut self, class: &FieldClass) -> Result<()> {
        let (weight, depth) = weigh(class);
        self.copied = self.copied.saturating_add(weight);
        if self.copied > MAX_COPIED {
            return Err(self.error("the named types multiply to more than a million fields"));
        }
        self.check_depth(depth)
    }

    /// Refuses a type that is nested deeper than any tracer does.
    pub(super) fn check_nesting(&self, class: &FieldClass) -> Result<()> {
        self.check_depth(weigh(class).1)
    }

    fn check_depth(&self, depth: u32) -> Result<()> {
        if depth > MAX_TYPE_DEPTH {
            return Err(self.error(format!("types are nested more than {MAX_TYPE_DEPTH} deep")));
        }
        Ok(())
    }
}

/// How much there is of a field class, and how deep it goes.
pub(super) fn weigh(class: &FieldClass) -> (u64, u32) {
    let (inner, depth) = match &class.kind {
        FieldKind::Enumeration(_, mappings) => (mappings_weight(mappings), 0),
        FieldKind::Array { element, .. } => weigh(element),
        FieldKind::Optional(optional) => weigh(&optional.field),
        FieldKind::BitArray(class) => (meaning_weight(&class.meaning), 0),
        FieldKind::VariableLength(class) => (mappings_weight(&class.mappings), 0),
        _ => class.members().iter().fold((0, 0), |(weight, depth), member| {
            let (inner, below) = weigh(&member.class);
            (weight + inner + name_weight(&member.declared_name), depth.max(below))
        }),
    };
    (inner + 1, depth + 1)
}

fn mappings_weight(mappings: &[EnumerationMapping]) -> u64 {
    mappings.iter().map(|mapping| name_weight(&mapping.label)).sum()
}

fn meaning_weight(meaning: &BitMeaning) -> u64 {
    match meaning {
        BitMeaning::Flags(mappings) | BitMeaning::Integer { mappings, .. } => {
            mappings_weight(mappings)
        }
        _ => 0,
    }
}

fn name_weight(name: &str) -> u64 {
    1 + (name.len() / NAME_UNIT) as u64
}
