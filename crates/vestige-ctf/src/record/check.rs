//! Decoding every field for the sake of its errors.

use super::build::float_value;
use super::state::{array_length, is_there, select_option, DecodeError, State};
use super::{binary_float, bit_array, blob, text, variable_length};
use crate::bits::BitReader;
use crate::model::{BitMeaning, FieldClass, FieldKind};

/// Decodes a field completely and drops its value.
///
/// # Errors
///
/// When the field does not fit the data.
#[inline]
pub fn check(
    class: &FieldClass,
    reader: &mut BitReader<'_>,
    state: &mut State,
) -> Result<(), DecodeError> {
    match &class.kind {
        FieldKind::Integer(integer) | FieldKind::Enumeration(integer, _) => {
            std::hint::black_box(state.integer(integer, reader)?);
        }
        FieldKind::Structure { members, alignment } => {
            reader.align(*alignment)?;
            for member in members {
                check(&member.class, reader, state)?;
            }
        }
        FieldKind::String => {
            reader.align(8)?;
            std::hint::black_box(reader.string()?);
        }
        FieldKind::Float { size, alignment, order } => {
            reader.align(*alignment)?;
            std::hint::black_box(float_value(reader.unsigned(*size, *order)?, *size));
        }
        FieldKind::Variant { options, selector } => {
            let option = select_option(selector, options, state)?;
            check(&option.class, reader, state)?;
        }
        FieldKind::BitArray(bits) => {
            let number = bit_array(bits, reader, state)?;
            if bits.meaning == BitMeaning::Float {
                std::hint::black_box(binary_float(&number, bits.size));
            } else {
                std::hint::black_box(number);
            }
        }
        FieldKind::VariableLength(integer) => {
            std::hint::black_box(variable_length(integer, reader, state)?);
        }
        FieldKind::Text(string) => {
            std::hint::black_box(text(string, reader, state)?);
        }
        FieldKind::Blob(bytes) => {
            std::hint::black_box(blob(bytes, reader, state)?);
        }
        FieldKind::Optional(optional) => {
            if is_there(optional, state) {
                check(&optional.field, reader, state)?;
            }
        }
        FieldKind::Array { element, length, text: is_text } => {
            reader.align(class.alignment())?;
            let count = array_length(length, element.fixed_size, state, reader)?;
            if *is_text {
                std::hint::black_box(reader.bytes(count)?);
                return Ok(());
            }
            for _ in 0..count {
                let before = reader.position();
                check(element, reader, state)?;
                if reader.position() == before {
                    state.count_empty_elements(1)?;
                }
            }
        }
    }
    Ok(())
}
