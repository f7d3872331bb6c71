//! The text of fields, decoded as it is written.

use super::number::{push_float, push_grouped, push_hexadecimal, push_number, push_wide};
use super::options::Palette;
use super::plan::{ArrayNode, Node};
use crate::bits::BitReader;
use crate::model::{BitArrayClass, BitMeaning, DisplayBase, StringEncoding};
use crate::record::{
    array_length, binary_float, bit_array, blob, float_value, is_there, select_option, skip, text,
    to_utf8, until_nul, variable_length, DecodeError, Number, State,
};

/// Writes fields.
pub struct FieldWriter<'a> {
    /// Where to.
    pub out: &'a mut Vec<u8>,
    /// What earlier fields tell later ones.
    pub state: &'a mut State,
    /// Colours.
    pub palette: &'a Palette,
    /// Longest text, bytes.
    pub most: usize,
}

impl FieldWriter<'_> {
    /// Decodes the field at `reader` and writes its value, with a space before it where it
    /// stands in the line of its name.
    ///
    /// # Errors
    ///
    /// When the field does not fit the data.
    pub fn field(&mut self, node: &Node, reader: &mut BitReader<'_>) -> Result<(), DecodeError> {
        match node {
            Node::Integer(class) => {
                let value = self.state.integer(class, reader)?;
                self.value(|out| push_number(out, class.base, class.signed, value));
            }
            Node::String => {
                reader.align(8)?;
                let bytes = reader.string()?;
                self.value(|out| out.extend_from_slice(bytes));
            }
            Node::Structure { alignment, members, is_empty } => {
                reader.align(*alignment)?;
                for (before, member) in members {
                    self.out.extend_from_slice(before);
                    self.field(member, reader)?;
                }
                if *is_empty {
                    self.nothing("Empty");
                }
            }
            Node::Array(array) => self.array(array, reader)?,
            Node::Hidden(class) => skip(class, reader, self.state)?,
            Node::Variant { selector, options, nodes } => {
                let option = select_option(selector, options, self.state)?;
                let index = options.iter().position(|other| std::ptr::eq(other, option));
                if let Some(node) = index.and_then(|index| nodes.get(index)) {
                    self.field(node, reader)?;
                }
            }
            &Node::Float { size, alignment, order } => {
                reader.align(alignment)?;
                let value = float_value(reader.unsigned(size, order)?, size);
                self.value(|out| push_float(out, value));
            }
            Node::BitArray(class) => {
                let number = bit_array(class, reader, self.state)?;
                self.bits(class, &number);
            }
            Node::VariableLength(class) => {
                let number = variable_length(class, reader, self.state)?;
                self.number(class.base, &number);
            }
            Node::Text(class) => {
                let bytes = text(class, reader, self.state)?;
                match class.encoding {
                    StringEncoding::Utf8 => self.value(|out| out.extend_from_slice(bytes)),
                    other => self.value(|out| out.extend_from_slice(&to_utf8(bytes, other))),
                }
            }
            Node::Blob(class) => {
                let bytes = blob(class, reader, self.state)?;
                self.value(|out| {
                    out.extend_from_slice(b"0x");
                    bytes.iter().for_each(|byte| {
                        out.extend_from_slice(format!("{byte:02x}").as_bytes());
                    });
                });
            }
            Node::Optional(class, node) => match is_there(class, self.state) {
                true => self.field(node, reader)?,
                false => self.nothing("None"),
            },
        }
        Ok(())
    }

    #[inline]
    fn value(&mut self, push: impl FnOnce(&mut Vec<u8>)) {
        self.out.push(b' ');
        self.out.extend_from_slice(self.palette.bold.as_bytes());
        push(self.out);
        self.out.extend_from_slice(self.palette.reset.as_bytes());
    }

    fn nothing(&mut self, word: &str) {
        let Palette { bright_magenta, .. } = *self.palette;
        self.value(|out| {
            out.extend_from_slice(bright_magenta.as_bytes());
            out.extend_from_slice(word.as_bytes());
        });
    }

    fn array(&mut self, array: &ArrayNode, reader: &mut BitReader<'_>) -> Result<(), DecodeError> {
        reader.align(array.alignment)?;
        let count = array_length(&array.length, array.element_bits, self.state, reader)?;
        if array.text {
            let bytes = until_nul(reader.bytes(count)?);
            self.value(|out| out.extend_from_slice(bytes));
            return Ok(());
        }
        if count == 0 {
            self.nothing("Empty");
            return Ok(());
        }
        self.out.extend_from_slice(b" Length");
        self.value(|out| push_grouped(out, count));
        self.out.push(b':');
        for index in 0..count {
            if self.out.len() > self.most {
                return Err(DecodeError::TextTooLong);
            }
            self.out.extend_from_slice(&array.before);
            push_grouped(self.out, index);
            self.out.extend_from_slice(&array.behind);
            self.field(&array.element, reader)?;
        }
        Ok(())
    }

    fn bits(&mut self, class: &BitArrayClass, number: &Number) {
        match &class.meaning {
            BitMeaning::Bits | BitMeaning::Flags(_) => self.value(|out| match number {
                Number::Wide { bytes, .. } => push_wide(out, bytes),
                narrow => push_hexadecimal(out, narrow.low()),
            }),
            BitMeaning::Boolean => {
                let Palette { bright_green, bright_red, .. } = *self.palette;
                let (color, word) = match number.any_bit() {
                    true => (bright_green, "Yes"),
                    false => (bright_red, "No"),
                };
                self.value(|out| {
                    out.extend_from_slice(color.as_bytes());
                    out.extend_from_slice(word.as_bytes());
                });
            }
            BitMeaning::Integer { base, .. } => self.number(*base, number),
            BitMeaning::Float => {
                self.value(|out| push_float(out, binary_float(number, class.size)))
            }
        }
    }

    fn number(&mut self, base: DisplayBase, number: &Number) {
        self.value(|out| match number {
            Number::Unsigned(value) => push_number(out, base, false, *value),
            Number::Signed(value) => push_number(out, base, true, *value as u64),
            Number::Wide { bytes, .. } if base != DisplayBase::Decimal => push_wide(out, bytes),
            Number::Wide { bytes, .. } => {
                crate::text::number::push_wide(out, base, number.is_negative(), bytes);
            }
        });
    }
}
