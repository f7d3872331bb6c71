//! Copying fields one by one, from the encoding of one class to that of another.

use super::error::CopyError;
use super::same::{is_octet, kept_options};
use crate::bits::{low_bits, BitReader};
use crate::encode::value::{Cell, Value};
use crate::encode::{write_bits, BitWriter, Output};
use crate::model::{
    BitArrayClass, ByteOrder, FieldClass, FieldKind, IntegerClass, Length, Member, Selector,
    TextClass,
};
use crate::record::{
    array_length, bit_array, blob, is_there, select_option, text, to_utf8, variable_length, State,
};

type Result<T> = std::result::Result<T, CopyError>;

/// Copies one field after the other.
pub(super) struct FieldCopy<'a, 'b> {
    /// The fields.
    pub reader: &'b mut BitReader<'a>,
    /// What lengths and selectors need.
    pub state: &'b mut State,
    /// Where the fields go.
    pub out: &'b mut BitWriter,
}

impl FieldCopy<'_, '_> {
    /// Copies a field of one class as one of another.
    pub fn field(&mut self, source: &FieldClass, target: &FieldClass) -> Result<()> {
        match (&source.kind, &target.kind) {
            (
                FieldKind::Integer(one) | FieldKind::Enumeration(one, _),
                FieldKind::Integer(other) | FieldKind::Enumeration(other, _),
            ) => self.integer(one, other),
            (
                FieldKind::Float { size, alignment, order },
                FieldKind::Float { alignment: other_alignment, order: other_order, .. },
            ) => {
                self.reader.align(*alignment)?;
                let bits = self.reader.unsigned(*size, *order)?;
                self.out.align(*other_alignment);
                self.out.unsigned(bits, *size, *other_order);
                Ok(())
            }
            (FieldKind::String, FieldKind::String) => {
                self.reader.align(8)?;
                let text = self.reader.string()?;
                self.string(text);
                Ok(())
            }
            (
                FieldKind::Structure { members, alignment },
                FieldKind::Structure { members: others, alignment: other },
            ) => {
                self.reader.align(*alignment)?;
                self.out.align(*other);
                self.members(members, others)
            }
            (FieldKind::Array { element, length, .. }, _) => {
                self.array(source, element, length, target)
            }
            (
                FieldKind::Variant { options, selector },
                FieldKind::Variant { options: others, .. },
            ) => self.variant(options, selector, others),
            (FieldKind::BitArray(bits), _) => self.bits(bits, target),
            (FieldKind::VariableLength(class), _) => {
                let start = self.reader.clone();
                let number = variable_length(class, self.reader, self.state)?;
                if let FieldKind::VariableLength(_) = target.kind {
                    return self.raw_bytes(start);
                }
                let other = target.as_integer().ok_or_else(mismatch)?;
                let value = number.value();
                let fits = value.is_some_and(|value| match class.signed {
                    true => i64::try_from(value).is_ok(),
                    false => u64::try_from(value).is_ok(),
                });
                if !fits {
                    let message = "an integer of variable length has more than 64 bits";
                    return Err(CopyError::Field(message.to_owned()));
                }
                self.number(number.low(), other);
                Ok(())
            }
            (FieldKind::Text(class), _) => self.text(class, target),
            (FieldKind::Blob(class), _) => {
                let bytes = blob(class, self.reader, self.state)?;
                self.out.bytes(bytes);
                Ok(())
            }
            (FieldKind::Optional(optional), _) => {
                if !is_there(optional, self.state) {
                    return Ok(());
                }
                match &target.kind {
                    FieldKind::Optional(other) => self.field(&optional.field, &other.field),
                    FieldKind::Variant { options, .. } => match options.get(1) {
                        Some(content) => self.field(&optional.field, &content.class),
                        None => Err(mismatch()),
                    },
                    _ => Err(mismatch()),
                }
            }
            _ => Err(mismatch()),
        }
    }

    /// Copies members of a structure; the copy may have more of them.
    pub fn members(&mut self, members: &[Member], others: &[Member]) -> Result<()> {
        if members.len() > others.len() {
            return Err(mismatch());
        }
        members.iter().zip(others).try_for_each(|(one, other)| self.field(&one.class, &other.class))
    }

    fn integer(&mut self, source: &IntegerClass, target: &IntegerClass) -> Result<()> {
        let value = self.state.integer(source, self.reader)?;
        self.number(value, target);
        Ok(())
    }

