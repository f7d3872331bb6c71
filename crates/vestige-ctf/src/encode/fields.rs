//! Encoding a value by its field class.

use super::bit_writer::{BitWriter, Output};
use super::error::EncodeError;
use super::scalars::{
    bit_array, code_units, expected, float, integer, missing, text_bytes, variable_length,
    without_nul,
};
use super::value::{Cell, Value};
use crate::bits::low_bits;
use crate::model::{
    BlobClass, ByteOrder, FieldClass, FieldKind, IntegerClass, Length, Member, OptionalClass, Role,
    Selector, StringEncoding, TextClass,
};

type Result<T> = std::result::Result<T, EncodeError>;

/// The magic number of data packets (CTF 1.8.3, section 5.1).
const MAGIC: i128 = 0xc1fc_1fc1;

/// Most bytes of an event record: the reader takes no more.
pub const MAX_RECORD: u64 = 256 * 1024 * 1024;

/// A field whose value is known when its packet ends.
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    /// What it means.
    pub role: Role,
    /// Bit offset.
    pub position: u64,
    /// Size in bits.
    pub size: u32,
    /// Byte order.
    pub order: ByteOrder,
}

/// What fields with a role get when no value is given for them.
#[derive(Debug, Default)]
pub struct Facts {
    /// ID of the stream class.
    pub stream_class: u64,
    /// ID of the data stream.
    pub stream: u64,
    /// ID of the event record class.
    pub event_class: u64,
    /// Clock value of the event record.
    pub time: u64,
    /// Number of the packet.
    pub sequence: u64,
    /// UUID of the trace.
    pub uuid: Option<[u8; 16]>,
}

/// Encodes the fields of one scope after the other.
pub struct Encoder<'a, O> {
    /// Where they go.
    pub out: &'a mut O,
    /// Values of lengths and selectors.
    pub slots: &'a mut Vec<i128>,
    /// What fields with a role get.
    pub facts: &'a Facts,
    /// Fields that are set when the packet ends.
    pub marks: Vec<Mark>,
}

