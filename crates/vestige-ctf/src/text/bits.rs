//! The text of bit arrays, integers of any size, encoded strings and BLOBs.
//!
//! As far as Babeltrace 2 prints such fields, this is how it does: booleans as words, bit
//! arrays as hexadecimal numbers, named values as enumerations, absent fields as `<none>`.

use super::fields::FieldWriter;
use super::number::{push_based, push_float, push_wide};
use super::plan::Label;
use crate::bits::BitReader;
use crate::model::{BitArrayClass, BitMeaning, DisplayBase, StringEncoding, VariableLengthClass};
use crate::record::{binary_float, bit_array, to_utf8, variable_length, DecodeError, Number};

const DIGITS: &[u8; 16] = b"0123456789abcdef";

impl FieldWriter<'_> {
    pub(super) fn bit_array(
        &mut self,
        class: &BitArrayClass,
        labels: &[Label],
        reader: &mut BitReader<'_>,
    ) -> Result<(), DecodeError> {
        let number = bit_array(class, reader, self.state)?;
        match &class.meaning {
            BitMeaning::Bits => self.bits(&number),
            BitMeaning::Flags(_) => {
                let active = |label: &&Label| {
                    let set = |(lower, upper): &(i128, i128)| {
                        number.any_bit_of(*lower, *upper, class.size)
                    };
                    label.ranges.iter().any(set)
                };
                self.labels(labels.iter().filter(active), " | ");
                self.bits(&number);
                self.text(" )");
            }
            BitMeaning::Boolean => {
                self.text(self.palette.value);
                self.text(if number.any_bit() { "true" } else { "false" });
                self.text(self.palette.reset);
            }
            BitMeaning::Integer { base, .. } => {
                self.labelled_number(labels, *base, class.size, &number);
            }
            BitMeaning::Float => {
                self.text(self.palette.value);
                push_float(self.out, binary_float(&number, class.size));
                self.text(self.palette.reset);
            }
        }
        Ok(())
    }

    pub(super) fn variable_length(
        &mut self,
        class: &VariableLengthClass,
        labels: &[Label],
        reader: &mut BitReader<'_>,
    ) -> Result<(), DecodeError> {
        let number = variable_length(class, reader, self.state)?;
        self.labelled_number(labels, class.base, 64, &number);
        Ok(())
    }

    pub(super) fn encoded_text(&mut self, encoding: StringEncoding, bytes: &[u8]) {
        match encoding {
            StringEncoding::Utf8 => self.string(bytes),
            _ => self.string(&to_utf8(bytes, encoding)),
        }
    }

    /// A BLOB as one hexadecimal number, its first byte first.
    pub(super) fn blob(&mut self, bytes: &[u8]) {
        self.text(self.palette.value);
        self.text("0x");
        self.out.reserve(bytes.len() * 2);
        for byte in bytes {
            let digit = |digit: u8| DIGITS.get(usize::from(digit)).copied().unwrap_or(b'?');
            self.out.extend_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
        }
        self.text(self.palette.reset);
    }

    fn bits(&mut self, number: &Number) {
        self.text(self.palette.value);
        match number {
            Number::Wide { bytes, .. } => {
                push_wide(self.out, DisplayBase::Hexadecimal, false, bytes)
            }
            narrow => {
                push_based(self.out, DisplayBase::Hexadecimal, false, 64, narrow.low());
            }
        }
        self.text(self.palette.reset);
    }

    fn labelled_number(&mut self, labels: &[Label], base: DisplayBase, size: u32, number: &Number) {
        if !labels.is_empty() {
            let value = number.value();
            let holds = |label: &&Label| {
                let range = |(lower, upper): &(i128, i128)| {
                    value.is_some_and(|value| (*lower..=*upper).contains(&value))
                };
                label.ranges.iter().any(range)
            };
            self.labels(labels.iter().filter(holds), ", ");
        }
        self.text(self.palette.value);
        match number {
            Number::Unsigned(value) => push_based(self.out, base, false, size, *value),
            Number::Signed(value) => push_based(self.out, base, true, size, *value as u64),
            Number::Wide { bytes, .. } => {
                push_wide(self.out, base, number.is_negative(), bytes);
            }
        }
        self.text(self.palette.reset);
        if !labels.is_empty() {
            self.text(" )");
        }
    }

    /// `( "label", "label" : container = `
    fn labels<'a>(&mut self, labels: impl Iterator<Item = &'a Label>, separator: &str) {
        self.text("( ");
        let mut any = false;
        for label in labels {
            if any {
                self.text(separator);
            }
            self.out.extend_from_slice(&label.text);
            any = true;
        }
        if !any {
            self.text(self.palette.unknown);
            self.text("<unknown>");
            self.text(self.palette.reset);
        }
        self.text(" : container = ");
    }
}
