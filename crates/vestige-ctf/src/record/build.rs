//! Making values of fields, whatever the caller's values are.

use super::state::{array_length, is_there, select_option, DecodeError, State};
use super::{binary_float, bit_array, blob, text, variable_length, Number};
use crate::bits::BitReader;
use crate::model::{
    BitArrayClass, BitMeaning, EnumerationMapping, FieldClass, FieldKind, IntegerClass, Member,
    StringEncoding,
};

/// Makes values of decoded fields.
pub trait Builder {
    /// What a field becomes.
    type Value;

    /// An unsigned integer.
    fn unsigned(&mut self, class: &IntegerClass, value: u64) -> Self::Value;
    /// A signed integer.
    fn signed(&mut self, class: &IntegerClass, value: i64) -> Self::Value;
    /// An enumeration; `value` is its raw bits, sign-extended when the class is signed.
    fn enumeration(
        &mut self,
        class: &IntegerClass,
        mappings: &[EnumerationMapping],
        value: u64,
    ) -> Self::Value;
    /// A floating point number.
    fn float(&mut self, value: f64) -> Self::Value;
    /// A string or a text array, without its NUL.
    fn string(&mut self, bytes: &[u8]) -> Self::Value;
    /// An array of numbers or of other fields.
    fn array(&mut self, elements: Vec<Self::Value>) -> Self::Value;
    /// A structure, with a value for each of its members.
    fn structure(&mut self, members: &[Member], values: Vec<Self::Value>) -> Self::Value;
    /// A variant, of which an option is there: its index among the options, and its value.
    fn variant(&mut self, option: usize, value: Self::Value) -> Self::Value {
        let _ = option;
        value
    }
    /// A boolean.
    fn boolean(&mut self, value: bool) -> Self::Value;
    /// A bit array, with flags when it is a bit map.
    fn bits(&mut self, flags: &[EnumerationMapping], size: u32, value: &Number) -> Self::Value;
    /// An integer of any size, with labels when it has mappings.
    fn number(&mut self, mappings: &[EnumerationMapping], value: &Number) -> Self::Value;
    /// A string in any encoding, without its U+0000.
    fn text(&mut self, encoding: StringEncoding, bytes: &[u8]) -> Self::Value;
    /// A BLOB.
    fn blob(&mut self, bytes: &[u8]) -> Self::Value;
    /// An optional field that is not there.
    fn nothing(&mut self) -> Self::Value;
}

/// Decodes a field into a value.
///
/// # Errors
///
/// When the field does not fit the data.
pub fn build<B: Builder>(
    class: &FieldClass,
    reader: &mut BitReader<'_>,
    state: &mut State,
    builder: &mut B,
) -> Result<B::Value, DecodeError> {
    match &class.kind {
        FieldKind::Integer(integer) => {
            let value = state.integer(integer, reader)?;
            Ok(if integer.signed {
                builder.signed(integer, value as i64)
            } else {
                builder.unsigned(integer, value)
            })
        }
        FieldKind::Enumeration(integer, mappings) => {
            let value = state.integer(integer, reader)?;
            Ok(builder.enumeration(integer, mappings, value))
        }
        FieldKind::Float { size, alignment, order } => {
            reader.align(*alignment)?;
            let bits = reader.unsigned(*size, *order)?;
            Ok(builder.float(float_value(bits, *size)))
        }
        FieldKind::String => {
            reader.align(8)?;
            Ok(builder.string(reader.string()?))
        }
        FieldKind::Structure { members, alignment } => {
            reader.align(*alignment)?;
            let mut values = Vec::with_capacity(members.len());
            for member in members {
                values.push(build(&member.class, reader, state, builder)?);
            }
            Ok(builder.structure(members, values))
        }
        FieldKind::Variant { options, selector } => {
            let option = select_option(selector, options, state)?;
            let index = options.iter().position(|one| std::ptr::eq(one, option));
            let value = build(&option.class, reader, state, builder)?;
            Ok(builder.variant(index.unwrap_or(0), value))
        }
        FieldKind::Array { .. } => build_array(class, reader, state, builder),
        FieldKind::BitArray(bits) => build_bits(bits, reader, state, builder),
        FieldKind::VariableLength(integer) => {
            let number = variable_length(integer, reader, state)?;
            Ok(builder.number(&integer.mappings, &number))
        }
        FieldKind::Text(string) => Ok(builder.text(string.encoding, text(string, reader, state)?)),
        FieldKind::Blob(bytes) => Ok(builder.blob(blob(bytes, reader, state)?)),
        FieldKind::Optional(optional) => {
            if is_there(optional, state) {
                build(&optional.field, reader, state, builder)
            } else {
                Ok(builder.nothing())
            }
        }
    }
}

fn build_bits<B: Builder>(
    class: &BitArrayClass,
    reader: &mut BitReader<'_>,
    state: &mut State,
    builder: &mut B,
) -> Result<B::Value, DecodeError> {
    let number = bit_array(class, reader, state)?;
    Ok(match &class.meaning {
        BitMeaning::Bits => builder.bits(&[], class.size, &number),
        BitMeaning::Flags(flags) => builder.bits(flags, class.size, &number),
        BitMeaning::Boolean => builder.boolean(number.any_bit()),
        BitMeaning::Integer { mappings, .. } => builder.number(mappings, &number),
        BitMeaning::Float => builder.float(binary_float(&number, class.size)),
    })
}

fn build_array<B: Builder>(
    class: &FieldClass,
    reader: &mut BitReader<'_>,
    state: &mut State,
    builder: &mut B,
) -> Result<B::Value, DecodeError> {
    let FieldKind::Array { element, length, text } = &class.kind else {
        return build(class, reader, state, builder);
    };
    reader.align(class.alignment())?;
    let count = array_length(length, element.fixed_size, state, reader)?;
    if *text {
        return Ok(builder.string(until_nul(reader.bytes(count)?)));
    }
    // The length is checked against the data only for elements of a known size.
    let mut elements = Vec::with_capacity(count.min(4096) as usize);
    for _ in 0..count {
        elements.push(build(element, reader, state, builder)?);
    }
    Ok(builder.array(elements))
}

/// Decodes one member of a structure; those before it are stepped over.
///
/// # Errors
///
/// When a field does not fit the data.
pub fn build_member<B: Builder>(
    scope: &FieldClass,
    index: usize,
    reader: &mut BitReader<'_>,
    state: &mut State,
    builder: &mut B,
) -> Result<Option<B::Value>, DecodeError> {
    reader.align(scope.alignment())?;
    for (position, member) in scope.members().iter().enumerate() {
        if position == index {
            return build(&member.class, reader, state, builder).map(Some);
        }
        super::skip(&member.class, reader, state)?;
    }
    Ok(None)
}

/// The value of a floating point field's bits.
#[inline]
#[must_use]
pub fn float_value(bits: u64, size: u32) -> f64 {
    if size == 32 {
        f64::from(f32::from_bits(bits as u32))
    } else {
        f64::from_bits(bits)
    }
}

/// A text array ends at its first NUL, if it has one.
#[inline]
#[must_use]
pub fn until_nul(bytes: &[u8]) -> &[u8] {
    let length = memchr::memchr(0, bytes).unwrap_or(bytes.len());
    bytes.get(..length).unwrap_or(bytes)
}