impl<O: Output> Encoder<'_, O> {
    /// Writes a field.
    pub fn field(&mut self, class: &FieldClass, cell: Cell<'_>) -> Result<()> {
        match &class.kind {
            FieldKind::Integer(integer) | FieldKind::Enumeration(integer, _) => {
                self.integer(integer, cell)
            }
            FieldKind::Float { size, alignment, order } => {
                let value = cell.float().ok_or_else(|| wrong(cell, "a number"))?;
                float(self.out, (*size, *alignment, *order), value)
            }
            FieldKind::String => {
                present(cell)?;
                self.out.bytes(text_bytes(cell)?);
                self.out.unsigned(0, 8, ByteOrder::Little);
                Ok(())
            }
            FieldKind::Structure { members, alignment } => {
                self.out.align(*alignment);
                self.members(members, cell)
            }
            FieldKind::Array { element, length, text } => {
                self.array(class, element, length, *text, cell)
            }
            FieldKind::Variant { options, selector } => self.variant(options, selector, cell),
            FieldKind::Optional(optional) => self.optional(optional, cell),
            FieldKind::BitArray(bits) => {
                present(cell)?;
                let value = bit_array(self.out, bits, cell)?;
                self.keep(bits.uses.slot, value);
                Ok(())
            }
            FieldKind::VariableLength(class) => {
                let value = cell.integer().ok_or_else(|| wrong(cell, "an integer"))?;
                self.keep(class.uses.slot, value);
                variable_length(self.out, class.signed, value)
            }
            FieldKind::Text(class) => self.text(class, cell),
            FieldKind::Blob(class) => self.blob(class, cell),
        }
    }

    fn keep(&mut self, slot: Option<usize>, value: i128) {
        if let Some(place) = slot.and_then(|slot| self.slots.get_mut(slot)) {
            *place = value;
        }
    }

    #[inline]
    fn integer(&mut self, class: &IntegerClass, cell: Cell<'_>) -> Result<()> {
        let value = match cell.integer() {
            Some(value) => value,
            None if class.role.is_some() || class.clock.is_some() => self.fact(class, cell)?,
            None => return Err(wrong(cell, "an integer")),
        };
        integer(self.out, class, value)?;
        if class.slot.is_some() {
            self.keep(class.slot, value);
        }
        Ok(())
    }

    /// What a field with a role gets: a fact, or 0 until the packet ends.
    fn fact(&mut self, class: &IntegerClass, cell: Cell<'_>) -> Result<i128> {
        if !cell.is_absent() {
            return Err(expected("an integer"));
        }
        let Some(role) = class.role else {
            return Ok(low_bits(self.facts.time, class.size).into());
        };
        Ok(match role {
            Role::Magic => MAGIC,
            Role::StreamClassId => self.facts.stream_class.into(),
            Role::DataStreamId => self.facts.stream.into(),
            Role::EventClassId => self.facts.event_class.into(),
            Role::PacketSequenceNumber => low_bits(self.facts.sequence, class.size).into(),
            _ => {
                let mask = u64::from(class.alignment.max(1)) - 1;
                let position = (self.out.position() + mask) & !mask;
                let (size, order) = (class.size, class.order);
                self.marks.push(Mark { role, position, size, order });
                0
            }
        })
    }

    fn members(&mut self, members: &[Member], cell: Cell<'_>) -> Result<()> {
        for (index, member) in members.iter().enumerate() {
            let given = cell.member(index);
            let derived = if given.is_absent() { derived(members, index, cell)? } else { None };
            match derived {
                Some(value) => {
                    let value = Value::Integer(value);
                    self.field(&member.class, Cell::Value(&value))
                }
                None => self.field(&member.class, given),
            }
            .map_err(|error| error.within(member.name()))?;
        }
        Ok(())
    }

    /// The number of elements: it must be what was written as the length.
    fn length(&self, length: &Length, count: usize, what: &str) -> Result<()> {
        let declared = match length {
            Length::Static(length) => i128::from(*length),
            Length::Dynamic { slot, .. } => self.slots.get(*slot).copied().unwrap_or(-1),
        };
        if declared == count as i128 {
            return Ok(());
        }
        Err(EncodeError::new(format!("{count} {what} given: expected {declared}")))
    }

    fn array(
        &mut self,
        class: &FieldClass,
        element: &FieldClass,
        length: &Length,
        text: bool,
        cell: Cell<'_>,
    ) -> Result<()> {
        self.out.align(class.alignment());
        let octets = is_octet(element) && self.out.position() % 8 == 0;
        match cell.array_bytes() {
            Some(bytes) if text => return self.text_array(length, bytes),
            Some(bytes) if octets => {
                self.length(length, bytes.len(), "bytes are")?;
                self.out.bytes(bytes);
                return Ok(());
            }
            _ => {}
        }
        if let Some(uuid) = self.facts.uuid.filter(|_| cell.is_absent()) {
            self.out.bytes(&uuid);
            return Ok(());
        }
        let count = cell.count().ok_or_else(|| wrong(cell, "a sequence of elements"))?;
        self.length(length, count, "elements are")?;
        for index in 0..count {
            self.field(element, cell.element(index))
                .map_err(|error| error.within(&format!("[{index}]")))?;
        }
        Ok(())
    }

    /// A text in an array: what it leaves free is filled with U+0000.
    fn text_array(&mut self, length: &Length, bytes: &[u8]) -> Result<()> {
        without_nul(bytes)?;
        let room = match length {
            Length::Static(room) => *room,
            Length::Dynamic { .. } => {
                self.length(length, bytes.len(), "bytes are")?;
                bytes.len() as u64
            }
        };
        self.padded(bytes, room)
    }

    fn padded(&mut self, bytes: &[u8], room: u64) -> Result<()> {
        let free = room.checked_sub(bytes.len() as u64).filter(|free| *free <= MAX_RECORD);
        let Some(free) = free else {
            let count = bytes.len();
            return Err(EncodeError::new(format!("{count} bytes are given: expected {room}")));
        };
        self.out.bytes(bytes);
        self.out.zeros(free as usize);
        Ok(())
    }

    fn text(&mut self, class: &TextClass, cell: Cell<'_>) -> Result<()> {
        present(cell)?;
        let units = code_units(text_bytes(cell)?, class.encoding)?;
        self.out.align(8);
        match &class.length {
            None => {
                self.out.bytes(&units);
                self.out.zeros(class.encoding.unit());
                Ok(())
            }
            Some(Length::Static(room)) => self.padded(&units, *room),
            Some(length) => {
                self.length(length, units.len(), "bytes are")?;
                self.out.bytes(&units);
                Ok(())
            }
        }
    }

    fn blob(&mut self, class: &BlobClass, cell: Cell<'_>) -> Result<()> {
        self.out.align(8);
        if let Some(expected) = class.expected.filter(|_| cell.is_absent()) {
            self.out.bytes(&expected);
            return Ok(());
        }
        present(cell)?;
        let bytes = cell.array_bytes().ok_or_else(|| expected("bytes"))?;
        self.length(&class.length, bytes.len(), "bytes are")?;
        self.out.bytes(bytes);
        Ok(())
    }

    fn variant(&mut self, options: &[Member], selector: &Selector, cell: Cell<'_>) -> Result<()> {
        present(cell)?;
        let (index, value) = cell.option().ok_or_else(|| expected("an option and its value"))?;
        let selected = self.slots.get(selector.slot).copied().unwrap_or(-1);
        if chosen(selector, selected) != Some(index) {
            let message = format!("the selector is {selected}, which is not this option");
            return Err(EncodeError::new(message));
        }
        let Some(option) = options.get(index) else { return Err(expected("an option")) };
        self.field(&option.class, value).map_err(|error| error.within(option.name()))
    }

    fn optional(&mut self, class: &OptionalClass, cell: Cell<'_>) -> Result<()> {
        let selected = self.slots.get(class.selector.slot).copied().unwrap_or(-1);
        let is_there = chosen(&class.selector, selected).is_some();
        if is_there {
            return self.field(&class.field, cell);
        }
        if cell.is_absent() {
            return Ok(());
        }
        Err(EncodeError::new(format!("the selector is {selected}, so no value can be given")))
    }
}

