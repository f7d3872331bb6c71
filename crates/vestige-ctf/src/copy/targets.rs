//! Where the fields are that lengths and selectors need, and how a field names another one.

use std::collections::HashMap;

use crate::model::{FieldClass, FieldKind, Member, TraceClass};

/// A step from a structure to one of its members, or from a variant to one of its options.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step<'a> {
    /// Where it leads.
    pub member: &'a Member,
    /// Whether it leads to an option.
    pub is_option: bool,
}

impl Step<'_> {
    fn is(&self, other: &Step<'_>) -> bool {
        std::ptr::eq(self.member, other.member)
    }
}

/// Where a field is. Elements of arrays and what is in optional fields have no step of their own.
#[derive(Debug, Clone, Default)]
pub(super) struct Place<'a> {
    /// Index of the scope in decoding order: packet header, packet context, event record
    /// header, common context, specific context, payload.
    pub scope: usize,
    /// The steps from the structure of the scope.
    pub steps: Vec<Step<'a>>,
}

/// The scope of packet headers.
pub(super) const PACKET_HEADER: usize = 0;
/// The scope of packet contexts.
pub(super) const PACKET_CONTEXT: usize = 1;
/// The scope of event record headers.
pub(super) const EVENT_HEADER: usize = 2;
/// The scope of the common context.
pub(super) const COMMON_CONTEXT: usize = 3;
/// The scope of the context of an event record class.
pub(super) const SPECIFIC_CONTEXT: usize = 4;
/// The scope of the payload.
pub(super) const PAYLOAD: usize = 5;

/// How a field names another one of its scope.
pub(super) struct Relative<'p, 'a> {
    /// How many structures out from the one around the field.
    pub levels: usize,
    /// The steps from there.
    pub steps: &'p [Step<'a>],
}

impl<'a> Place<'a> {
    /// The structures around it: after how many steps each begins.
    fn structures(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        let members = self.steps.iter().enumerate().filter(|(_, step)| !step.is_option);
        members.map(|(depth, _)| depth)
    }

    /// How the field here names a field of the same scope.
    pub fn relative<'p>(&self, target: &'p Place<'a>) -> Relative<'p, 'a> {
        let pairs = self.steps.iter().zip(&target.steps);
        let shared = pairs.take_while(|(one, other)| one.is(other)).count();
        let inner = self.structures().filter(|depth| *depth > shared).count();
        let start = self.structures().rfind(|depth| *depth <= shared).unwrap_or(0);
        Relative { levels: inner, steps: target.steps.get(start..).unwrap_or_default() }
    }
}

/// The places of the fields whose values are kept, by their slots.
pub(super) type Targets<'a> = HashMap<usize, Place<'a>>;

/// Finds them in a trace class.
pub(super) fn targets(trace: &TraceClass) -> Targets<'_> {
    let mut found = Targets::new();
    for (scope, class) in scopes(trace) {
        note(class, &mut Place { scope, steps: Vec::new() }, &mut found);
    }
    found
}

/// All scopes of a trace class with their indexes, in decoding order for each event record class.
pub(super) fn scopes(trace: &TraceClass) -> impl Iterator<Item = (usize, &FieldClass)> {
    let header = trace.packet_header.iter().map(|class| (PACKET_HEADER, class));
    header.chain(trace.stream_classes.iter().flat_map(|stream| {
        let own = [
            (PACKET_CONTEXT, &stream.packet_context),
            (EVENT_HEADER, &stream.event_header),
            (COMMON_CONTEXT, &stream.event_context),
        ];
        let events = stream
            .event_classes
            .iter()
            .flat_map(|event| [(SPECIFIC_CONTEXT, &event.context), (PAYLOAD, &event.payload)]);
        own.into_iter().chain(events).filter_map(|(scope, class)| Some((scope, class.as_ref()?)))
    }))
}

/// The slot of a number.
pub(super) fn slot_of(class: &FieldClass) -> Option<usize> {
    match &class.kind {
        FieldKind::Integer(integer) | FieldKind::Enumeration(integer, _) => integer.slot,
        FieldKind::BitArray(bits) => bits.uses.slot,
        FieldKind::VariableLength(integer) => integer.uses.slot,
        _ => None,
    }
}

fn note<'a>(class: &'a FieldClass, here: &mut Place<'a>, found: &mut Targets<'a>) {
    if let Some(slot) = slot_of(class) {
        // A location of CTF 2 may lead to a field in each option: one of them tells the way.
        found.entry(slot).or_insert_with(|| here.clone());
    }
    match &class.kind {
        FieldKind::Array { element, .. } => note(element, here, found),
        FieldKind::Optional(optional) => note(&optional.field, here, found),
        _ => {
            let is_option = matches!(class.kind, FieldKind::Variant { .. });
            for member in class.members() {
                here.steps.push(Step { member, is_option });
                note(&member.class, here, found);
                here.steps.pop();
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::metadata::parse;

    #[test]
    fn a_field_is_named_from_the_structure_that_is_around_both() {
        let text = "trace { major = 1; minor = 8; byte_order = le; };\n\
            typealias integer { size = 8; } := u8;\n\
            event { name = e; fields := struct { struct { u8 n; struct { u8 a[n]; } inner; } s; \
            u8 b[s.n]; }; };";
        let trace = parse(text.as_bytes()).unwrap();
        let payload = trace.stream_classes.first().unwrap().event_classes.first().unwrap();
        let found = targets(&trace);
        let target = found.values().next().unwrap();
        let shown = |names: &[&str]| {
            let mut here = Place { scope: PAYLOAD, steps: Vec::new() };
            let mut class = payload.payload.as_ref().unwrap();
            for name in names {
                let member = class.members().iter().find(|one| one.name() == *name).unwrap();
                here.steps.push(Step { member, is_option: false });
                class = &member.class;
            }
            let relative = here.relative(target);
            let names: Vec<&str> = relative.steps.iter().map(|step| step.member.name()).collect();
            (relative.levels, names.join("."))
        };
        assert_eq!(shown(&["s", "inner", "a"]), (1, "n".to_owned()));
        assert_eq!(shown(&["b"]), (0, "s.n".to_owned()));
    }
}
