//! Finding the fields that array lengths and variant selectors name.
//!
//! CTF 1.8.3, section 7.3.2: a path is either absolute, from one of the scopes such as
//! `stream.event.header`, or relative to where it is used: searched in the fields before
//! it, innermost structure first. A field that is found gets a *slot*; the decoder stores
//! its value there and the array or variant reads it back.

use std::collections::HashMap;

use super::keywords::SCOPES;
use super::labels::LabelIndex;
use super::lines::ScopeLines;
use crate::error::{CtfError, ErrorKind, Result};
use crate::model::{
    EventClass, FieldClass, FieldKind, IntegerClass, Length, Selector, StreamClass, TraceClass,
};

/// From how many members on a structure gets an index of their names.
const INDEXED: usize = 16;

/// Index of the event record header among the scopes.
const EVENT_HEADER: usize = 2;

/// Position of a field: its scope and the member indexes that lead to it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Position {
    /// Index into the scopes.
    scope: usize,
    /// Member or option index at each level; 0 for the element of an array.
    path: Vec<usize>,
}

/// A dependency: the array or variant at `user` needs the value at `target`.
struct Dependency {
    user: Position,
    target: Position,
}

/// The field that a length or a selector is in.
struct Target {
    slot: usize,
    signed: bool,
    /// Its labels, if it is an enumeration.
    labels: Option<LabelIndex>,
}

type Scopes<'a> = [&'a mut Option<FieldClass>; 6];

/// Resolves all paths of a trace class and gives slots to their targets.
///
/// # Errors
///
/// When a path names no field, or one that is no integer or, for a selector, no enumeration.
pub fn resolve(trace: &mut TraceClass, lines: &ScopeLines) -> Result<()> {
    let mut packet_header = trace.packet_header.take();
    let mut streams = std::mem::take(&mut trace.stream_classes);
    let mut resolver = Resolver::default();
    let result = resolver.resolve_all(&mut packet_header, &mut streams, lines);
    trace.packet_header = packet_header;
    trace.stream_classes = streams;
    trace.slot_count = resolver.slot_count;
    trace.header_needed = resolver.header_needed;
    result
}

#[derive(Default)]
struct Resolver {
    slot_count: usize,
    header_needed: bool,
    /// How many ranges all selectors have together.
    range_count: usize,
    names: NameIndex,
}

impl Resolver {
    fn resolve_all(
        &mut self,
        packet_header: &mut Option<FieldClass>,
        streams: &mut [StreamClass],
        lines: &ScopeLines,
    ) -> Result<()> {
        let mut header =
            [&mut *packet_header, &mut None, &mut None, &mut None, &mut None, &mut None];
        self.resolve_scopes(&mut header, 0..1, |_| lines.of(0, 0, 0))?;
        for stream in streams {
            let StreamClass { id, packet_context, event_header, event_context, .. } = stream;
            let none = (&mut None, &mut None);
            let mut scopes = [
                &mut *packet_header,
                &mut *packet_context,
                &mut *event_header,
                &mut *event_context,
                none.0,
                none.1,
            ];
            self.resolve_scopes(&mut scopes, 1..4, |scope| lines.of(*id, 0, scope))?;
            for (index, event) in stream.event_classes.iter_mut().enumerate() {
                let EventClass { context, payload, .. } = event;
                let mut scopes = [
                    &mut *packet_header,
                    &mut *packet_context,
                    &mut *event_header,
                    &mut *event_context,
                    context,
                    payload,
                ];
                self.resolve_scopes(&mut scopes, 4..6, |scope| lines.of(*id, index, scope))?;
            }
        }
        Ok(())
    }

