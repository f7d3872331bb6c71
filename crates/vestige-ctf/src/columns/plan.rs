//! How the event records of a data stream get into columns.

use std::collections::HashMap;

use super::gather::{EventEntries, Members, StreamEntries};
use super::layout::StreamInput;
use super::node::Node;
use super::types::Column;
use crate::model::{EventClass, FieldClass};

/// How the event records of a data stream get into columns.
#[derive(Debug, Default)]
pub struct StreamPlan {
    /// ID of the data stream.
    pub id: u64,
    /// Index of the name of its trace.
    pub trace: u64,
    /// Whether its records have a time.
    pub timed: bool,
    /// The packet context, if any of its fields is wanted.
    pub packet: Option<Node>,
    /// The columns of its fields, if each of them is a number: then one decoding will do.
    pub packet_numbers: Option<Vec<usize>>,
    /// The event record classes.
    pub events: Vec<EventPlan>,
}

/// How the event records of a class get into columns.
#[derive(Debug, Default)]
pub struct EventPlan {
    /// Index of the name of the class.
    pub name: Option<u64>,
    /// What the body holds, up to the last wanted field.
    pub scopes: Vec<Node>,
}

/// The plan of a data stream; `fields` are the wanted columns by their entries.
pub fn stream_plan(
    input: &StreamInput,
    entries: &StreamEntries,
    fields: &HashMap<usize, Column>,
    trace: u64,
    names: &HashMap<String, u64>,
) -> StreamPlan {
    let stream = &input.stream;
    let Some(class) = stream.trace.stream_classes.get(stream.class) else {
        return StreamPlan::default();
    };
    let common = class.event_context.as_ref().map(|scope| node(scope, &entries.common, fields));
    let events = class.event_classes.iter().zip(&entries.events).map(|(event, entries)| {
        entries.as_ref().map_or_else(EventPlan::default, |entries| {
            event_plan(event, common.clone(), entries, fields, names)
        })
    });
    let mut packet = class.packet_context.as_ref().map(|s| node(s, &entries.packet, fields));
    packet.as_mut().map(Node::trim);
    let packet = packet.filter(Node::is_wanted);
    StreamPlan {
        id: input.id,
        trace,
        timed: stream.has_clock(),
        packet_numbers: packet.as_ref().and_then(Node::numbers),
        packet,
        events: events.collect(),
    }
}

fn event_plan(
    event: &EventClass,
    common: Option<Node>,
    entries: &EventEntries,
    fields: &HashMap<usize, Column>,
    names: &HashMap<String, u64>,
) -> EventPlan {
    let specific = event.context.as_ref().map(|scope| node(scope, &entries.specific, fields));
    let payload = event.payload.as_ref().map(|scope| node(scope, &entries.payload, fields));
    let mut scopes: Vec<Node> = [common, specific, payload].into_iter().flatten().collect();
    while scopes.last().is_some_and(|scope| !scope.is_wanted()) {
        scopes.pop();
    }
    scopes.last_mut().map(Node::trim);
    EventPlan { name: event.name.as_ref().and_then(|name| names.get(name).copied()), scopes }
}

/// The node of a scope, whose members go to columns of their own.
fn node(scope: &FieldClass, members: &Members, fields: &HashMap<usize, Column>) -> Node {
    let columns = members.iter().map(|entry| entry.and_then(|entry| fields.get(&entry)));
    Node::scope(scope, columns)
}
