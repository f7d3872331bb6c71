//! What a path leads to: its type by the field class, its value in a record.

use super::path::Segment;
use crate::bits::BitReader;
use crate::model::{
    BitArrayClass, BitMeaning, FieldClass, FieldKind, IntegerClass, Length, Member, StringEncoding,
};
use crate::record::{
    array_length, binary_float, bit_array, float_value, is_there, select_option, skip, text,
    to_utf8, until_nul, variable_length, DecodeError, Number, State,
};

/// The type of a value, as far as field classes tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// A 64-bit integer with a sign.
    Integer,
    /// A real number.
    Real,
    /// Bytes of text.
    Text,
    /// Only the record tells: the options of a variant differ.
    Any,
}

/// The value of a field in a record.
#[derive(Debug, Clone, PartialEq)]
pub enum Fetched<'a> {
    /// Nobody asked for it yet.
    Pending,
    /// The record does not have it.
    Missing,
    /// An integer, an enumeration, a boolean.
    Integer(i64),
    /// A real number.
    Real(f64),
    /// A text as it stands in the data, up to its first zero.
    Text(&'a [u8]),
    /// A text that was in another encoding.
    Converted(Vec<u8>),
}

impl Fetched<'_> {
    /// The bytes of a text.
    #[inline]
    pub fn as_text(&self) -> Option<&[u8]> {
        match self {
            Self::Text(text) => Some(text),
            Self::Converted(text) => Some(text),
            _ => None,
        }
    }
}

/// The type of what a path leads to; `None` when it leads nowhere, or to what is no value.
pub fn type_of(class: &FieldClass, path: &[Segment]) -> Option<Type> {
    match (&class.kind, path.split_first()) {
        (FieldKind::Optional(optional), _) => type_of(&optional.field, path),
        (FieldKind::Variant { options, .. }, _) => {
            let types = options.iter().filter_map(|option| {
                let (class, path) = behind_option(option, options, path)?;
                type_of(class, path)
            });
            types.reduce(|one, other| if one == other { one } else { Type::Any })
        }
        (FieldKind::Structure { .. }, Some((Segment::Member(name), rest))) => {
            type_of(class.member(name)?.1, rest)
        }
        (FieldKind::Array { element, length, .. }, Some((Segment::Element(index), rest))) => {
            match length {
                Length::Static(count) if index >= count => None,
                _ => type_of(element, rest),
            }
        }
        (kind, None) => type_of_value(kind),
        _ => None,
    }
}

fn type_of_value(kind: &FieldKind) -> Option<Type> {
    match kind {
        FieldKind::Integer(_) | FieldKind::Enumeration(..) | FieldKind::VariableLength(_) => {
            Some(Type::Integer)
        }
        FieldKind::Float { .. } => Some(Type::Real),
        FieldKind::BitArray(bits) => Some(match bits.meaning {
            BitMeaning::Float => Type::Real,
            _ => Type::Integer,
        }),
        FieldKind::String | FieldKind::Text(_) | FieldKind::Array { text: true, .. } => {
            Some(Type::Text)
        }
        _ => None,
    }
}

/// Where a path goes on behind an option of a variant. It may name the option, and need not
/// if none has that name; `None` where it names another one.
fn behind_option<'c, 'p>(
    option: &'c Member,
    options: &[Member],
    path: &'p [Segment],
) -> Option<(&'c FieldClass, &'p [Segment])> {
    let is_name = |option: &Member, name: &str| {
        option.declared_name == name || (option.name() == name && !name.is_empty())
    };
    match path.split_first() {
        Some((Segment::Member(name), rest)) if options.iter().any(|one| is_name(one, name)) => {
            is_name(option, name).then_some((&option.class, rest))
        }
        _ => Some((&option.class, path)),
    }
}

