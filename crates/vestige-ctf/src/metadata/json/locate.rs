//! Finding the fields that lengths and selectors are in (CTF2-SPEC-2.0, section 6.4.2).
//!
//! The specification looks for them while it decodes. Here it happens once: a location
//! leads to one field, or to one in each option of the variants on its way, which are never
//! there at the same time. All of them keep their value in the same slot.

use std::cell::RefCell;
use std::collections::HashMap;

use super::node;
use crate::error::CtfError;
use crate::model::{
    BitMeaning, EventClass, FieldClass, FieldKind, Length, StreamClass, TraceClass,
};

/// The origins in decoding order.
pub const ORIGINS: [&str; 6] = [
    "packet-header",
    "packet-context",
    "event-record-header",
    "event-record-common-context",
    "event-record-specific-context",
    "event-record-payload",
];

/// Index of the event record header among the origins.
const EVENT_HEADER: usize = 2;

/// Most fields that one location may lead to, through the options of variants.
const MAX_TARGETS: usize = 1000;

/// Most members of a structure that are searched one by one.
const FEW_MEMBERS: usize = 64;

/// An error in a location, with the number of its fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// Number of the fragment.
    pub fragment: usize,
    /// What is wrong.
    pub error: CtfError,
}

type Result<T> = std::result::Result<T, Wrong>;

/// A field location and where it stands in the metadata.
#[derive(Debug, Clone)]
pub struct Location {
    /// Index of its origin; `None` is the structure around the field that has it.
    pub origin: Option<usize>,
    /// Names of members; `None` is the structure around the current one.
    pub path: Vec<Option<String>>,
    /// Number of the fragment.
    pub fragment: usize,
    /// Path of the location in the fragment.
    pub place: String,
    /// Byte offset.
    pub offset: usize,
}

impl Location {
    /// The path with its origin, for whoever shows it.
    pub fn shown(&self) -> Vec<String> {
        let origin = self.origin.and_then(|origin| ORIGINS.get(origin));
        let names = self.path.iter().map(|name| name.as_deref().unwrap_or("<parent>").to_owned());
        origin.map(|origin| (*origin).to_owned()).into_iter().chain(names).collect()
    }

    fn error(&self, message: impl std::fmt::Display) -> Wrong {
        let error = node::error(self.fragment, &self.place, self.offset, message);
        Wrong { fragment: self.fragment, error }
    }
}

/// The scopes that are decoded before or with a field; absent ones are `None`.
type Scopes<'a> = [&'a mut Option<FieldClass>; 6];

/// Where a field is: its scope and the indexes that lead to it. The field of an optional
/// and the elements of an array have the index 0.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Position {
    scope: usize,
    path: Vec<usize>,
}

/// A field class that needs the value of another field.
struct User {
    position: Position,
    location: usize,
}

/// What kind of value a location leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unsigned,
    Signed,
    Boolean,
}

/// The slots given so far; those that must be the same one are joined.
#[derive(Default)]
struct Slots {
    joined: Vec<usize>,
    header_needed: bool,
}

impl Slots {
    fn find(&self, slot: usize) -> usize {
        let mut root = slot;
        while let Some(&next) = self.joined.get(root).filter(|&&next| next != root) {
            root = next;
        }
        root
    }

    fn make(&mut self) -> usize {
        self.joined.push(self.joined.len());
        self.joined.len() - 1
    }

    fn join(&mut self, one: usize, other: usize) -> usize {
        let (one, other) = (self.find(one), self.find(other));
        if let Some(next) = self.joined.get_mut(one.max(other)) {
            *next = one.min(other);
        }
        one.min(other)
    }
}

