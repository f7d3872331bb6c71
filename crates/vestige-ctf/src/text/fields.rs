//! Decoding fields and writing their text in one pass.

use super::digits::push_decimal;
use super::escape::push_string;
use super::labels::{Label, Labels};
use super::number::{push_float, push_integer};
use super::options::{Palette, Style};
use super::plan::{ArrayPlan, FieldPlan, VariantPlan};
use super::snippet::Snippet;
use crate::bits::BitReader;
use crate::model::IntegerClass;
use crate::record::{
    array_length, blob, float_value, is_there, select_option, skip, text, until_nul, DecodeError,
    State,
};

/// What writing a field needs beside its plan.
pub struct FieldWriter<'a> {
    /// Where the text goes.
    pub out: &'a mut Vec<u8>,
    /// Slots and clock.
    pub state: &'a mut State,
    /// Colours.
    pub palette: &'a Palette,
    /// Punctuation and escapes.
    pub style: Style,
    /// How long `out` may become while an array is written.
    pub most: usize,
}

impl FieldWriter<'_> {
    #[inline]
    pub(super) fn text(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Starts or ends a colour, which mostly is none.
    #[inline(always)]
    pub(super) fn paint(&mut self, code: &str) {
        if !code.is_empty() {
            self.out.extend_from_slice(code.as_bytes());
        }
    }

    /// Decodes the field at `reader` and writes it. `last` is written at the end of the
    /// outermost structure, as if it were its last member.
    ///
    /// # Errors
    ///
    /// When the field does not fit the data.
    pub fn scope(
        &mut self,
        plan: &FieldPlan,
        reader: &mut BitReader<'_>,
        last: Option<&[u8]>,
    ) -> Result<(), DecodeError> {
        match (plan, last) {
            (FieldPlan::Structure(alignment, members), Some(last)) => {
                self.open_structure(*alignment, members, reader)?;
                let empty = members.iter().all(|(before, _)| before.is_empty());
                self.text(if empty { " " } else { ", " });
                self.out.extend_from_slice(last);
                self.text(" }");
                Ok(())
            }
            _ => self.field(plan, reader),
        }
    }

    /// Decodes the field at `reader` and writes it.
    ///
    /// # Errors
    ///
    /// When the field does not fit the data.
    #[inline]
    pub fn field(
        &mut self,
        plan: &FieldPlan,
        reader: &mut BitReader<'_>,
    ) -> Result<(), DecodeError> {
        match plan {
            FieldPlan::Integer(class) => {
                let value = self.state.integer(class, reader)?;
                self.paint(self.palette.value);
                push_integer(self.out, class, value);
                self.paint(self.palette.reset);
            }
            FieldPlan::Address(class, symbols) => {
                let value = self.state.integer(class, reader)?;
                self.paint(self.palette.value);
                if !symbols.push(self.out, value) {
                    push_integer(self.out, class, value);
                }
                self.paint(self.palette.reset);
            }
            FieldPlan::String => {
                reader.align(8)?;
                self.string(reader.string()?);
            }
            FieldPlan::Structure(alignment, members) => {
                self.open_structure(*alignment, members, reader)?;
                self.text(if self.style.short { "}" } else { " }" });
            }
            FieldPlan::Array(array) => self.array(array, reader)?,
            FieldPlan::Enumeration(class, labels) => self.enumeration(class, labels, reader)?,
            FieldPlan::Variant(variant) => self.variant(variant, reader)?,
            FieldPlan::Hidden(class) => skip(class, reader, self.state)?,
            FieldPlan::BitArray(class, labels) => self.bit_array(class, labels, reader)?,
            FieldPlan::VariableLength(class, labels) => {
                self.variable_length(class, labels, reader)?;
            }
            FieldPlan::Text(class) => {
                let bytes = text(class, reader, self.state)?;
                self.encoded_text(class.encoding, bytes);
            }
            FieldPlan::Blob(class) => self.blob(blob(class, reader, self.state)?),
            FieldPlan::Optional(class, plan) => {
                if self.style.short {
                    if is_there(class, self.state) {
                        self.field(plan, reader)?;
                    } else {
                        self.text("-");
                    }
                } else if is_there(class, self.state) {
                    self.text("{ ");
                    self.field(plan, reader)?;
                    self.text(" }");
                } else {
                    self.text("<none>");
                }
            }
            &FieldPlan::Float(size, alignment, order) => {
                reader.align(alignment)?;
                let value = float_value(reader.unsigned(size, order)?, size);
                self.paint(self.palette.value);
                push_float(self.out, value);
                self.paint(self.palette.reset);
            }
        }
        Ok(())
    }

    #[inline]
    fn open_structure(
        &mut self,
        alignment: u32,
        members: &[(Snippet, FieldPlan)],
        reader: &mut BitReader<'_>,
    ) -> Result<(), DecodeError> {
        reader.align(alignment)?;
        self.text("{");
        for (before, plan) in members {
            before.push(self.out);
            self.field(plan, reader)?;
        }
        Ok(())
    }

    #[inline]
    pub(super) fn string(&mut self, bytes: &[u8]) {
        self.paint(self.palette.value);
        push_string(self.out, bytes, self.style);
        self.paint(self.palette.reset);
    }

    fn array(&mut self, array: &ArrayPlan, reader: &mut BitReader<'_>) -> Result<(), DecodeError> {
        reader.align(array.alignment)?;
        let count = array_length(&array.length, array.element_bits, self.state, reader)?;
        if array.text {
            self.string(until_nul(reader.bytes(count)?));
            return Ok(());
        }
        self.text("[");
        for index in 0..count {
            if self.out.len() > self.most {
                return Err(DecodeError::TextTooLong);
            }
            if self.style.short {
                self.text(if index == 0 { "" } else { " " });
            } else {
                self.text(if index == 0 { " " } else { ", " });
            }
            if array.named && !self.style.short {
                self.text("[");
                push_decimal(self.out, index);
                self.text("] = ");
            }
            self.field(&array.element, reader)?;
        }
        self.text(if self.style.short { "]" } else { " ]" });
        Ok(())
    }

    fn variant(
        &mut self,
        variant: &VariantPlan,
        reader: &mut BitReader<'_>,
    ) -> Result<(), DecodeError> {
        let option = select_option(&variant.selector, &variant.options, self.state)?;
        let index = variant.options.iter().position(|other| std::ptr::eq(other, option));
        let plan = index.and_then(|index| variant.plans.get(index));
        if self.style.short {
            return plan.map_or(Ok(()), |plan| self.field(plan, reader));
        }
        self.text("{ ");
        if let Some(plan) = plan {
            self.field(plan, reader)?;
        }
        self.text(" }");
        Ok(())
    }

    fn enumeration(
        &mut self,
        class: &IntegerClass,
        labels: &Labels,
        reader: &mut BitReader<'_>,
    ) -> Result<(), DecodeError> {
        let raw = self.state.integer(class, reader)?;
        let value = if class.signed { i128::from(raw as i64) } else { i128::from(raw) };
        if self.style.short {
            if !self.short_labels(labels.of(value)) {
                push_integer(self.out, class, raw);
            }
            return Ok(());
        }
        self.text("( ");
        let mut any = false;
        for label in labels.of(value) {
            if any {
                self.text(", ");
            }
            label.text.push(self.out);
            any = true;
        }
        if !any {
            self.paint(self.palette.unknown);
            self.text("<unknown>");
            self.paint(self.palette.reset);
        }
        self.text(" : container = ");
        self.paint(self.palette.value);
        push_integer(self.out, class, raw);
        self.paint(self.palette.reset);
        self.text(" )");
        Ok(())
    }

    /// Writes labels with bars between them; tells whether there were any.
    pub(super) fn short_labels<'l>(&mut self, labels: impl Iterator<Item = &'l Label>) -> bool {
        let mut any = false;
        for label in labels {
            if any {
                self.text("|");
            }
            label.text.push(self.out);
            any = true;
        }
        any
    }
}
