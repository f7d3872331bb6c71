//! How the event records of a data stream get into columns.

use std::collections::HashMap;

use super::gather::{EventEntries, Members, StreamEntries};
use super::layout::StreamInput;
use super::node::Node;
use super::types::Column;
use crate::model::{EnvironmentValue, EventClass, FieldClass};
use crate::scope::{Origin, OriginField, Scope};
use crate::stream::DataStream;

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
    /// Columns in which all records have the same number.
    pub constants: Vec<(usize, u64)>,
}

/// The plan of a data stream; `fields` are the wanted columns by their entries, `origins`
/// those of [`Origin::NUMBERS`].
pub fn stream_plan(
    input: &StreamInput,
    entries: &StreamEntries,
    fields: &HashMap<usize, Column>,
    origins: &[Option<usize>],
    trace: u64,
    names: &HashMap<String, u64>,
) -> StreamPlan {
    let stream = &input.stream;
    let Some(class) = stream.trace.stream_classes.get(stream.class) else {
        return StreamPlan::default();
    };
    let mut nodes = Nodes { stream, fields, packet: None };
    nodes.packet = class.packet_context.as_ref().map(|scope| nodes.node(scope, &entries.packet));
    let common = class.event_context.as_ref().map(|scope| nodes.node(scope, &entries.common));
    let mut events = Vec::with_capacity(class.event_classes.len());
    for (index, (event, entries)) in class.event_classes.iter().zip(&entries.events).enumerate() {
        events.push(entries.as_ref().map_or_else(EventPlan::default, |entries| {
            let name = event.name.as_ref().and_then(|name| names.get(name).copied());
            let found = nodes.origins(index, origins);
            let scopes = nodes.scopes(event, common.clone(), entries, &found);
            let constant = |&(field, to)| Some((to, constant(stream, field)?));
            EventPlan { name, scopes, constants: found.iter().filter_map(constant).collect() }
        }));
    }
    let mut packet = nodes.packet;
    packet.as_mut().map(Node::trim);
    let packet = packet.filter(Node::is_wanted);
    StreamPlan {
        id: input.id,
        trace,
        timed: stream.has_clock(),
        packet_numbers: packet.as_ref().and_then(Node::numbers),
        packet,
        events,
    }
}

/// Makes the nodes of a data stream.
struct Nodes<'a> {
    stream: &'a DataStream,
    fields: &'a HashMap<usize, Column>,
    packet: Option<Node>,
}

impl Nodes<'_> {
    /// The node of a scope, whose members go to columns of their own.
    fn node(&self, scope: &FieldClass, members: &Members) -> Node {
        let columns = members.iter().map(|entry| entry.and_then(|entry| self.fields.get(&entry)));
        Node::scope(scope, columns)
    }

    /// The fields that tell where the records of an event record class come from, with the
    /// columns that they go to.
    fn origins(&self, event: usize, origins: &[Option<usize>]) -> Vec<(OriginField, usize)> {
        let wanted = Origin::NUMBERS.into_iter().zip(origins);
        wanted.filter_map(|(origin, to)| Some((origin.find(self.stream, event)?, (*to)?))).collect()
    }

    /// The scopes of the body of an event record class, up to the last wanted field.
    fn scopes(
        &mut self,
        event: &EventClass,
        mut common: Option<Node>,
        entries: &EventEntries,
        origins: &[(OriginField, usize)],
    ) -> Vec<Node> {
        let mut specific = event.context.as_ref().map(|scope| self.node(scope, &entries.specific));
        let payload = event.payload.as_ref().map(|scope| self.node(scope, &entries.payload));
        for (field, to) in origins {
            let OriginField::Member(scope, member) = field else { continue };
            let node = match scope {
                Scope::Packet => &mut self.packet,
                Scope::Common => &mut common,
                Scope::Specific => &mut specific,
                Scope::Payload => continue,
            };
            if let Some(node) = node {
                node.also_to(*member, *to);
            }
        }
        let mut scopes: Vec<Node> = [common, specific, payload].into_iter().flatten().collect();
        while scopes.last().is_some_and(|scope| !scope.is_wanted()) {
            scopes.pop();
        }
        scopes.last_mut().map(Node::trim);
        scopes
    }
}

/// The number that an entry of the environment is.
fn constant(stream: &DataStream, field: OriginField) -> Option<u64> {
    let OriginField::Environment(entry) = field else { return None };
    match stream.trace.environment.get(entry)? {
        (_, EnvironmentValue::Integer(value)) => Some(*value as u64),
        (_, EnvironmentValue::String(_)) => None,
    }
}