/// Resolves the locations of a trace class whose slots are indexes of `locations`.
///
/// # Errors
///
/// When a location leads nowhere, or to a field that is no number or comes later.
pub fn resolve(trace: &mut TraceClass, locations: &[Location]) -> Result<()> {
    let mut slots = Slots::default();
    let header = &mut trace.packet_header;
    let names = Names::default();
    scopes(&mut [header, &mut None, &mut None, &mut None, &mut None, &mut None], 0..1, &names)
        .resolve(locations, &mut slots)?;
    for stream in &mut trace.stream_classes {
        let StreamClass { packet_context, event_header, event_context, event_classes, .. } = stream;
        names.borrow_mut().clear();
        scopes(
            &mut [header, packet_context, event_header, event_context, &mut None, &mut None],
            1..4,
            &names,
        )
        .resolve(locations, &mut slots)?;
        for EventClass { context, payload, .. } in event_classes {
            // Only what is before the specific context is the same for all event records.
            names.borrow_mut().retain(|position, _| position.scope < 4);
            scopes(
                &mut [header, packet_context, event_header, event_context, context, payload],
                4..6,
                &names,
            )
            .resolve(locations, &mut slots)?;
        }
    }
    for scope in crate::metadata::derive::all_scopes(trace) {
        finish(scope, &slots);
    }
    trace.slot_count = slots.joined.len();
    trace.header_needed = slots.header_needed;
    Ok(())
}

/// The members of structures that have many of them, by name.
type Names = RefCell<HashMap<Position, HashMap<String, usize>>>;

struct Resolver<'a, 'b> {
    scopes: &'b mut Scopes<'a>,
    users: std::ops::Range<usize>,
    names: &'b Names,
}

fn scopes<'a, 'b>(
    scopes: &'b mut Scopes<'a>,
    users: std::ops::Range<usize>,
    names: &'b Names,
) -> Resolver<'a, 'b> {
    Resolver { scopes, users, names }
}

impl Resolver<'_, '_> {
    fn resolve(&mut self, locations: &[Location], slots: &mut Slots) -> Result<()> {
        let mut users = Vec::new();
        for scope in self.users.clone() {
            if let Some(class) = self.scopes.get(scope).and_then(|class| class.as_ref()) {
                collect(class, &mut Position { scope, path: Vec::new() }, &mut users);
            }
        }
        for user in users {
            let Some(location) = locations.get(user.location) else { continue };
            self.connect(&user.position, location, slots)?;
        }
        Ok(())
    }

    fn connect(&mut self, user: &Position, location: &Location, slots: &mut Slots) -> Result<()> {
        let targets = self.locate(location, user)?;
        let mut found = None;
        let mut slot = None;
        for target in &targets {
            if *target >= *user {
                let message = "it leads to a field that is not decoded before this one";
                return Err(location.error(message));
            }
            slots.header_needed |= target.scope == EVENT_HEADER && user.scope > EVENT_HEADER;
            let (kind, existing) = self.field_mut(target).and_then(number).ok_or_else(|| {
                location.error("it leads to a field that is neither an integer nor a boolean")
            })?;
            if *found.get_or_insert(kind) != kind {
                let message = "it leads to fields of different types: expected all unsigned, \
                               all signed or all boolean";
                return Err(location.error(message));
            }
            slot = match (slot, *existing) {
                (Some(one), Some(other)) => Some(slots.join(one, other)),
                (one, other) => one.or(other),
            };
            let given = *slot.get_or_insert_with(|| slots.make());
            *existing = Some(given);
        }
        let (Some(kind), Some(slot)) = (found, slot) else { return Ok(()) };
        match self.field_mut(user) {
            Some(class) => set_slot(class, kind, slot, location),
            None => Ok(()),
        }
    }

    /// The fields that a location leads to from a user.
    fn locate(&self, location: &Location, user: &Position) -> Result<Vec<Position>> {
        let start = match location.origin {
            Some(scope) if scope > user.scope => {
                let message = "it leads to a structure that is decoded later";
                return Err(location.error(message));
            }
            Some(scope) => Position { scope, path: Vec::new() },
            None => self.parent(user).ok_or_else(|| location.error("no structure is around it"))?,
        };
        if self.field(&start).is_none() {
            return Err(location.error("its origin does not exist"));
        }
        let mut current = vec![start];
        for name in &location.path {
            let mut next = Vec::new();
            for position in &current {
                match name {
                    Some(name) => self.enter(location, position, name, user, &mut next)?,
                    None => {
                        let missing = || location.error("no structure is around the current one");
                        next.push(self.parent(position).ok_or_else(missing)?);
                    }
                }
            }
            next.dedup();
            if next.len() > MAX_TARGETS {
                return Err(location.error("it leads to more than 1000 fields"));
            }
            current = next;
        }
        Ok(current)
    }

