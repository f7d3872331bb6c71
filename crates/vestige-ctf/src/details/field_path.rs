//! Where the field is that a length or a selector refers to.

use crate::model::{FieldClass, FieldKind, Length, Selector};

/// The scopes in which a field of an event record or a packet may look, by their names.
pub type Scopes<'a> = [(&'static str, Option<&'a FieldClass>)];

/// A step of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The member or the option at an index, among those that are shown.
    Index(usize),
    /// The element that is being looked at.
    Current,
}

/// A field that is referred to.
pub struct Found<'a> {
    /// The scope it is in.
    pub scope: &'static str,
    /// The way to it.
    pub steps: Vec<Step>,
    /// Its class.
    pub class: &'a FieldClass,
}

/// The field that keeps its value in a slot, unless it is in a header.
pub fn field_of_slot<'a>(scopes: &Scopes<'a>, slot: usize) -> Option<Found<'a>> {
    scopes.iter().find_map(|&(scope, class)| {
        let mut steps = Vec::new();
        let class = find(class?, slot, &mut steps)?;
        Some(Found { scope, steps, class })
    })
}

/// The field that a dynamic length refers to.
pub fn field_of_length<'a>(scopes: &Scopes<'a>, length: &Length) -> Option<Found<'a>> {
    match length {
        Length::Static(_) => None,
        Length::Dynamic { slot, .. } => field_of_slot(scopes, *slot),
    }
}

/// The field that a selector refers to.
pub fn field_of_selector<'a>(scopes: &Scopes<'a>, selector: &Selector) -> Option<Found<'a>> {
    field_of_slot(scopes, selector.slot)
}

fn find<'a>(class: &'a FieldClass, slot: usize, steps: &mut Vec<Step>) -> Option<&'a FieldClass> {
    let own = match &class.kind {
        FieldKind::Integer(integer) | FieldKind::Enumeration(integer, _) => integer.slot,
        FieldKind::BitArray(bits) => bits.uses.slot,
        FieldKind::VariableLength(number) => number.uses.slot,
        _ => None,
    };
    if own == Some(slot) {
        return class.visible.then_some(class);
    }
    let inside: Vec<(Step, &FieldClass)> = match &class.kind {
        FieldKind::Array { element, .. } => vec![(Step::Current, element)],
        FieldKind::Optional(optional) => vec![(Step::Current, &optional.field)],
        _ => {
            let shown = class.members().iter().filter(|member| member.class.visible);
            shown.enumerate().map(|(at, member)| (Step::Index(at), &member.class)).collect()
        }
    };
    for (step, inner) in inside {
        steps.push(step);
        if let Some(found) = find(inner, slot, steps) {
            return Some(found);
        }
        steps.pop();
    }
    None
}
