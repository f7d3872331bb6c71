//! Decoding event record headers fast.
//!
//! LTTng, barectf and others write one of two shapes (CTF 1.8.3, section 6.1): a small ID
//! with a short time stamp, or an escape value of the ID with a full ID and time stamp.
//! A header of that shape is decoded by its four integers; any other goes the general way.

use super::skip;
use super::state::{DecodeError, State};
use crate::bits::{low_bits, BitReader};
use crate::model::{ByteOrder, FieldClass, FieldKind, IntegerClass, Role};

/// How the headers of a stream class are decoded.
#[derive(Debug, Clone)]
pub enum HeaderDecoder {
    /// There is no header.
    None,
    /// Any shape, field by field.
    General(FieldClass),
    /// A short and an extended form behind a small ID.
    Compact(Box<CompactHeader>),
}

/// The four integers of a compact or large header.
#[derive(Debug, Clone)]
pub struct CompactHeader {
    alignment: u32,
    id: IntegerClass,
    /// The value of the small ID that announces the extended form.
    escape: u64,
    short_alignment: u32,
    short_time: IntegerClass,
    long_alignment: u32,
    long_id: IntegerClass,
    long_time: IntegerClass,
    /// Where ID and time of the short form are in the first eight bytes, if both are.
    packed: Option<Packed>,
}

/// The short form inside one machine word.
#[derive(Debug, Clone, Copy)]
struct Packed {
    id_size: u32,
    time_at: u32,
    time_size: u32,
}

impl HeaderDecoder {
    /// The decoder of a header field class.
    #[must_use]
    pub fn new(header: Option<&FieldClass>) -> Self {
        let Some(header) = header else { return Self::None };
        match CompactHeader::recognise(header) {
            Some(compact) => Self::Compact(Box::new(compact)),
            None => Self::General(header.clone()),
        }
    }

    /// Decodes a header and moves the clock; returns the event record class ID, if any.
    ///
    /// # Errors
    ///
    /// When the header does not fit the data.
    #[inline(always)]
    pub fn decode(
        &self,
        reader: &mut BitReader<'_>,
        state: &mut State,
    ) -> Result<Option<u64>, DecodeError> {
        match self {
            Self::Compact(compact) => compact.decode(reader, state).map(Some),
            Self::General(header) => {
                state.forget_roles();
                skip(header, reader, state)?;
                Ok(state.role(Role::EventClassId))
            }
            Self::None => Ok(None),
        }
    }
}

impl CompactHeader {
    fn recognise(header: &FieldClass) -> Option<Self> {
        let FieldKind::Structure { members, alignment } = &header.kind else { return None };
        let [id, variant] = members.as_slice() else { return None };
        let id_class = id.class.as_integer()?;
        let FieldKind::Variant { options, selector } = &variant.class.kind else { return None };
        let [(0, last, short), (escape, end, long)] = selector.ranges.as_slice() else {
            return None;
        };
        let plain = !id_class.signed && id_class.role == Some(Role::EventClassId);
        let escape = u64::try_from(*escape).ok()?;
        let covers_all = i128::from(escape) == last + 1 && *end == i128::from(escape);
        if !plain || id_class.slot != Some(selector.slot) || !covers_all {
            return None;
        }
        let (short_alignment, [short_time]) = integers(&options.get(*short)?.class)?;
        let (long_alignment, [long_id, long_time]) = integers(&options.get(*long)?.class)?;
        let timed = is_time(short_time) && is_time(long_time);
        let identified = long_id.role == Some(Role::EventClassId) && long_id.clock.is_none();
        (timed && identified && id_class.clock.is_none()).then(|| Self {
            packed: Packed::new(*alignment, id_class, short_alignment, short_time),
            alignment: *alignment,
            id: id_class.clone(),
            escape,
            short_alignment,
            short_time: short_time.clone(),
            long_alignment,
            long_id: long_id.clone(),
            long_time: long_time.clone(),
        })
    }

    #[inline(always)]
    fn decode(&self, reader: &mut BitReader<'_>, state: &mut State) -> Result<u64, DecodeError> {
        reader.align(self.alignment)?;
        if let Some((id, time, size)) = self.packed_form(reader) {
            if id < self.escape {
                reader.skip(u64::from(size))?;
                state.advance_clock(self.short_time.size, time);
                return Ok(id);
            }
        }
        self.decode_any(reader, state)
    }

    /// Either form, integer by integer.
    #[inline(never)]
    fn decode_any(
        &self,
        reader: &mut BitReader<'_>,
        state: &mut State,
    ) -> Result<u64, DecodeError> {
        let id = read(&self.id, reader)?;
        if id < self.escape {
            reader.align(self.short_alignment)?;
            let time = read(&self.short_time, reader)?;
            state.advance_clock(self.short_time.size, time);
            return Ok(id);
        }
        if id > self.escape {
            // The enumeration gives this value no label, so the variant has no option.
            return Err(DecodeError::NoOption { selector: "id".to_owned(), value: id.into() });
        }
        reader.align(self.long_alignment)?;
        let id = read(&self.long_id, reader)?;
        let time = read(&self.long_time, reader)?;
        state.advance_clock(self.long_time.size, time);
        Ok(id)
    }

    /// ID, time and size of the short form, if a word of data is left.
    #[inline(always)]
    fn packed_form(&self, reader: &BitReader<'_>) -> Option<(u64, u64, u32)> {
        let Packed { id_size, time_at, time_size } = self.packed?;
        let word = reader.word()?;
        let (id, time) = match self.id.order {
            ByteOrder::Little => {
                let word = u64::from_le_bytes(word);
                (low_bits(word, id_size), word >> time_at)
            }
            ByteOrder::Big => {
                let word = u64::from_be_bytes(word);
                (word >> (64 - id_size), word >> (64 - time_at - time_size))
            }
        };
        Some((id, low_bits(time, time_size), time_at + time_size))
    }
}

impl Packed {
    fn new(alignment: u32, id: &IntegerClass, option: u32, time: &IntegerClass) -> Option<Self> {
        let known = [8, id.alignment, option, time.alignment].iter().all(|a| *a <= alignment);
        let mask = option.max(time.alignment).max(1) - 1;
        let time_at = id.size.checked_add(mask)? & !mask;
        let fits = time_at.checked_add(time.size)? <= 64;
        let packed = Self { id_size: id.size, time_at, time_size: time.size };
        (known && fits && id.order == time.order).then_some(packed)
    }
}

#[inline]
fn read(class: &IntegerClass, reader: &mut BitReader<'_>) -> Result<u64, DecodeError> {
    reader.align(class.alignment)?;
    Ok(reader.unsigned(class.size, class.order)?)
}

fn is_time(class: &IntegerClass) -> bool {
    class.clock.is_some() && class.role.is_none() && class.slot.is_none() && !class.signed
}

/// The alignment of a structure of unsigned integers, and these.
fn integers<const N: usize>(class: &FieldClass) -> Option<(u32, [&IntegerClass; N])> {
    let FieldKind::Structure { members, alignment } = &class.kind else { return None };
    let list: Vec<&IntegerClass> = members
        .iter()
        .map(|member| match &member.class.kind {
            FieldKind::Integer(class) if !class.signed => Some(class),
            _ => None,
        })
        .collect::<Option<_>>()?;
    Some((*alignment, list.try_into().ok()?))
}