    /// The innermost structure around a position.
    fn parent(&self, position: &Position) -> Option<Position> {
        let mut parent = position.clone();
        while parent.path.pop().is_some() {
            if matches!(self.field(&parent)?.kind, FieldKind::Structure { .. }) {
                return Some(parent);
            }
        }
        None
    }

    /// Goes to a member of a structure, and into what it really is.
    fn enter(
        &self,
        location: &Location,
        position: &Position,
        name: &str,
        user: &Position,
        found: &mut Vec<Position>,
    ) -> Result<()> {
        let class = self.field(position);
        let members = class.filter(|class| matches!(class.kind, FieldKind::Structure { .. }));
        let members = members.map(FieldClass::members).ok_or_else(|| {
            location.error(format!("member '{name}' of a field that is no structure"))
        })?;
        let index = if members.len() <= FEW_MEMBERS {
            members.iter().position(|member| member.declared_name == name)
        } else {
            let mut names = self.names.borrow_mut();
            let list = names.entry(position.clone()).or_insert_with(|| {
                (0..).zip(members).map(|(index, m)| (m.declared_name.clone(), index)).collect()
            });
            list.get(name).copied()
        };
        let index = index.ok_or_else(|| location.error(format!("no member is named '{name}'")))?;
        let mut member = position.clone();
        member.path.push(index);
        self.open(location, member, user, found)
    }

    /// Replaces an array by its element, an optional by its field and a variant by its
    /// options. Within the one that holds the user only the user's own way counts.
    fn open(
        &self,
        location: &Location,
        position: Position,
        user: &Position,
        found: &mut Vec<Position>,
    ) -> Result<()> {
        let Some(class) = self.field(&position) else { return Ok(()) };
        let inside = (user.scope == position.scope)
            .then(|| user.path.strip_prefix(position.path.as_slice()))
            .flatten()
            .and_then(|rest| rest.first().copied());
        let count = match &class.kind {
            FieldKind::Array { .. } if inside.is_none() => {
                return Err(location.error("it leads through an array that is not around it"));
            }
            FieldKind::Array { .. } | FieldKind::Optional(_) => 1,
            FieldKind::Variant { options, .. } => options.len(),
            _ => {
                found.push(position);
                return Ok(());
            }
        };
        let ways = match inside {
            Some(way) => way..way + 1,
            None => 0..count,
        };
        for way in ways {
            if found.len() > MAX_TARGETS {
                return Err(location.error("it leads to more than 1000 fields"));
            }
            let mut below = position.clone();
            below.path.push(way);
            self.open(location, below, user, found)?;
        }
        Ok(())
    }

    fn field(&self, position: &Position) -> Option<&FieldClass> {
        let mut class = self.scopes.get(position.scope)?.as_ref()?;
        for &index in &position.path {
            class = match &class.kind {
                FieldKind::Array { element, .. } => element,
                FieldKind::Optional(optional) => &optional.field,
                _ => &class.members().get(index)?.class,
            };
        }
        Some(class)
    }

    fn field_mut(&mut self, position: &Position) -> Option<&mut FieldClass> {
        let mut class = self.scopes.get_mut(position.scope)?.as_mut()?;
        for &index in &position.path {
            class = match &mut class.kind {
                FieldKind::Array { element, .. } => element,
                FieldKind::Optional(optional) => &mut optional.field,
                FieldKind::Structure { members: list, .. }
                | FieldKind::Variant { options: list, .. } => &mut list.get_mut(index)?.class,
                _ => return None,
            };
        }
        Some(class)
    }
}

