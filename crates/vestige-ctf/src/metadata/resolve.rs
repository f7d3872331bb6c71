//! Finding the fields that array lengths and variant selectors name.
//!
//! CTF 1.8.3, section 7.3.2: a path is either absolute, from one of the scopes such as
//! `stream.event.header`, or relative to where it is used: searched in the fields before
//! it, innermost structure first. A field that is found gets a *slot*; the decoder stores
//! its value there and the array or variant reads it back.

use std::collections::HashMap;

use super::keywords::SCOPES;
use crate::error::{CtfError, ErrorKind, Result};
use crate::model::{
    EventClass, FieldClass, FieldKind, IntegerClass, Length, Selector, StreamClass, TraceClass,
};

/// Position of a field: its scope and the member indexes that lead to it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// Index into the scopes.
    pub scope: usize,
    /// Member or option index at each level; 0 for the element of an array.
    pub path: Vec<usize>,
}

/// The slots given so far.
#[derive(Default)]
struct Slots {
    count: usize,
    header_needed: bool,
}

/// Index of the event record header among the scopes.
const EVENT_HEADER: usize = 2;

/// A dependency: the array or variant at `user` needs the value at `target`.
struct Dependency {
    user: Position,
    target: Position,
}

/// Resolves all paths of a trace class and gives slots to their targets.
///
/// # Errors
///
/// When a path names no field, or one that is no integer or, for a selector, no enumeration.
pub fn resolve(trace: &mut TraceClass) -> Result<()> {
    let mut slots = Slots::default();
    let mut packet_header = trace.packet_header.take();
    let mut streams = std::mem::take(&mut trace.stream_classes);
    let result = resolve_all(&mut packet_header, &mut streams, &mut slots);
    trace.packet_header = packet_header;
    trace.stream_classes = streams;
    trace.slot_count = slots.count;
    trace.header_needed = slots.header_needed;
    result
}

fn resolve_all(
    packet_header: &mut Option<FieldClass>,
    streams: &mut [StreamClass],
    slots: &mut Slots,
) -> Result<()> {
    let mut header = [&mut *packet_header, &mut None, &mut None, &mut None, &mut None, &mut None];
    resolve_scopes(&mut header, 0..1, slots)?;
    for stream in streams {
        let StreamClass { packet_context, event_header, event_context, event_classes, .. } = stream;
        resolve_scopes(
            &mut [packet_header, packet_context, event_header, event_context, &mut None, &mut None],
            1..4,
            slots,
        )?;
        for EventClass { context, payload, .. } in event_classes {
            resolve_scopes(
                &mut [packet_header, packet_context, event_header, event_context, context, payload],
                4..6,
                slots,
            )?;
        }
    }
    Ok(())
}

type Scopes<'a> = [&'a mut Option<FieldClass>; 6];

/// Resolves the arrays and variants of the `users`; each scope is such a user only once,
/// but what it refers to may be in all scopes before it.
fn resolve_scopes(
    scopes: &mut Scopes<'_>,
    users: std::ops::Range<usize>,
    slots: &mut Slots,
) -> Result<()> {
    let mut dependencies = Vec::new();
    for scope in users {
        let mut position = Position { scope, path: Vec::new() };
        if let Some(class) = scope_class(scopes, scope) {
            collect(scopes, class, &mut position, &mut dependencies)?;
        }
    }
    let mut assigned = HashMap::new();
    for Dependency { user, target } in dependencies {
        let target_class = field(scopes, &target).cloned();
        slots.header_needed |= target.scope == EVENT_HEADER && user.scope > EVENT_HEADER;
        let slot =
            *assigned.entry(target.clone()).or_insert_with(|| slot_of(scopes, &target, slots));
        if let (Some(class), Some(user_class)) = (target_class, field_mut(scopes, &user)) {
            connect(user_class, &class, slot)?;
        }
    }
    Ok(())
}

fn scope_class<'a>(scopes: &'a Scopes<'_>, scope: usize) -> Option<&'a FieldClass> {
    scopes.get(scope).and_then(|class| class.as_ref())
}

/// Walks a field class and notes each array or variant that has no slot yet.
fn collect(
    scopes: &Scopes<'_>,
    class: &FieldClass,
    position: &mut Position,
    found: &mut Vec<Dependency>,
) -> Result<()> {
    match &class.kind {
        FieldKind::Array { element, length, .. } => {
            if let Length::Dynamic { path, .. } = length {
                let target = locate(scopes, path, position)?;
                found.push(Dependency { user: position.clone(), target });
            }
            position.path.push(0);
            collect(scopes, element, position, found)?;
            position.path.pop();
        }
        FieldKind::Structure { members, .. } => {
            for (index, member) in members.iter().enumerate() {
                position.path.push(index);
                collect(scopes, &member.class, position, found)?;
                position.path.pop();
            }
        }
        FieldKind::Variant { options, selector } => {
            if selector.path.is_empty() {
                return Err(error("variant without a selector: expected variant <field>"));
            }
            let target = locate(scopes, &selector.path, position)?;
            found.push(Dependency { user: position.clone(), target });
            for (index, option) in options.iter().enumerate() {
                position.path.push(index);
                collect(scopes, &option.class, position, found)?;
                position.path.pop();
            }
        }
        _ => {}
    }
    Ok(())
}

