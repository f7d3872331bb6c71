//! Which columns the fields of many event record classes become, and which they share.

use std::collections::HashMap;

use super::layout::Options;
use super::naming::member_names;
use super::types::ColumnType;
use crate::model::{FieldClass, FieldKind, StreamClass};
use crate::scope::Scope;

/// Fields of one name, one scope and one type.
#[derive(Debug)]
pub struct Entry {
    /// The scope.
    pub scope: Scope,
    /// The name of the fields.
    pub name: String,
    /// The type that holds all of them.
    pub kind: ColumnType,
    /// How many event record classes have it.
    pub users: usize,
    /// Whether a field may have no value.
    pub optional: bool,
    /// Whether an entry of the same name and another type came before.
    pub again: bool,
}

/// For each member of a scope its entry, or `None` for one that is not shown.
pub type Members = Vec<Option<usize>>;

/// The entries of an event record class.
#[derive(Debug, Default)]
pub struct EventEntries {
    /// Of its specific context.
    pub specific: Members,
    /// Of its payload.
    pub payload: Members,
}

/// The entries of a stream class.
#[derive(Debug, Default)]
pub struct StreamEntries {
    /// Of its packet context.
    pub packet: Members,
    /// Of its common context.
    pub common: Members,
    /// Of its event record classes; `None` for those that are not wanted.
    pub events: Vec<Option<EventEntries>>,
}

/// All entries, in the order in which they were met.
#[derive(Debug, Default)]
pub struct Gathered {
    /// The entries.
    pub entries: Vec<Entry>,
    index: HashMap<(Scope, String), Vec<usize>>,
    /// How many event record classes there are.
    pub classes: usize,
}

impl Gathered {
    /// Gathers the fields of a stream class and of those of its event record classes that
    /// are wanted; all if `wanted` is absent.
    pub fn stream(
        &mut self,
        class: &StreamClass,
        wanted: Option<&[bool]>,
        options: &Options,
    ) -> StreamEntries {
        let is_wanted =
            |index: usize| wanted.is_none_or(|wanted| wanted.get(index).copied().unwrap_or(false));
        let count = (0..class.event_classes.len()).filter(|&index| is_wanted(index)).count();
        if count == 0 {
            return StreamEntries::default();
        }
        self.classes += count;
        let packet = self.scope(Scope::Packet, class.packet_context.as_ref(), count, options);
        let common = self.scope(Scope::Common, class.event_context.as_ref(), count, options);
        let mut events = Vec::with_capacity(class.event_classes.len());
        for (index, event) in class.event_classes.iter().enumerate() {
            events.push(is_wanted(index).then(|| EventEntries {
                specific: self.scope(Scope::Specific, event.context.as_ref(), 1, options),
                payload: self.scope(Scope::Payload, event.payload.as_ref(), 1, options),
            }));
        }
        StreamEntries { packet, common, events }
    }

    fn scope(
        &mut self,
        scope: Scope,
        class: Option<&FieldClass>,
        users: usize,
        options: &Options,
    ) -> Members {
        let members = class.map_or(&[][..], FieldClass::members);
        let mut found = Vec::with_capacity(members.len());
        for (name, member) in member_names(members).into_iter().zip(members) {
            // What a packet context tells the reader about the packet is no fact of an event.
            let shown = scope != Scope::Packet || member.class.visible;
            let kind = || ColumnType::of(&member.class, options);
            let optional = may_be_missing(&member.class);
            found.push(shown.then(|| {
                let index = self.add(scope, name, kind(), users);
                if let Some(entry) = self.entries.get_mut(index) {
                    entry.optional |= optional;
                }
                index
            }));
        }
        found
    }

    fn add(&mut self, scope: Scope, name: String, kind: ColumnType, users: usize) -> usize {
        let known = self.index.entry((scope, name.clone())).or_default();
        for &index in known.iter() {
            let Some(entry) = self.entries.get_mut(index) else { continue };
            if let Some(merged) = entry.kind.merged(&kind) {
                entry.kind = merged;
                entry.users += users;
                return index;
            }
        }
        let index = self.entries.len();
        let again = !known.is_empty();
        known.push(index);
        self.entries.push(Entry { scope, name, kind, users, optional: false, again });
        index
    }
}

/// Whether a field may have no value: an optional one, or an integer without a limit, which
/// its column may not hold.
fn may_be_missing(class: &FieldClass) -> bool {
    matches!(class.kind, FieldKind::Optional(_) | FieldKind::VariableLength(_))
}