/// Reads what a path leads to. The reader stays anywhere.
///
/// # Errors
///
/// When a field does not fit the data.
pub fn fetch<'a>(
    class: &FieldClass,
    path: &[Segment],
    reader: &mut BitReader<'a>,
    state: &mut State,
) -> Result<Fetched<'a>, DecodeError> {
    match (&class.kind, path.split_first()) {
        (FieldKind::Optional(optional), _) => {
            if is_there(optional, state) {
                fetch(&optional.field, path, reader, state)
            } else {
                Ok(Fetched::Missing)
            }
        }
        (FieldKind::Variant { options, selector }, _) => {
            let option = select_option(selector, options, state)?;
            match behind_option(option, options, path) {
                Some((class, path)) => fetch(class, path, reader, state),
                None => Ok(Fetched::Missing),
            }
        }
        (FieldKind::Structure { members, alignment }, Some((Segment::Member(name), rest))) => {
            let Some((index, member)) = class.member(name) else { return Ok(Fetched::Missing) };
            reader.align(*alignment)?;
            for before in members.iter().take(index) {
                skip(&before.class, reader, state)?;
            }
            fetch(member, rest, reader, state)
        }
        (FieldKind::Array { element, length, .. }, Some((Segment::Element(index), rest))) => {
            reader.align(class.alignment())?;
            let count = array_length(length, element.fixed_size, state, reader)?;
            if *index >= count {
                return Ok(Fetched::Missing);
            }
            skip_elements(element, *index, reader, state)?;
            fetch(element, rest, reader, state)
        }
        (_, None) => value(class, reader, state),
        _ => Ok(Fetched::Missing),
    }
}

fn skip_elements(
    element: &FieldClass,
    count: u64,
    reader: &mut BitReader<'_>,
    state: &mut State,
) -> Result<(), DecodeError> {
    match element.fixed_size {
        Some(size) if size % u64::from(element.alignment()) == 0 => {
            let bits = size.checked_mul(count).ok_or(DecodeError::OutOfData)?;
            Ok(reader.skip(bits)?)
        }
        // The length was checked, so there are not more of them than bits or so.
        _ => (0..count).try_for_each(|_| skip(element, reader, state)),
    }
}

fn value<'a>(
    class: &FieldClass,
    reader: &mut BitReader<'a>,
    state: &mut State,
) -> Result<Fetched<'a>, DecodeError> {
    Ok(match &class.kind {
        FieldKind::Integer(integer) | FieldKind::Enumeration(integer, _) => {
            Fetched::Integer(whole(integer, reader, state)?)
        }
        FieldKind::Float { size, alignment, order } => {
            reader.align(*alignment)?;
            Fetched::Real(float_value(reader.unsigned(*size, *order)?, *size))
        }
        FieldKind::String => {
            reader.align(8)?;
            Fetched::Text(reader.string()?)
        }
        FieldKind::Array { element, length, text: true } => {
            reader.align(class.alignment())?;
            let count = array_length(length, element.fixed_size, state, reader)?;
            Fetched::Text(until_nul(reader.bytes(count)?))
        }
        FieldKind::Text(string) => {
            let bytes = text(string, reader, state)?;
            match string.encoding {
                StringEncoding::Utf8 => Fetched::Text(bytes),
                other => Fetched::Converted(to_utf8(bytes, other)),
            }
        }
        FieldKind::BitArray(bits) => bits_value(bits, &bit_array(bits, reader, state)?),
        FieldKind::VariableLength(integer) => of_64_bits(&variable_length(integer, reader, state)?),
        _ => Fetched::Missing,
    })
}

/// An integer of up to 64 bits; those without a sign above 2^63 are negative.
#[inline]
pub fn whole(
    class: &IntegerClass,
    reader: &mut BitReader<'_>,
    state: &mut State,
) -> Result<i64, DecodeError> {
    Ok(state.integer(class, reader)? as i64)
}

fn bits_value<'a>(class: &BitArrayClass, number: &Number) -> Fetched<'a> {
    match class.meaning {
        BitMeaning::Boolean => Fetched::Integer(i64::from(number.any_bit())),
        BitMeaning::Float => Fetched::Real(binary_float(number, class.size)),
        _ => of_64_bits(number),
    }
}

/// Integers that 64 bits do not hold are no values of an expression.
fn of_64_bits<'a>(number: &Number) -> Fetched<'a> {
    let Some(value) = number.value() else { return Fetched::Missing };
    let signed = i64::try_from(value).or_else(|_| u64::try_from(value).map(|value| value as i64));
    signed.map_or(Fetched::Missing, Fetched::Integer)
}