    fn number(&mut self, value: u64, class: &IntegerClass) {
        self.out.align(class.alignment);
        self.out.unsigned(low_bits(value, class.size), class.size, class.order);
    }

    fn string(&mut self, text: &[u8]) {
        self.out.bytes(text);
        self.out.unsigned(0, 8, ByteOrder::Little);
    }

    /// Copies the bytes from where a reader was to where it is.
    fn raw_bytes(&mut self, start: BitReader<'_>) -> Result<()> {
        let mut start = start;
        start.align(8)?;
        let count = (self.reader.position() - start.position()) / 8;
        let bytes = start.bytes(count)?;
        self.out.bytes(bytes);
        Ok(())
    }

    fn array(
        &mut self,
        source: &FieldClass,
        element: &FieldClass,
        length: &Length,
        target: &FieldClass,
    ) -> Result<()> {
        self.reader.align(source.alignment())?;
        self.out.align(target.alignment());
        let count = array_length(length, element.fixed_size, self.state, self.reader)?;
        let other = match &target.kind {
            FieldKind::Array { element, .. } => Some(element.as_ref()),
            FieldKind::Text(_) => None,
            _ => return Err(mismatch()),
        };
        let octets = is_octet(element) && other.is_none_or(is_octet);
        if octets && self.reader.position() % 8 == 0 && self.out.position() % 8 == 0 {
            let bytes = self.reader.bytes(count)?;
            self.out.bytes(bytes);
            return Ok(());
        }
        let Some(other) = other else { return Err(mismatch()) };
        for _ in 0..count {
            let before = self.reader.position();
            self.field(element, other)?;
            if self.reader.position() == before {
                self.state.count_empty_elements(1)?;
            }
        }
        Ok(())
    }

    fn variant(
        &mut self,
        options: &[Member],
        selector: &Selector,
        others: &[Member],
    ) -> Result<()> {
        let selected = select_option(selector, options, self.state)?;
        let kept = kept_options(options, selector, others.len());
        let index = kept.iter().position(|(_, option)| std::ptr::eq(*option, selected));
        match index.and_then(|index| others.get(index)) {
            Some(other) => self.field(&selected.class, &other.class),
            None => Err(mismatch()),
        }
    }

    fn bits(&mut self, source: &BitArrayClass, target: &FieldClass) -> Result<()> {
        let mut start = self.reader.clone();
        let number = bit_array(source, self.reader, self.state)?;
        match &target.kind {
            FieldKind::Integer(other) | FieldKind::Enumeration(other, _) => {
                self.number(number.low(), other);
                Ok(())
            }
            FieldKind::BitArray(other) if other.reversed == source.reversed => {
                start.align(source.alignment)?;
                self.raw_bits(start, source, other.alignment)
            }
            FieldKind::Array { .. } => {
                start.align(source.alignment)?;
                self.raw_bits(start, source, target.alignment())
            }
            FieldKind::BitArray(other) => {
                let value = Value::Wide(number.bytes());
                write_bits(self.out, other, Cell::Value(&value))
                    .map(|_| ())
                    .map_err(|error| CopyError::Field(error.message))
            }
            _ => Err(mismatch()),
        }
    }

    /// Copies bits as they are, from where a reader is.
    fn raw_bits(
        &mut self,
        mut start: BitReader<'_>,
        source: &BitArrayClass,
        alignment: u32,
    ) -> Result<()> {
        self.out.align(alignment);
        let mut left = source.size;
        while left > 0 {
            let size = left.min(64);
            let bits = start.unsigned(size, source.order)?;
            self.out.unsigned(bits, size, source.order);
            left -= size;
        }
        Ok(())
    }

    fn text(&mut self, source: &TextClass, target: &FieldClass) -> Result<()> {
        let start = self.reader.clone();
        let shown = text(source, self.reader, self.state)?;
        match &target.kind {
            FieldKind::String => {
                let text = to_utf8(shown, source.encoding);
                self.string(&text);
                Ok(())
            }
            FieldKind::Text(_) | FieldKind::Array { .. } => self.raw_bytes(start),
            _ => Err(mismatch()),
        }
    }
}

/// The metadata of the copy are made from those of the trace, so this is never met.
fn mismatch() -> CopyError {
    CopyError::Field("the copy has a field of another kind here".to_owned())
}
