//! What decoding one field leaves behind for the next: slots, roles and the clock.

use crate::bits::{low_bits, sign_extend, BitReader, OutOfData};
use crate::model::{IntegerClass, Length, Member, OptionalClass, Role, Selector, Uses};

/// How many array elements of no size at all one record may have.
pub(crate) const MAX_EMPTY_ELEMENTS: u64 = 4096;

/// Most bytes of a variable-length integer that is read. The specification sets no limit; tracers
/// write at most ten, and the text of longer ones takes time that grows with their square.
pub(crate) const MAX_INTEGER_BYTES: usize = 512;

/// What a slot holds when the optional field around its value is not there. No data is so
/// long, so a length that is unknown is always refused.
pub(crate) const UNKNOWN: u64 = u64::MAX;

/// Why a field cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecodeError {
    /// The data ends before the field.
    OutOfData,
    /// A variant's selector has a value that selects no option.
    NoOption {
        /// The selector's path.
        selector: String,
        /// Its value.
        value: i128,
    },
    /// An array is longer than the data could hold.
    TooLong {
        /// The length it claims.
        length: u64,
    },
    /// Arrays have more elements without a single bit than is believed.
    TooManyEmpty,
    /// The text of an array would be longer than memory should hold.
    TextTooLong,
    /// A variable-length integer has more bytes than are read.
    IntegerTooLong,
    /// A string's length is no multiple of its code units.
    CutText {
        /// Its length in bytes.
        length: u64,
        /// Bytes of a code unit.
        unit: usize,
    },
    /// The UUID of the metadata in the packet is another one.
    OtherMetadata,
    /// The lists of some records would take more memory as columns than they should.
    ColumnsTooLarge,
}

impl From<OutOfData> for DecodeError {
    #[inline]
    fn from(_: OutOfData) -> Self {
        Self::OutOfData
    }
}

impl std::fmt::Display for DecodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::OutOfData => f.write_str("a field runs past the end of the packet's content"),
            Self::NoOption { selector, value } => {
                write!(f, "value {value} of '{selector}' selects no option of its variant")
            }
            Self::TooLong { length: UNKNOWN } => f.write_str(
                "an array claims 2^64 - 1 elements, or the optional field with its length is \
                 not there",
            ),
            Self::TooLong { length } => {
                write!(f, "an array claims {length} elements, more than the packet can hold")
            }
            Self::TextTooLong => f.write_str("the text of an array is longer than 512 MiB"),
            Self::IntegerTooLong => {
                let most = MAX_INTEGER_BYTES;
                write!(f, "a variable-length integer has more than {most} bytes")
            }
            Self::CutText { length, unit } => {
                write!(f, "a string of {length} bytes ends within a code unit of {unit} bytes")
            }
            Self::OtherMetadata => f.write_str(
                "the packet has another UUID than the metadata: it belongs to another trace",
            ),
            Self::ColumnsTooLarge => {
                f.write_str("the arrays of a record take more than 512 MiB as columns")
            }
            Self::TooManyEmpty => {
                write!(f, "arrays with more than {MAX_EMPTY_ELEMENTS} elements of no size")
            }
        }
    }
}

/// Values that outlive their field.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// Values that lengths and selectors need, as raw 64-bit patterns.
    pub slots: Vec<u64>,
    /// The clock of the data stream, in cycles.
    pub clock: u64,
    /// Sum of all values that were decoded for the sake of their errors alone.
    pub checked: u64,
    /// Array elements without a single bit since the last [`State::forget_empty_elements`].
    empty_elements: u64,
    roles: [Option<u64>; 10],
}

impl State {
    /// A state with room for the slots of a trace class.
    #[must_use]
    pub fn new(slot_count: usize) -> Self {
        Self { slots: vec![0; slot_count], ..Self::default() }
    }

    /// The value that had a role since the last [`State::forget_roles`].
    #[inline]
    #[must_use]
    pub fn role(&self, role: Role) -> Option<u64> {
        self.roles.get(role as usize).copied().flatten()
    }

    /// Forgets the values of all roles.
    #[inline]
    pub fn forget_roles(&mut self) {
        self.roles = [None; 10];
    }

    /// Starts a new count of array elements without a single bit.
    #[inline]
    pub fn forget_empty_elements(&mut self) {
        self.empty_elements = 0;
    }

    /// Counts array elements without a single bit: nothing else bounds their number, and
    /// some bytes of nested arrays could claim more of them than anybody can step over.
    ///
    /// # Errors
    ///
    /// [`DecodeError::TooManyEmpty`] when there are more than any tracer writes.
    #[inline]
    pub fn count_empty_elements(&mut self, count: u64) -> Result<(), DecodeError> {
        self.empty_elements = self.empty_elements.saturating_add(count);
        if self.empty_elements > MAX_EMPTY_ELEMENTS {
            return Err(DecodeError::TooManyEmpty);
        }
        Ok(())
    }

    /// Reads an integer and notes it for whoever needs it; returns its raw bits, which are
    /// sign-extended when it is signed.
    ///
    /// # Errors
    ///
    /// [`OutOfData`] when the data ends before it.
    #[inline(always)]
    pub fn integer(
        &mut self,
        class: &IntegerClass,
        reader: &mut BitReader<'_>,
    ) -> Result<u64, OutOfData> {
        reader.align(class.alignment)?;
        let raw = reader.unsigned(class.size, class.order)?;
        let value = if class.signed { sign_extend(raw, class.size) as u64 } else { raw };
        if class.noted {
            self.note(class, raw, value);
        }
        Ok(value)
    }

