//! What a trace is made of, as its metadata declares it: trace class, stream classes, event
//! record classes, field classes, clock classes. No I/O and no text format in here.

use std::collections::BTreeMap;

mod identity;
mod scalars;

pub use identity::{Attributes, ClockOrigin, Identity};
pub use scalars::{
    BitArrayClass, BitMeaning, BlobClass, StringEncoding, TextClass, Uses, VariableLengthClass,
};

/// Byte order of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ByteOrder {
    /// Least significant byte first.
    #[default]
    Little,
    /// Most significant byte first.
    Big,
}

/// The base in which the tracer wants an integer to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DisplayBase {
    /// Base 2.
    Binary,
    /// Base 8.
    Octal,
    /// Base 10.
    Decimal,
    /// Base 16.
    Hexadecimal,
}

/// Text encoding of an integer element or of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// No text: a number.
    None,
    /// UTF-8, or its subset ASCII.
    Utf8,
}

/// What a field means to the reader itself, beside its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// `magic` of the packet header: 0xC1FC1FC1.
    Magic,
    /// `stream_id` of the packet header.
    StreamClassId,
    /// `stream_instance_id` of the packet header.
    DataStreamId,
    /// `packet_size` of the packet context, bits.
    PacketSize,
    /// `content_size` of the packet context, bits.
    ContentSize,
    /// `timestamp_begin` of the packet context.
    PacketBeginning,
    /// `timestamp_end` of the packet context.
    PacketEnd,
    /// `events_discarded` of the packet context.
    EventsDiscarded,
    /// `packet_seq_num` of the packet context.
    PacketSequenceNumber,
    /// `id` of the event record header.
    EventClassId,
    /// A time stamp of the default clock, before it is known where it stands.
    Timestamp,
}

/// An integer field class, also the container of an enumeration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntegerClass {
    /// Size in bits, 1 to 64.
    pub size: u32,
    /// Alignment in bits, a power of two.
    pub alignment: u32,
    /// Whether it is two's complement.
    pub signed: bool,
    /// Byte order.
    pub order: ByteOrder,
    /// Preferred base.
    pub base: DisplayBase,
    /// Encoding when it is an element of a text array.
    pub encoding: Encoding,
    /// Index of the clock class that the value updates.
    pub clock: Option<usize>,
    /// What the value means to the reader.
    pub role: Option<Role>,
    /// Where to keep the value, when a length or a selector needs it.
    pub slot: Option<usize>,
    /// Whether its value has to be noted: it has a clock, a role or a slot.
    pub noted: bool,
}

/// One label of an enumeration with one of its ranges, both ends included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnumerationMapping {
    /// The label.
    pub label: String,
    /// Lowest value.
    pub lower: i128,
    /// Highest value.
    pub upper: i128,
}

/// A member of a structure or an option of a variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The name as the metadata has it; empty for an option that has none.
    pub declared_name: String,
    /// Whether the name is shown as it is declared, as those of CTF 2.
    pub verbatim: bool,
    /// The field class.
    pub class: FieldClass,
    /// What the producer tells about it.
    pub attributes: Attributes,
}

/// An attribute of members that are made for the decoder alone.
const HIDDEN: &str = "\"vestige:hidden\"";

impl Member {
    /// Whether it is made for the decoder alone, and never shown.
    #[must_use]
    pub fn is_hidden(&self) -> bool {
        self.attributes.as_deref().is_some_and(|text| text.contains(HIDDEN))
    }

    /// A member as CTF 1.8 declares it.
    #[must_use]
    pub fn new(declared_name: String, class: FieldClass) -> Self {
        Self { declared_name, verbatim: false, class, attributes: None }
    }

    /// The name to show: CTF 1.8.3 (section 7.3.1) lets a tracer prefix any identifier
    /// with an underscore to keep it apart from keywords; readers remove it.
    #[must_use]
    pub fn name(&self) -> &str {
        match self.declared_name.strip_prefix('_') {
            Some(name) if !self.verbatim => name,
            _ => &self.declared_name,
        }
    }
}

/// A field class and what the reader derived about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldClass {
    /// The kind with its properties.
    pub kind: FieldKind,
    /// Whether it is shown: fields that only serve the decoder are not.
    pub visible: bool,
    /// Size in bits when it is the same for every field once aligned.
    pub fixed_size: Option<u64>,
    /// Least alignment in bits that an array has beside that of its elements.
    pub minimum_alignment: u32,
    /// What the producer tells about it.
    pub attributes: Attributes,
}