fn error(message: impl Into<String>) -> CtfError {
    CtfError::new(ErrorKind::Metadata, message)
}

/// The field that a path names, as seen from `user`.
fn locate(scopes: &Scopes<'_>, path: &[String], user: &Position) -> Result<Position> {
    let joined = path.join(".");
    for (scope, name) in SCOPES.iter().enumerate() {
        let rest = joined.strip_prefix(name).and_then(|rest| rest.strip_prefix('.'));
        if let Some(rest) = rest {
            let names: Vec<&str> = rest.split('.').collect();
            let root = Position { scope, path: Vec::new() };
            return descend(scopes, &root, &names)
                .filter(|target| *target < *user)
                .ok_or_else(|| error(format!("'{joined}' names no field that is read before")));
        }
    }
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    locate_relative(scopes, &names, user).ok_or_else(|| {
        error(format!("length or selector '{joined}' names no field that is read before it"))
    })
}

/// Innermost enclosing structure first, then the scopes before this one, nearest first.
fn locate_relative(scopes: &Scopes<'_>, names: &[&str], user: &Position) -> Option<Position> {
    let mut root = user.clone();
    while root.path.pop().is_some() {
        let found = descend(scopes, &root, names).filter(|target| target < user);
        if found.is_some() {
            return found;
        }
    }
    (0..user.scope)
        .rev()
        .find_map(|scope| descend(scopes, &Position { scope, path: Vec::new() }, names))
}

fn descend(scopes: &Scopes<'_>, root: &Position, names: &[&str]) -> Option<Position> {
    let mut position = root.clone();
    let mut class = field(scopes, root)?;
    for name in names {
        let (index, member) = class.member(name)?;
        position.path.push(index);
        class = member;
    }
    class.as_integer().map(|_| position)
}

fn field<'a>(scopes: &'a Scopes<'_>, position: &Position) -> Option<&'a FieldClass> {
    let mut class = scope_class(scopes, position.scope)?;
    for &index in &position.path {
        class = match &class.kind {
            FieldKind::Array { element, .. } => element,
            _ => &class.members().get(index)?.class,
        };
    }
    Some(class)
}

fn field_mut<'a>(scopes: &'a mut Scopes<'_>, position: &Position) -> Option<&'a mut FieldClass> {
    let mut class = scopes.get_mut(position.scope)?.as_mut()?;
    for &index in &position.path {
        class = match &mut class.kind {
            FieldKind::Array { element, .. } => element,
            FieldKind::Structure { members: list, .. }
            | FieldKind::Variant { options: list, .. } => &mut list.get_mut(index)?.class,
            _ => return None,
        };
    }
    Some(class)
}

/// The slot of a target: the one it has from an earlier event class, or a new one.
fn slot_of(scopes: &mut Scopes<'_>, target: &Position, slots: &mut Slots) -> usize {
    let integer = field_mut(scopes, target).and_then(|class| match &mut class.kind {
        FieldKind::Integer(class) | FieldKind::Enumeration(class, _) => Some(class),
        _ => None,
    });
    let Some(IntegerClass { slot, .. }) = integer else { return 0 };
    *slot.get_or_insert_with(|| {
        slots.count += 1;
        slots.count - 1
    })
}

fn connect(user: &mut FieldClass, target: &FieldClass, new_slot: usize) -> Result<()> {
    match &mut user.kind {
        FieldKind::Array { length: Length::Dynamic { slot, path }, .. } => {
            if target.as_integer().is_some_and(|class| class.signed) {
                return Err(error(format!("length field '{}' is signed", path.join("."))));
            }
            *slot = new_slot;
            Ok(())
        }
        FieldKind::Variant { options, selector } => {
            let labels: Vec<&str> =
                options.iter().map(|option| option.declared_name.as_str()).collect();
            connect_variant(&labels, selector, target, new_slot)
        }
        _ => Ok(()),
    }
}

fn connect_variant(
    options: &[&str],
    selector: &mut Selector,
    target: &FieldClass,
    slot: usize,
) -> Result<()> {
    let FieldKind::Enumeration(container, mappings) = &target.kind else {
        let path = selector.path.join(".");
        return Err(error(format!("variant selector '{path}' is no enumeration")));
    };
    selector.slot = slot;
    selector.signed = container.signed;
    let exact: HashMap<&str, usize> = options.iter().copied().zip(0..).collect();
    let bare = options.iter().rev().zip((0..options.len()).rev());
    let bare: HashMap<&str, usize> =
        bare.filter_map(|(name, index)| Some((name.strip_prefix('_')?, index))).collect();
    let option = |label: &str| exact.get(label).or_else(|| bare.get(label)).copied();
    selector.ranges = mappings
        .iter()
        .filter_map(|mapping| Some((mapping.lower, mapping.upper, option(&mapping.label)?)))
        .collect();
    Ok(())
}