    /// Resolves the arrays and variants of the `users`; each scope is such a user only once,
    /// but what it refers to may be in all scopes before it.
    fn resolve_scopes(
        &mut self,
        scopes: &mut Scopes<'_>,
        users: std::ops::Range<usize>,
        line: impl Fn(usize) -> Option<u32>,
    ) -> Result<()> {
        let at = |scope| {
            let line = line(scope);
            move |error: CtfError| CtfError { line: error.line.or(line), ..error }
        };
        let mut dependencies = Vec::new();
        for scope in users {
            if let Some(class) = scope_class(scopes, scope) {
                let position = Position { scope, path: Vec::new() };
                let names = &mut self.names;
                let mut walk =
                    Walk { scopes, names, position, around: Vec::new(), found: Vec::new() };
                walk.collect(class).map_err(at(scope))?;
                dependencies.append(&mut walk.found);
            }
        }
        let mut targets = HashMap::new();
        for Dependency { user, target } in dependencies {
            self.header_needed |= target.scope == EVENT_HEADER && user.scope > EVENT_HEADER;
            let scope = user.scope;
            let target = match targets.entry(target) {
                std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
                std::collections::hash_map::Entry::Vacant(entry) => {
                    let target = self.target(scopes, entry.key());
                    entry.insert(target)
                }
            };
            if let Some(user) = field_mut(scopes, &user) {
                self.connect(user, target).map_err(at(scope))?;
            }
        }
        Ok(())
    }

    /// The target at a position, with the slot it has from an earlier event class or a new one.
    fn target(&mut self, scopes: &mut Scopes<'_>, position: &Position) -> Target {
        let kind = field_mut(scopes, position).map(|class| &mut class.kind);
        let (integer, labels) = match kind {
            Some(FieldKind::Integer(integer)) => (integer, None),
            Some(FieldKind::Enumeration(integer, mappings)) => {
                (integer, Some(LabelIndex::new(mappings)))
            }
            _ => return Target { slot: 0, signed: false, labels: None },
        };
        let IntegerClass { slot, signed, .. } = integer;
        let slot = *slot.get_or_insert_with(|| {
            self.slot_count += 1;
            self.slot_count - 1
        });
        Target { slot, signed: *signed, labels }
    }

    fn connect(&mut self, user: &mut FieldClass, target: &Target) -> Result<()> {
        match &mut user.kind {
            FieldKind::Array { length: Length::Dynamic { slot, path }, .. } => {
                if target.signed {
                    return Err(error(format!(
                        "length field '{}' is signed; expected an unsigned integer (CTF 1.8.3, \
                         4.2.4)",
                        path.join(".")
                    )));
                }
                *slot = target.slot;
            }
            FieldKind::Variant { options, selector } => {
                let Some(labels) = &target.labels else {
                    return Err(wrong_selector(selector, "is no enumeration"));
                };
                selector.slot = target.slot;
                selector.signed = target.signed;
                let Some(found) = labels.select(options, self.range_count) else {
                    return Err(error("labels and variants multiply to more than a million"));
                };
                if found.is_empty() && !options.is_empty() {
                    let message = "has no label that is the name of an option";
                    return Err(wrong_selector(selector, message));
                }
                self.range_count += found.len();
                selector.ranges = found;
            }
            _ => {}
        }
        Ok(())
    }
}

fn wrong_selector(selector: &Selector, wrong: &str) -> CtfError {
    let path = selector.path.join(".");
    error(format!(
        "variant selector '{path}' {wrong}; expected an enumeration field that is read before \
         (CTF 1.8.3, 4.2.2)"
    ))
}

fn scope_class<'a>(scopes: &'a Scopes<'_>, scope: usize) -> Option<&'a FieldClass> {
    scopes.get(scope).and_then(|class| class.as_ref())
}

fn error(message: impl Into<String>) -> CtfError {
    CtfError::new(ErrorKind::Metadata, message)
}

/// The members of large structures by their names; small ones are looked through.
///
/// A structure is known by its address, which it keeps while paths are resolved.
#[derive(Default)]
struct NameIndex {
    structures: HashMap<usize, HashMap<String, usize>>,
}

impl NameIndex {
    /// The member of a name, declared or shown, as [`FieldClass::member`] gives it.
    fn member<'a>(&mut self, class: &'a FieldClass, name: &str) -> Option<(usize, &'a FieldClass)> {
        let members = class.members();
        if members.len() < INDEXED {
            return class.member(name);
        }
        let address = std::ptr::from_ref(class) as usize;
        let index = self.structures.entry(address).or_insert_with(|| {
            let declared = members.iter().map(|member| member.declared_name.clone());
            let mut index: HashMap<String, usize> = declared.zip(0..).collect();
            for (place, member) in members.iter().enumerate() {
                if !index.contains_key(member.name()) {
                    index.insert(member.name().to_owned(), place);
                }
            }
            index
        });
        let place = *index.get(name)?;
        members.get(place).map(|member| (place, &member.class))
    }
}