/// Notes each field class that has a location.
fn collect(class: &FieldClass, position: &mut Position, users: &mut Vec<User>) {
    let location = match &class.kind {
        FieldKind::Array { length: Length::Dynamic { slot, .. }, .. } => Some(*slot),
        FieldKind::Variant { selector, .. } => Some(selector.slot),
        FieldKind::Optional(optional) => Some(optional.selector.slot),
        FieldKind::Blob(blob) => match blob.length {
            Length::Dynamic { slot, .. } => Some(slot),
            Length::Static(_) => None,
        },
        FieldKind::Text(text) => match text.length {
            Some(Length::Dynamic { slot, .. }) => Some(slot),
            _ => None,
        },
        _ => None,
    };
    if let Some(location) = location {
        users.push(User { position: position.clone(), location });
    }
    let mut below = |class: &FieldClass, index| {
        position.path.push(index);
        collect(class, position, users);
        position.path.pop();
    };
    match &class.kind {
        FieldKind::Array { element, .. } => below(element, 0),
        FieldKind::Optional(optional) => below(&optional.field, 0),
        _ => {
            for (index, member) in class.members().iter().enumerate() {
                below(&member.class, index);
            }
        }
    }
}

/// The kind of a number and the place of its slot.
fn number(class: &mut FieldClass) -> Option<(Kind, &mut Option<usize>)> {
    let kind = |signed| if signed { Kind::Signed } else { Kind::Unsigned };
    match &mut class.kind {
        FieldKind::Integer(class) | FieldKind::Enumeration(class, _) => {
            Some((kind(class.signed), &mut class.slot))
        }
        FieldKind::VariableLength(class) => Some((kind(class.signed), &mut class.uses.slot)),
        FieldKind::BitArray(class) => match class.meaning {
            BitMeaning::Boolean => Some((Kind::Boolean, &mut class.uses.slot)),
            BitMeaning::Integer { signed, .. } => Some((kind(signed), &mut class.uses.slot)),
            _ => None,
        },
        _ => None,
    }
}

fn set_slot(class: &mut FieldClass, kind: Kind, slot: usize, location: &Location) -> Result<()> {
    let length = match &mut class.kind {
        FieldKind::Array { length, .. } => length,
        FieldKind::Blob(blob) => &mut blob.length,
        FieldKind::Text(text) => match &mut text.length {
            Some(length) => length,
            None => return Ok(()),
        },
        FieldKind::Variant { selector, .. } => {
            if kind == Kind::Boolean {
                return Err(location.error("the selector of a variant must be an integer"));
            }
            selector.slot = slot;
            selector.signed = kind == Kind::Signed;
            return Ok(());
        }
        FieldKind::Optional(optional) => {
            let selector = &mut optional.selector;
            selector.slot = slot;
            selector.signed = kind == Kind::Signed;
            if kind == Kind::Boolean {
                selector.ranges = vec![(1, 1, 0)];
            } else if selector.ranges.is_empty() {
                let message = "the selector is an integer: expected 'selector-field-ranges'";
                return Err(location.error(message));
            }
            return Ok(());
        }
        _ => return Ok(()),
    };
    if kind != Kind::Unsigned {
        return Err(location.error("a length must be an unsigned integer"));
    }
    if let Length::Dynamic { slot: place, .. } = length {
        *place = slot;
    }
    Ok(())
}

/// Puts joined slots everywhere, and tells each optional which slots are in it; returns
/// the slots of the numbers in a field class.
fn finish(class: &mut FieldClass, slots: &Slots) -> Vec<usize> {
    let joined = |slot: &mut usize| *slot = slots.find(*slot);
    if let Some((_, Some(slot))) = number(class) {
        joined(slot);
        return vec![*slot];
    }
    match &mut class.kind {
        FieldKind::Array { element, length, .. } => {
            if let Length::Dynamic { slot, .. } = length {
                joined(slot);
            }
            finish(element, slots)
        }
        FieldKind::Text(text) => {
            if let Some(Length::Dynamic { slot, .. }) = &mut text.length {
                joined(slot);
            }
            Vec::new()
        }
        FieldKind::Blob(blob) => {
            if let Length::Dynamic { slot, .. } = &mut blob.length {
                joined(slot);
            }
            Vec::new()
        }
        FieldKind::Structure { members, .. } => {
            members.iter_mut().flat_map(|member| finish(&mut member.class, slots)).collect()
        }
        FieldKind::Variant { options, selector } => {
            joined(&mut selector.slot);
            options.iter_mut().flat_map(|option| finish(&mut option.class, slots)).collect()
        }
        FieldKind::Optional(optional) => {
            joined(&mut optional.selector.slot);
            optional.slots = finish(&mut optional.field, slots);
            optional.slots.clone()
        }
        _ => Vec::new(),
    }
}
