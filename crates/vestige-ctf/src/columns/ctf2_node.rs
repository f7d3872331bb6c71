//! Decoding the field classes of CTF 2 that CTF 1.8 does not have, and its wide integers.

use super::builder::Builder;
use super::node::{Fields, Labels, Node};
use super::types::{Column, ColumnType};
use crate::bits::BitReader;
use crate::model::{
    BitArrayClass, BitMeaning, BlobClass, DisplayBase, EnumerationMapping, FieldClass, FieldKind,
    OptionalClass, StringEncoding, TextClass, VariableLengthClass,
};
use crate::record::{
    binary_float, bit_array, blob, is_there, text, to_utf8, variable_length, DecodeError, Number,
};
use crate::text::push_wide;

/// A field class that only CTF 2 has, or an integer of more than 64 bits.
#[derive(Debug, Clone)]
pub enum Ctf2Node {
    /// A bit array.
    Bits(BitArrayClass, Target),
    /// An integer without a limit.
    VariableLength(VariableLengthClass, Target),
    /// A string with an encoding.
    Text(TextClass),
    /// Bytes.
    Blob(BlobClass),
    /// A field that may not be there.
    Optional(OptionalClass, Node),
    /// Nothing that this module knows.
    None,
}

/// What becomes of a number.
#[derive(Debug, Clone)]
pub enum Target {
    /// A label, or the digits of a number without one.
    Labels(Labels),
    /// Its digits.
    Digits,
    /// The number itself; nothing when 64 bits do not hold it.
    Integer {
        /// Whether the column is signed.
        signed: bool,
    },
    /// True or false.
    Boolean,
    /// A floating point number of 32 or 64 bits.
    Float {
        /// Bits of the column.
        bits: u32,
    },
}

impl Target {
    fn new(mappings: &[EnumerationMapping], kind: &ColumnType) -> Self {
        match kind {
            ColumnType::Dictionary(labels) => Self::Labels(Labels::new(mappings, labels)),
            ColumnType::Boolean => Self::Boolean,
            ColumnType::Float { bits } => Self::Float { bits: *bits },
            ColumnType::Integer { signed, .. } => Self::Integer { signed: *signed },
            _ => Self::Digits,
        }
    }
}

impl Ctf2Node {
    /// The node of a field class with its column.
    pub fn new(class: &FieldClass, column: &Column) -> Self {
        let target = |mappings: &[EnumerationMapping]| Target::new(mappings, &column.kind);
        match &class.kind {
            FieldKind::BitArray(bits) => {
                let mappings: &[EnumerationMapping] = match &bits.meaning {
                    BitMeaning::Integer { mappings, .. } => mappings,
                    _ => &[],
                };
                Self::Bits(bits.as_ref().clone(), target(mappings))
            }
            FieldKind::VariableLength(integer) => {
                Self::VariableLength(integer.as_ref().clone(), target(&integer.mappings))
            }
            FieldKind::Text(text) => Self::Text(text.clone()),
            FieldKind::Blob(blob) => Self::Blob(blob.as_ref().clone()),
            FieldKind::Optional(optional) => {
                let field = Node::new(&optional.field, Some(column));
                Self::Optional(optional.as_ref().clone(), field)
            }
            _ => Self::None,
        }
    }
}

impl Fields<'_> {
    /// Decodes a field of one of these classes.
    pub(super) fn other(
        &mut self,
        node: &Ctf2Node,
        to: usize,
        row: usize,
        reader: &mut BitReader<'_>,
    ) -> Result<(), DecodeError> {
        match node {
            Ctf2Node::Bits(class, target) => {
                let number = bit_array(class, reader, self.state)?;
                self.number(&number, class.size, target, to, row)
            }
            Ctf2Node::VariableLength(class, target) => {
                let number = variable_length(class, reader, self.state)?;
                self.number(&number, 64, target, to, row)
            }
            Ctf2Node::Text(class) => {
                let bytes = text(class, reader, self.state)?;
                if class.encoding == StringEncoding::Utf8 {
                    self.text(to, row, bytes)
                } else {
                    self.text(to, row, &to_utf8(bytes, class.encoding))
                }
            }
            Ctf2Node::Blob(class) => {
                let bytes = blob(class, reader, self.state)?;
                let builder = self.builders.get_mut(to);
                builder.map_or(Ok(()), |builder: &mut Builder| builder.put_bytes(row, bytes))
            }
            Ctf2Node::Optional(class, field) if is_there(class, self.state) => {
                self.field(field, row, reader)
            }
            Ctf2Node::Optional(..) | Ctf2Node::None => Ok(()),
        }
    }

    fn number(
        &mut self,
        number: &Number,
        size: u32,
        target: &Target,
        to: usize,
        row: usize,
    ) -> Result<(), DecodeError> {
        match target {
            Target::Labels(labels) => match number.value().and_then(|value| labels.search(value)) {
                Some(label) => self.put(to, row, label.into()),
                None => return self.text(to, row, &digits(number)),
            },
            Target::Digits => return self.text(to, row, &digits(number)),
            Target::Integer { signed } => {
                let value = number.value();
                let bits = if *signed {
                    value.and_then(|value| i64::try_from(value).ok()).map(|value| value as u64)
                } else {
                    value.and_then(|value| u64::try_from(value).ok())
                };
                if let Some(bits) = bits {
                    self.put(to, row, bits);
                }
            }
            Target::Boolean => self.put(to, row, number.any_bit().into()),
            Target::Float { bits } => {
                let value = binary_float(number, size);
                let narrow = u64::from((value as f32).to_bits());
                self.put(to, row, if *bits == 32 { narrow } else { value.to_bits() });
            }
        }
        Ok(())
    }
}

/// The digits of a number in base 10.
fn digits(number: &Number) -> Vec<u8> {
    let mut out = Vec::new();
    let bytes = number.bytes();
    push_wide(&mut out, DisplayBase::Decimal, number.is_negative(), &bytes);
    out
}
