//! The trace class of a copy.

use std::sync::Arc;

use super::added::AddedField;
use super::error::CopyError;
use super::facts::{kept_members, Facts, StreamFacts, Version};
use super::names::Names;
use super::targets::targets;
use super::{fragments, tsdl};
use crate::encode::value::Value;
use crate::metadata;
use crate::model::{FieldClass, FieldKind, Member, Role, StreamClass, TraceClass};

/// What a copy is to have.
#[derive(Debug, Clone)]
pub struct CopyOptions {
    /// Version of its format.
    pub version: Version,
    /// Whether it tells how many event records were discarded.
    pub discarded_events: bool,
    /// Whether its sequence numbers tell how many packets were discarded.
    pub discarded_packets: bool,
    /// Whether all clocks count from the Unix epoch, whatever the metadata say.
    pub epoch_origin: bool,
    /// What filters add to the common context.
    pub added: Vec<AddedField>,
}

/// The trace class of a copy, and where it came from.
#[derive(Debug)]
pub struct CopyLayout {
    /// The trace class of what is copied.
    pub source: Arc<TraceClass>,
    /// That of the copy, as its readers will find it.
    pub target: Arc<TraceClass>,
    /// Its metadata.
    pub metadata: String,
    /// Whether sequence numbers tell of discarded packets.
    pub discarded_packets: bool,
    /// For each stream class what filters add, and what records get that have none of it.
    pub(super) added: Vec<Vec<(AddedField, Value)>>,
}

impl CopyLayout {
    /// The layout of copies of a trace.
    ///
    /// # Errors
    ///
    /// When the version cannot have one of its field classes.
    pub fn new(source: Arc<TraceClass>, options: &CopyOptions) -> Result<Self, CopyError> {
        let mut extended = TraceClass::clone(&source);
        let mut added = vec![Vec::new(); source.stream_classes.len()];
        for field in &options.added {
            let stream = extended.stream_classes.get_mut(field.stream);
            if let (Some(stream), Some(fields)) = (stream, added.get_mut(field.stream)) {
                add_member(stream, field.member());
                fields.push((field.clone(), field.nothing()));
            }
        }
        for stream in &extended.stream_classes {
            check_context(stream)?;
        }
        let facts = Facts {
            trace: &extended,
            streams: extended.stream_classes.iter().map(|one| stream_facts(one, options)).collect(),
            epoch_origin: options.epoch_origin,
        };
        let names = Names::new(&extended, options.version);
        let targets = targets(&extended);
        let text = match options.version {
            Version::Old => tsdl::print(&facts, &names, &targets)?,
            Version::New => fragments::print(&facts, &names, &targets)?,
        };
        let target = metadata::parse(text.as_bytes())
            .map_err(|error| CopyError::metadata(error.to_string()))?;
        let discarded_packets = options.discarded_packets;
        Ok(Self { source, target: Arc::new(target), metadata: text, discarded_packets, added })
    }
}

/// Appends a member to the common context.
fn add_member(stream: &mut StreamClass, member: Member) {
    let empty = || FieldClass::new(FieldKind::Structure { members: Vec::new(), alignment: 1 });
    let context = stream.event_context.get_or_insert_with(empty);
    if let FieldKind::Structure { members, alignment } = &mut context.kind {
        *alignment = (*alignment).max(member.class.alignment());
        members.push(member);
    }
}

/// The names of the members that each packet context of a copy has.
const PACKET_MEMBERS: [&str; 6] = [
    "packet_size",
    "content_size",
    "timestamp_begin",
    "timestamp_end",
    "events_discarded",
    "packet_seq_num",
];

fn check_context(stream: &StreamClass) -> Result<(), CopyError> {
    let Some(context) = &stream.packet_context else { return Ok(()) };
    match kept_members(context).find(|member| PACKET_MEMBERS.contains(&member.name())) {
        None => Ok(()),
        Some(member) => {
            let message = "each packet context of the copy has a member of this name";
            Err(CopyError::metadata(message).within(member.name()).within("packet context"))
        }
    }
}

fn stream_facts(stream: &StreamClass, options: &CopyOptions) -> StreamFacts {
    let has = |role: Role| {
        let members = stream.packet_context.as_ref().map_or(&[][..], FieldClass::members);
        members.iter().any(|member| match &member.class.kind {
            FieldKind::Integer(one) | FieldKind::Enumeration(one, _) => one.role == Some(role),
            FieldKind::BitArray(bits) => bits.uses.roles.contains(&role),
            FieldKind::VariableLength(one) => one.uses.roles.contains(&role),
            _ => false,
        })
    };
    let has_clock = stream.clock.is_some();
    StreamFacts {
        has_beginning: has_clock && has(Role::PacketBeginning),
        has_end: has_clock && has(Role::PacketEnd),
        has_discarded_events: options.discarded_events && has(Role::EventsDiscarded),
    }
}
