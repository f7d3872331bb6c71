//! Decoding event record headers fast.
//!
//! LTTng, barectf and others write one of two shapes (CTF 1.8.3, section 6.1): a small ID
//! with a short time stamp, or an escape value of the ID with a full ID and time stamp.
//! A header of that shape is decoded by its four integers, and one of an ID and a time stamp at
//! fixed places by these two; any other goes the general way.

use super::number_place::Load;
use super::skip;
use super::state::{advanced_clock, DecodeError, State};
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
    /// An ID and a time stamp, of which one may be missing.
    Plain(Box<PlainHeader>),
}

/// A header of a fixed size.
#[derive(Debug, Clone)]
pub struct PlainHeader {
    alignment: u32,
    /// Size, bits.
    bits: u64,
    id: Option<Load>,
    time: Option<Load>,
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
        if let Some(compact) = CompactHeader::recognise(header) {
            return Self::Compact(Box::new(compact));
        }
        match PlainHeader::recognise(header) {
            Some(plain) => Self::Plain(Box::new(plain)),
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
            Self::Plain(plain) => plain.decode(reader, state),
            Self::General(header) => {
                state.forget_roles();
                skip(header, reader, state)?;
                Ok(state.role(Role::EventClassId))
            }
            Self::None => Ok(None),
        }
    }
}

/// A header that was decoded fast.
#[derive(Debug, Clone, Copy)]
pub struct QuickHeader {
    /// The event record class ID, 0 where there is none.
    pub id: u64,
    /// The clock behind it.
    pub clock: u64,
    /// The byte where the body begins.
    pub body: usize,
}

/// A header that begins and ends with bytes.
pub trait HeaderInBytes {
    /// Whether it has an ID.
    fn has_id(&self) -> bool;

    /// Decodes a header that begins at a byte, or `None` where that is not simple: then
    /// [`HeaderDecoder::decode`] tells. `clock` is what the clock was before. Its body may lie
    /// behind the data.
    fn decode_in_bytes(&self, data: &[u8], at: usize, clock: u64) -> Option<QuickHeader>;
}

/// The next byte at an alignment; `None` if that is none of whole bytes.
#[inline(always)]
fn aligned(at: usize, alignment: u32) -> Option<usize> {
    let alignment = alignment as usize;
    let mask = (alignment / 8).checked_sub(1)?;
    (alignment % 8 == 0).then_some((at + mask) & !mask)
}

impl HeaderInBytes for PlainHeader {
    fn has_id(&self) -> bool {
        self.id.is_some()
    }

    #[inline(always)]
    fn decode_in_bytes(&self, data: &[u8], at: usize, clock: u64) -> Option<QuickHeader> {
        let at = aligned(at, self.alignment)?;
        let start = at as u64 * 8;
        // By reference: what is copied here is copied for each record.
        let clock = match &self.time {
            Some(time) => advanced_clock(clock, time.size().into(), time.value(data, start)),
            None => clock,
        };
        let body = at.checked_add(usize::try_from(self.bits / 8).ok()?)?;
        let id = match &self.id {
            Some(id) => id.value(data, start),
            None => 0,
        };
        (self.bits % 8 == 0).then_some(QuickHeader { id, clock, body })
    }
}

impl PlainHeader {
    fn recognise(header: &FieldClass) -> Option<Self> {
        let FieldKind::Structure { members, alignment } = &header.kind else { return None };
        let mut plain = Self { alignment: *alignment, bits: 0, id: None, time: None };
        for member in members {
            let class = &member.class;
            let at = plain.bits.checked_next_multiple_of(u64::from(class.alignment()))?;
            let size = match (class.fixed_size, class.as_integer()) {
                // Nobody needs it.
                (Some(size), _) => size,
                (None, Some(integer)) => {
                    plain.place(integer, at)?;
                    u64::from(integer.size)
                }
                (None, None) => return None,
            };
            plain.bits = at.checked_add(size)?;
        }
        Some(plain)
    }