    /// Notes an integer that was read by its place, for whoever needs it.
    #[inline]
    pub fn note_integer(&mut self, class: &IntegerClass, raw: u64) {
        let value = if class.signed { sign_extend(raw, class.size) as u64 } else { raw };
        self.note(class, raw, value);
    }

    fn note(&mut self, class: &IntegerClass, raw: u64, value: u64) {
        if class.clock.is_some() {
            self.advance_clock(class.size, raw);
        }
        if let Some(place) = class.slot.and_then(|slot| self.slots.get_mut(slot)) {
            *place = value;
        }
        if let Some(role) = class.role {
            if let Some(place) = self.roles.get_mut(role as usize) {
                *place = Some(value);
            }
        }
    }

    /// Notes the value of a field that is no integer of up to 64 bits; `raw` is its lowest
    /// bits, `value` the closest value of 64 bits.
    pub(super) fn note_uses(&mut self, uses: &Uses, size: u32, raw: u64, value: u64) {
        if uses.clock.is_some() {
            self.advance_clock(size, raw);
        }
        if let Some(place) = uses.slot.and_then(|slot| self.slots.get_mut(slot)) {
            *place = value;
        }
        for role in &uses.roles {
            if let Some(place) = self.roles.get_mut(*role as usize) {
                *place = Some(value);
            }
        }
    }

    /// Moves the clock to the next value whose low bits are `value`
    /// (CTF 1.8.3, section 8: a value below the last one means one wrap).
    #[inline]
    pub fn advance_clock(&mut self, size: u32, value: u64) {
        self.clock = advanced_clock(self.clock, size, value);
    }
}

/// The next clock value whose low bits are `value`.
#[inline(always)]
pub(super) fn advanced_clock(clock: u64, size: u32, value: u64) -> u64 {
    if size >= 64 {
        return value;
    }
    let low = low_bits(clock, size);
    let mut high = clock - low;
    if value < low {
        high = high.wrapping_add(1u64 << size);
    }
    high | value
}

/// The number of elements of an array, checked against the bits that are left.
///
/// # Errors
///
/// [`DecodeError::TooLong`] for a length that the data cannot hold.
#[inline]
pub fn array_length(
    length: &Length,
    element_bits: Option<u64>,
    state: &State,
    reader: &BitReader<'_>,
) -> Result<u64, DecodeError> {
    let count = match length {
        Length::Static(count) => *count,
        Length::Dynamic { slot, .. } => state.slots.get(*slot).copied().unwrap_or(0),
    };
    let fits = match element_bits {
        Some(bits) if bits > 0 => {
            count.checked_mul(bits).is_some_and(|bits| bits <= reader.remaining())
        }
        _ => count <= reader.remaining().max(MAX_EMPTY_ELEMENTS),
    };
    if fits {
        Ok(count)
    } else {
        Err(DecodeError::TooLong { length: count })
    }
}

/// Up to how many ranges of a selector are looked through one by one.
const FEW_RANGES: usize = 4;

/// The option that a variant's selector selects now.
///
/// # Errors
///
/// [`DecodeError::NoOption`] when none of its ranges holds the value.
#[inline]
pub fn select_option<'a>(
    selector: &Selector,
    options: &'a [Member],
    state: &State,
) -> Result<&'a Member, DecodeError> {
    let raw = state.slots.get(selector.slot).copied().unwrap_or(0);
    let value = if selector.signed { i128::from(raw as i64) } else { i128::from(raw) };
    let ranges = selector.ranges.as_slice();
    // They are in order and do not overlap, see `metadata::derive`.
    let first = if ranges.len() <= FEW_RANGES {
        0
    } else {
        ranges.partition_point(|(_, upper, _)| *upper < value)
    };
    let selected = ranges
        .iter()
        .skip(first)
        .take(FEW_RANGES)
        .find(|(lower, upper, _)| (*lower..=*upper).contains(&value))
        .and_then(|&(_, _, index)| options.get(index));
    selected.ok_or_else(|| DecodeError::NoOption { selector: selector.path.join("."), value })
}

/// Whether an optional field is there now. When it is not, the values of the fields in it
/// are unknown to those who need them.
#[inline]
pub fn is_there(class: &OptionalClass, state: &mut State) -> bool {
    let selector = &class.selector;
    let raw = state.slots.get(selector.slot).copied().unwrap_or(UNKNOWN);
    let value = if selector.signed { i128::from(raw as i64) } else { i128::from(raw) };
    let there = selector.ranges.iter().any(|(lower, upper, _)| (*lower..=*upper).contains(&value));
    if !there {
        for &slot in &class.slots {
            if let Some(place) = state.slots.get_mut(slot) {
                *place = UNKNOWN;
            }
        }
    }
    there
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_clock_value_wraps_once() {
        let mut state = State::new(0);
        state.advance_clock(64, 0x1_0000_00f0);
        state.advance_clock(8, 0xf5);
        assert_eq!(state.clock, 0x1_0000_00f5);
        state.advance_clock(8, 0x03);
        assert_eq!(state.clock, 0x1_0000_0103);
    }

    #[test]
    fn an_array_longer_than_the_data_is_refused_before_it_is_read() {
        let data = [0u8; 4];
        let reader = BitReader::new(&data, 0, 32);
        let state = State::new(0);
        let refused = array_length(&Length::Static(1 << 60), Some(8), &state, &reader);
        assert_eq!(refused, Err(DecodeError::TooLong { length: 1 << 60 }));
        assert_eq!(array_length(&Length::Static(4), Some(8), &state, &reader), Ok(4));
    }
}