/// The kinds of field class of CTF 1.8 and CTF 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldKind {
    /// Integer.
    Integer(IntegerClass),
    /// Enumeration: an integer with labels.
    Enumeration(IntegerClass, Vec<EnumerationMapping>),
    /// Floating point number of 32 or 64 bits.
    Float {
        /// Size in bits.
        size: u32,
        /// Alignment in bits.
        alignment: u32,
        /// Byte order.
        order: ByteOrder,
    },
    /// NUL-terminated string.
    String,
    /// Array of a fixed or of a dynamic length.
    Array {
        /// The element class.
        element: Box<FieldClass>,
        /// Where the length comes from.
        length: Length,
        /// Whether it is shown as a string.
        text: bool,
    },
    /// Structure.
    Structure {
        /// The members in order.
        members: Vec<Member>,
        /// Alignment in bits: the greatest of its own minimum and of its members'.
        alignment: u32,
    },
    /// Variant: one of several options.
    Variant {
        /// The options.
        options: Vec<Member>,
        /// What selects the option.
        selector: Selector,
    },
    /// Bits: bit arrays, bit maps, booleans, integers and floats of unusual sizes.
    BitArray(Box<BitArrayClass>),
    /// Integer in the LEB128 encoding.
    VariableLength(Box<VariableLengthClass>),
    /// String with a length, or in UTF-16 or UTF-32.
    Text(TextClass),
    /// Bytes with a media type.
    Blob(Box<BlobClass>),
    /// A field that may be there or not.
    Optional(Box<OptionalClass>),
}

/// A field that may be there or not (CTF2-SPEC-2.0, section 5.3.22).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionalClass {
    /// The field when it is there.
    pub field: FieldClass,
    /// What tells whether it is there: any of its ranges. A boolean counts as 0 or 1.
    pub selector: Selector,
    /// Slots of values inside of the field, which are unknown when it is not there.
    pub slots: Vec<usize>,
}

/// The length of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Length {
    /// Known from the metadata.
    Static(u64),
    /// The value of another field, by the path the metadata gives and, once resolved, its slot.
    Dynamic {
        /// Path of the length field.
        path: Vec<String>,
        /// Slot of its value.
        slot: usize,
    },
}

/// What selects the option of a variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector {
    /// Path of the selector field.
    pub path: Vec<String>,
    /// Slot of its value.
    pub slot: usize,
    /// Whether that value is signed.
    pub signed: bool,
    /// Ranges with the index of the option they select, in the order of their values and
    /// disjoint once the trace class is derived; before, the first that holds counts.
    pub ranges: Vec<(i128, i128, usize)>,
}

/// A clock class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClockClass {
    /// Its name.
    pub name: String,
    /// Its UUID.
    pub uuid: Option<[u8; 16]>,
    /// Free text.
    pub description: Option<String>,
    /// Cycles per second, never 0.
    pub frequency: u64,
    /// Random error in cycles, when known.
    pub precision: Option<u64>,
    /// Systematic error in cycles, when known.
    pub accuracy: Option<u64>,
    /// Offset from the origin, whole seconds.
    pub offset_seconds: i64,
    /// Offset from the origin, cycles beside the seconds.
    pub offset_cycles: u64,
    /// Whether it is a global clock.
    pub absolute: bool,
    /// Where its values count from; CTF 1.8 knows only `absolute`.
    pub origin: ClockOrigin,
    /// Namespace, name and unique ID.
    pub identity: Identity,
}

impl ClockClass {
    /// A clock with what CTF 1.8.3, section 8, takes where the metadata say nothing.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            uuid: None,
            description: None,
            frequency: 1_000_000_000,
            precision: None,
            accuracy: None,
            offset_seconds: 0,
            offset_cycles: 0,
            absolute: false,
            origin: ClockOrigin::Unknown,
            identity: Identity::default(),
        }
    }

    /// Nanoseconds from the origin at the clock value 0.
    #[must_use]
    pub fn base_nanoseconds(&self) -> i64 {
        let cycles = cycles_to_nanoseconds(self.offset_cycles, self.frequency);
        self.offset_seconds.wrapping_mul(1_000_000_000).wrapping_add(cycles as i64)
    }

    /// Nanoseconds from the origin at a clock value.
    #[inline]
    #[must_use]
    pub fn nanoseconds(&self, cycles: u64) -> i64 {
        let value = cycles_to_nanoseconds(cycles, self.frequency) as i64;
        self.base_nanoseconds().wrapping_add(value)
    }
}

/// Cycles to nanoseconds. Other frequencies than 1 GHz go through a double, as Babeltrace 2
/// does, so that both print the same last digits.
#[inline]
#[must_use]
pub fn cycles_to_nanoseconds(cycles: u64, frequency: u64) -> u64 {
    if frequency == 1_000_000_000 {
        cycles
    } else {
        ((1e9 * cycles as f64) / frequency as f64) as u64
    }
}

/// The value of an entry of the trace environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvironmentValue {
    /// An integer.
    Integer(i64),
    /// A string.
    String(String),
}