    /// Notes the place of an ID or of a time stamp; `None` when it is something else as well.
    fn place(&mut self, class: &IntegerClass, at: u64) -> Option<()> {
        let is_id = class.role == Some(Role::EventClassId) && class.clock.is_none();
        let alignment = self.alignment;
        let place = if is_id { &mut self.id } else { &mut self.time };
        let is_single = is_id || is_time(class);
        let is_plain = class.slot.is_none() && !class.signed && (1..=64).contains(&class.size);
        if !is_single || !is_plain || place.is_some() {
            return None;
        }
        let at = u32::try_from(at).ok().filter(|at| at.checked_add(class.size).is_some())?;
        *place = Some(Load::new(at, class.size, class.order, alignment));
        Some(())
    }

    #[inline(always)]
    fn decode(
        &self,
        reader: &mut BitReader<'_>,
        state: &mut State,
    ) -> Result<Option<u64>, DecodeError> {
        reader.align(self.alignment)?;
        let start = reader.position();
        reader.skip(self.bits)?;
        let value = |place: Load| place.value(reader.data(), start);
        if let Some(time) = self.time {
            state.advance_clock(time.size().into(), value(time));
        }
        Ok(self.id.map(value))
    }
}

impl HeaderInBytes for CompactHeader {
    fn has_id(&self) -> bool {
        true
    }

    #[inline(always)]
    fn decode_in_bytes(&self, data: &[u8], at: usize, clock: u64) -> Option<QuickHeader> {
        let at = aligned(at, self.alignment)?;
        let reader = BitReader::new(data, at as u64 * 8, data.len() as u64 * 8);
        let (id, time, size) = self.packed_form(&reader)?;
        let clock = advanced_clock(clock, self.short_time.size, time);
        let is_short = id < self.escape && size % 8 == 0;
        let body = at + (size / 8) as usize;
        is_short.then_some(QuickHeader { id, clock, body })
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

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
mod tests {
    use super::*;

    fn header(fields: &str) -> FieldClass {
        let text = format!(
            "trace {{ major = 1; minor = 8; byte_order = le; }}; clock {{ name = c; }};\n\
             typealias integer {{ size = 64; align = 8; map = clock.c.value; }} := time;\n\
             typealias integer {{ size = 27; align = 1; map = clock.c.value; }} := short;\n\
             typealias integer {{ size = 5; align = 1; }} := u5;\n\
             typealias integer {{ size = 32; align = 32; byte_order = be; }} := u32;\n\
             stream {{ event.header := struct {{ {fields} }}; }};"
        );
        let trace = crate::metadata::parse(text.as_bytes()).unwrap();
        trace.stream_classes[0].event_header.clone().unwrap()
    }

    #[test]
    fn headers_of_fixed_places_are_read_as_in_the_general_way() {
        let data: Vec<u8> = (0..40u8).map(|index| index.wrapping_mul(151)).collect();
        for fields in [
            "u32 id; time timestamp;",
            "u5 id; short timestamp;",
            "short timestamp; u5 other; u32 id;",
            "time timestamp;",
            "u5 other; u32 id;",
        ] {
            let class = header(fields);
            let plain = HeaderDecoder::new(Some(&class));
            assert!(matches!(plain, HeaderDecoder::Plain(_)), "{fields}");
            let general = HeaderDecoder::General(class);
            for (start, end) in (0..80).flat_map(|start| [(start, 320), (start, start + 60)]) {
                let read = |decoder: &HeaderDecoder| {
                    let mut reader = BitReader::new(&data, start, end);
                    let mut state = State::new(0);
                    state.clock = 1 << 40 | 99;
                    let id = decoder.decode(&mut reader, &mut state)?;
                    Ok::<_, DecodeError>((id, state.clock, reader.position()))
                };
                assert_eq!(read(&plain), read(&general), "{fields} at {start}");
            }
        }
    }

    #[test]
    fn headers_with_more_than_that_go_the_general_way() {
        for fields in ["time timestamp; time again;", "u5 id; string s;", "u32 id; u5 values[id];"]
        {
            let decoder = HeaderDecoder::new(Some(&header(fields)));
            assert!(matches!(decoder, HeaderDecoder::General(_)), "{fields}");
        }
    }
}
