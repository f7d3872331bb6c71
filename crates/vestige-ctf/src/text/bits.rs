//! The text of bit arrays, integers of any size, encoded strings and BLOBs.
//!
//! As far as Babeltrace 2 prints such fields, this is how it does: booleans as words, bit
//! arrays as hexadecimal numbers, named values as enumerations, absent fields as `<none>`.

use super::fields::FieldWriter;
use super::labels::{Label, Labels};
use super::number::{push_based, push_float, push_wide};
use crate::bits::BitReader;
use crate::model::{BitArrayClass, BitMeaning, DisplayBase, StringEncoding, VariableLengthClass};
use crate::record::{binary_float, bit_array, to_utf8, variable_length, DecodeError, Number};

const DIGITS: &[u8; 16] = b"0123456789abcdef";

impl FieldWriter<'_> {
    pub(super) fn bit_array(
        &mut self,
        class: &BitArrayClass,
        labels: &Labels,
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
                if self.style.short {
                    if !self.short_labels(labels.all().iter().filter(active)) {
                        self.bits(&number);
                    }
                    return Ok(());
                }
                self.labels(labels.all().iter().filter(active), " | ", "<none>");
                self.bits(&number);
                self.text(" )");
            }
            BitMeaning::Boolean => {
                self.paint(self.palette.value);
                self.text(if number.any_bit() { "true" } else { "false" });
                self.paint(self.palette.reset);
            }
            BitMeaning::Integer { base, .. } => {
                self.labelled_number(labels, *base, class.size, &number);
            }
            BitMeaning::Float => {
                self.paint(self.palette.value);
                push_float(self.out, binary_float(&number, class.size));
                self.paint(self.palette.reset);
            }
        }
        Ok(())
    }

    pub(super) fn variable_length(
        &mut self,
        class: &VariableLengthClass,
        labels: &Labels,
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
        self.paint(self.palette.value);
        self.text("0x");
        self.out.reserve(bytes.len() * 2);
        for byte in bytes {
            let digit = |digit: u8| DIGITS.get(usize::from(digit)).copied().unwrap_or(b'?');
            self.out.extend_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
        }
        self.paint(self.palette.reset);
    }

    fn bits(&mut self, number: &Number) {
        self.paint(self.palette.value);
        match number {
            Number::Wide { bytes, .. } => {
                push_wide(self.out, DisplayBase::Hexadecimal, false, bytes)
            }
            narrow => {
                push_based(self.out, DisplayBase::Hexadecimal, false, 64, narrow.low());
            }
        }
        self.paint(self.palette.reset);
    }

    fn labelled_number(&mut self, labels: &Labels, base: DisplayBase, size: u32, number: &Number) {
        if !labels.all().is_empty() {
            let found = number.value().into_iter().flat_map(|value| labels.of(value));
            if self.style.short {
                if !self.short_labels(found) {
                    self.number(base, size, number);
                }
                return;
            }
            self.labels(found, ", ", "<unknown>");
        }
        self.number(base, size, number);
        if !labels.all().is_empty() {
            self.text(" )");
        }
    }

    fn number(&mut self, base: DisplayBase, size: u32, number: &Number) {
        self.paint(self.palette.value);
        match number {
            Number::Unsigned(value) => push_based(self.out, base, false, size, *value),
            Number::Signed(value) => push_based(self.out, base, true, size, *value as u64),
            Number::Wide { bytes, .. } => {
                push_wide(self.out, base, number.is_negative(), bytes);
            }
        }
        self.paint(self.palette.reset);
    }

    /// `( "label", "label" : container = `
    fn labels<'a>(&mut self, labels: impl Iterator<Item = &'a Label>, separator: &str, none: &str) {
        self.text("( ");
        let mut any = false;
        for label in labels {
            if any {
                self.text(separator);
            }
            label.text.push(self.out);
            any = true;
        }
        if !any {
            self.paint(self.palette.unknown);
            self.text(none);
            self.paint(self.palette.reset);
        }
        self.text(" : container = ");
    }
}