/// The bytes of a field that refers to no other one, as they are at the beginning of some.
///
/// # Errors
///
/// The value does not fit the class.
pub fn encoded(class: &FieldClass, cell: Cell<'_>) -> Result<Vec<u8>> {
    let (mut out, mut slots) = (BitWriter::default(), Vec::new());
    let facts = Facts::default();
    let mut encoder =
        Encoder { out: &mut out, slots: &mut slots, facts: &facts, marks: Vec::new() };
    encoder.field(class, cell)?;
    Ok(out.data().to_vec())
}

/// What to say about a value of another kind.
fn wrong(cell: Cell<'_>, what: &str) -> EncodeError {
    if cell.is_absent() {
        missing()
    } else {
        expected(what)
    }
}

#[inline]
fn present(cell: Cell<'_>) -> Result<()> {
    if cell.is_absent() {
        Err(missing())
    } else {
        Ok(())
    }
}

/// The option that a selector's value chooses.
fn chosen(selector: &Selector, value: i128) -> Option<usize> {
    let ranges = selector.ranges.iter();
    ranges.filter(|(lower, upper, _)| (*lower..=*upper).contains(&value)).map(|one| one.2).next()
}

/// Whether elements are whole bytes in a row.
fn is_octet(class: &FieldClass) -> bool {
    matches!(&class.kind, FieldKind::Integer(integer)
        if integer.size == 8 && integer.alignment <= 8 && !integer.signed)
}

fn slot_of(class: &FieldClass) -> Option<usize> {
    match &class.kind {
        FieldKind::Integer(integer) | FieldKind::Enumeration(integer, _) => integer.slot,
        FieldKind::BitArray(bits) => bits.uses.slot,
        FieldKind::VariableLength(integer) => integer.uses.slot,
        _ => None,
    }
}

/// The value of a member that is the length or the selector of one behind it.
fn derived(members: &[Member], index: usize, cell: Cell<'_>) -> Result<Option<i128>> {
    let Some(slot) = members.get(index).and_then(|member| slot_of(&member.class)) else {
        return Ok(None);
    };
    for (index, member) in members.iter().enumerate().skip(index + 1) {
        let value = match needed(&member.class, slot, cell.member(index)) {
            Some(value) => value.map_err(|error| error.within(member.name()))?,
            None => continue,
        };
        return Ok(Some(value));
    }
    Ok(None)
}

/// What the value of a slot must be for a field; `None` when the field does not use it.
fn needed(class: &FieldClass, slot: usize, cell: Cell<'_>) -> Option<Result<i128>> {
    let uses =
        |length: &Length| matches!(length, Length::Dynamic { slot: used, .. } if *used == slot);
    let count = || cell.count().map(|count| count as i128).ok_or_else(|| wrong(cell, "elements"));
    match &class.kind {
        FieldKind::Array { length, .. } if uses(length) => Some(count()),
        FieldKind::Blob(blob) if uses(&blob.length) => Some(count()),
        FieldKind::Text(text) if text.length.as_ref().is_some_and(uses) => {
            Some(match text.encoding {
                StringEncoding::Utf8 => count(),
                encoding => present(cell)
                    .and_then(|()| text_bytes(cell))
                    .and_then(|bytes| code_units(bytes, encoding))
                    .map(|units| units.len() as i128),
            })
        }
        FieldKind::Variant { selector, .. } if selector.slot == slot => {
            let option = cell.option().ok_or_else(|| wrong(cell, "an option and its value"));
            Some(option.and_then(|(option, _)| {
                let range = selector.ranges.iter().find(|range| range.2 == option);
                range.map(|range| range.0).ok_or_else(|| expected("an option with a range"))
            }))
        }
        FieldKind::Optional(optional) if optional.selector.slot == slot => {
            Some(Ok(presence(&optional.selector, !cell.is_absent())))
        }
        _ => None,
    }
}

/// A selector's value with which an optional field is there, or is not.
fn presence(selector: &Selector, is_there: bool) -> i128 {
    if is_there {
        return selector.ranges.first().map_or(1, |range| range.0);
    }
    let ends = selector.ranges.iter().map(|range| range.1 + 1);
    let free = std::iter::once(0).chain(ends).find(|value| chosen(selector, *value).is_none());
    free.unwrap_or(0)
}