/// An event record class.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventClass {
    /// Its ID, unique in its stream class.
    pub id: u64,
    /// Its name, when it has one.
    pub name: Option<String>,
    /// Log level, 0 (emergency) to 14 (debug).
    pub log_level: Option<i64>,
    /// Eclipse Modeling Framework URI.
    pub emf_uri: Option<String>,
    /// Specific context.
    pub context: Option<FieldClass>,
    /// Payload.
    pub payload: Option<FieldClass>,
    /// Namespace, name and unique ID.
    pub identity: Identity,
}

/// A (data) stream class.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StreamClass {
    /// Its ID, unique in the trace class.
    pub id: u64,
    /// Packet context.
    pub packet_context: Option<FieldClass>,
    /// Event record header.
    pub event_header: Option<FieldClass>,
    /// Event record common context.
    pub event_context: Option<FieldClass>,
    /// Event record classes, in the order of the metadata.
    pub event_classes: Vec<EventClass>,
    /// Index into `event_classes` by ID.
    pub event_class_index: BTreeMap<u64, usize>,
    /// Index of the clock class that its fields update.
    pub clock: Option<usize>,
    /// Namespace, name and unique ID.
    pub identity: Identity,
}

impl StreamClass {
    /// What a component that made the class says of it: whether it supports packets, and the
    /// like. Classes of files say nothing of the kind.
    #[must_use]
    pub fn says(&self, name: &str) -> Option<bool> {
        let text = self.identity.attributes.as_deref()?;
        let start = text.find(&format!("\"{name}\": "))? + name.len() + 4;
        let rest = text.get(start..)?;
        rest.starts_with("true").then_some(true).or(rest.starts_with("false").then_some(false))
    }

    /// The index of the event record class with an ID; without IDs it is the first.
    #[must_use]
    pub fn index_of(&self, id: Option<u64>) -> Option<usize> {
        let Some(id) = id else { return (!self.event_classes.is_empty()).then_some(0) };
        // Classes mostly stand in the order of their IDs; only others need a search.
        let guess = usize::try_from(id).ok()?;
        match self.event_classes.get(guess).is_some_and(|event| event.id == id) {
            true => Some(guess),
            false => self.event_class_index.get(&id).copied(),
        }
    }
}

/// A trace class: all that the metadata says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceClass {
    /// Version of the format.
    pub version: (u64, u64),
    /// Byte order of fields that state none.
    pub order: ByteOrder,
    /// The trace's UUID.
    pub uuid: Option<[u8; 16]>,
    /// Environment entries in order.
    pub environment: Vec<(String, EnvironmentValue)>,
    /// Packet header.
    pub packet_header: Option<FieldClass>,
    /// Clock classes.
    pub clocks: Vec<ClockClass>,
    /// Stream classes.
    pub stream_classes: Vec<StreamClass>,
    /// How many slots lengths and selectors need.
    pub slot_count: usize,
    /// Whether fields behind the event record header refer to fields in it.
    pub header_needed: bool,
    /// Namespace, name and unique ID.
    pub identity: Identity,
}

impl TraceClass {
    /// An environment entry that is a string.
    #[must_use]
    pub fn environment_string(&self, name: &str) -> Option<&str> {
        self.environment.iter().find_map(|(key, value)| match value {
            EnvironmentValue::String(text) if key == name => Some(text.as_str()),
            _ => None,
        })
    }
}

impl FieldClass {
    /// A field class about which nothing is derived yet.
    #[must_use]
    pub fn new(kind: FieldKind) -> Self {
        Self { kind, visible: true, fixed_size: None, minimum_alignment: 1, attributes: None }
    }

    /// Alignment in bits of a field of this class.
    #[inline]
    #[must_use]
    pub fn alignment(&self) -> u32 {
        match &self.kind {
            FieldKind::Integer(class) | FieldKind::Enumeration(class, _) => class.alignment,
            FieldKind::Float { alignment, .. } | FieldKind::Structure { alignment, .. } => {
                *alignment
            }
            FieldKind::String
            | FieldKind::VariableLength(_)
            | FieldKind::Text(_)
            | FieldKind::Blob(_) => 8,
            FieldKind::Array { element, .. } => element.alignment().max(self.minimum_alignment),
            FieldKind::BitArray(class) => class.alignment,
            FieldKind::Variant { .. } | FieldKind::Optional(_) => 1,
        }
    }

    /// The integer class of an integer or an enumeration.
    #[must_use]
    pub fn as_integer(&self) -> Option<&IntegerClass> {
        match &self.kind {
            FieldKind::Integer(class) | FieldKind::Enumeration(class, _) => Some(class),
            _ => None,
        }
    }

    /// The members of a structure or the options of a variant.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        match &self.kind {
            FieldKind::Structure { members, .. } => members,
            FieldKind::Variant { options, .. } => options,
            _ => &[],
        }
    }

    /// The member or option of a name, declared or shown.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<(usize, &FieldClass)> {
        let members = self.members();
        let exact = members.iter().position(|member| member.declared_name == name);
        let index = exact.or_else(|| members.iter().position(|member| member.name() == name))?;
        members.get(index).map(|member| (index, &member.class))
    }
}