/// A walk through a scope that notes each array and variant with what it depends on.
struct Walk<'a, 'b> {
    scopes: &'a Scopes<'b>,
    names: &'a mut NameIndex,
    position: Position,
    /// The field classes around the current one, outermost first.
    around: Vec<&'a FieldClass>,
    found: Vec<Dependency>,
}

impl<'a> Walk<'a, '_> {
    fn collect(&mut self, class: &'a FieldClass) -> Result<()> {
        match &class.kind {
            FieldKind::Array { element, length, .. } => {
                if let Length::Dynamic { path, .. } = length {
                    self.note(path)?;
                }
                self.inner(class, 0, element)?;
            }
            FieldKind::Structure { members, .. } => {
                for (index, member) in members.iter().enumerate() {
                    self.inner(class, index, &member.class)?;
                }
            }
            FieldKind::Variant { options, selector } => {
                if selector.path.is_empty() {
                    let message = "variant without a selector: expected variant <field> (CTF \
                                   1.8.3, 4.2.2)";
                    return Err(error(message));
                }
                self.note(&selector.path)?;
                for (index, option) in options.iter().enumerate() {
                    self.inner(class, index, &option.class)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn inner(&mut self, outer: &'a FieldClass, index: usize, class: &'a FieldClass) -> Result<()> {
        let compound = matches!(
            class.kind,
            FieldKind::Array { .. } | FieldKind::Structure { .. } | FieldKind::Variant { .. }
        );
        if !compound {
            return Ok(());
        }
        self.around.push(outer);
        self.position.path.push(index);
        self.collect(class)?;
        self.position.path.pop();
        self.around.pop();
        Ok(())
    }

    fn note(&mut self, path: &[String]) -> Result<()> {
        let target = self.locate(path)?;
        self.found.push(Dependency { user: self.position.clone(), target });
        Ok(())
    }

    /// The field that a path names, as seen from here.
    fn locate(&mut self, path: &[String]) -> Result<Position> {
        for (scope, name) in SCOPES.iter().enumerate() {
            let parts = name.split('.').count();
            let (prefix, rest) = path.split_at_checked(parts).unwrap_or_default();
            if rest.is_empty() || !name.split('.').eq(prefix) {
                continue;
            }
            let target = self.descend_scope(scope, rest);
            return target.filter(|target| *target < self.position).ok_or_else(|| {
                let path = path.join(".");
                error(format!("'{path}' names no field that is read before (CTF 1.8.3, 7.3.2)"))
            });
        }
        self.locate_relative(path).ok_or_else(|| {
            error(format!(
                "length or selector '{}' names no field that is read before it (CTF 1.8.3, 7.3.2)",
                path.join(".")
            ))
        })
    }

    /// Innermost enclosing structure first, then the scopes before this one, nearest first.
    fn locate_relative(&mut self, names: &[String]) -> Option<Position> {
        for level in (0..self.around.len()).rev() {
            let class = *self.around.get(level)?;
            let path = self.position.path.get(..level)?.to_vec();
            let root = Position { scope: self.position.scope, path };
            let found = self.descend(class, root, names);
            if let Some(target) = found.filter(|target| *target < self.position) {
                return Some(target);
            }
        }
        (0..self.position.scope).rev().find_map(|scope| self.descend_scope(scope, names))
    }

    fn descend_scope(&mut self, scope: usize, names: &[String]) -> Option<Position> {
        let root = Position { scope, path: Vec::new() };
        self.descend(scope_class(self.scopes, scope)?, root, names)
    }

    fn descend(
        &mut self,
        mut class: &'a FieldClass,
        mut position: Position,
        names: &[String],
    ) -> Option<Position> {
        for name in names {
            let (index, member) = self.names.member(class, name)?;
            position.path.push(index);
            class = member;
        }
        class.as_integer().map(|_| position)
    }
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
