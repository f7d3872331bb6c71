//! Finding the end of a field without making a value of it.

use super::state::{array_length, is_there, select_option, DecodeError, State};
use super::{bit_array, blob, text, variable_length};
use crate::bits::BitReader;
use crate::model::{FieldClass, FieldKind};

/// Steps over a field; integers that others need are read on the way.
///
/// # Errors
///
/// When the field does not fit the data.
#[inline]
pub fn skip(
    class: &FieldClass,
    reader: &mut BitReader<'_>,
    state: &mut State,
) -> Result<(), DecodeError> {
    if let Some(size) = class.fixed_size {
        reader.align(class.alignment())?;
        return Ok(reader.skip(size)?);
    }
    skip_variable(class, reader, state)
}

fn skip_variable(
    class: &FieldClass,
    reader: &mut BitReader<'_>,
    state: &mut State,
) -> Result<(), DecodeError> {
    match &class.kind {
        FieldKind::Integer(integer) | FieldKind::Enumeration(integer, _) => {
            state.integer(integer, reader)?;
        }
        FieldKind::String => {
            reader.align(8)?;
            reader.string()?;
        }
        FieldKind::Float { size, alignment, .. } => {
            reader.align(*alignment)?;
            reader.skip(u64::from(*size))?;
        }
        FieldKind::Structure { members, alignment } => {
            reader.align(*alignment)?;
            for member in members {
                skip(&member.class, reader, state)?;
            }
        }
        FieldKind::Variant { options, selector } => {
            let option = select_option(selector, options, state)?;
            skip(&option.class, reader, state)?;
        }
        FieldKind::BitArray(bits) => {
            bit_array(bits, reader, state)?;
        }
        FieldKind::VariableLength(integer) => {
            variable_length(integer, reader, state)?;
        }
        FieldKind::Text(string) => {
            text(string, reader, state)?;
        }
        FieldKind::Blob(bytes) => {
            blob(bytes, reader, state)?;
        }
        FieldKind::Optional(optional) => {
            if is_there(optional, state) {
                skip(&optional.field, reader, state)?;
            }
        }
        FieldKind::Array { element, length, .. } => {
            reader.align(class.alignment())?;
            let count = array_length(length, element.fixed_size, state, reader)?;
            skip_elements(element, count, reader, state)?;
        }
    }
    Ok(())
}

fn skip_elements(
    element: &FieldClass,
    count: u64,
    reader: &mut BitReader<'_>,
    state: &mut State,
) -> Result<(), DecodeError> {
    match element.fixed_size {
        // Packed elements are one step.
        Some(size) if size % u64::from(element.alignment()) == 0 => {
            if size == 0 {
                state.count_empty_elements(count)?;
            }
            let bits = size.checked_mul(count).ok_or(DecodeError::OutOfData)?;
            reader.skip(bits)?;
        }
        _ => {
            for _ in 0..count {
                let before = reader.position();
                skip(element, reader, state)?;
                if reader.position() == before {
                    state.count_empty_elements(1)?;
                }
            }
        }
    }
    Ok(())
}
