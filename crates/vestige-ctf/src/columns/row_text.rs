//! Rows as text: JSON Lines (an object a row) and CSV.

use std::collections::HashMap;

use super::array::Array;
use super::builder::NewLabels;
use super::decode::Decoded;
use super::layout::Layout;
use super::types::{Column, ColumnType};
use crate::bits::sign_extend;
use crate::text::{civil_date, push_decimal, push_decimal_padded, push_nanoseconds, push_signed};

const NANOSECONDS: i64 = 1_000_000_000;
const SECONDS_OF_DAY: i64 = 86_400;

/// What a row becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowFormat {
    /// An object, without the columns that have no value in the row.
    JsonLines,
    /// Fields between commas (RFC 4180, but lines end with a line feed alone); nothing for
    /// no value, nested values as JSON.
    Csv,
}

/// Writes the rows of one batch.
pub struct RowWriter<'a> {
    columns: Vec<(&'a Column, &'a Array, Vec<u8>)>,
    rows: usize,
    format: RowFormat,
    new_labels: HashMap<usize, &'a NewLabels>,
}

/// The first line of CSV: the names of the columns.
#[must_use]
pub fn csv_header(layout: &Layout) -> Vec<u8> {
    let mut out = Vec::new();
    for (index, column) in layout.columns.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        push_csv(&mut out, column.name.as_bytes());
    }
    out.push(b'\n');
    out
}

impl<'a> RowWriter<'a> {
    /// A writer of the rows of a decoded batch of a layout.
    #[must_use]
    pub fn new(layout: &'a Layout, decoded: &'a Decoded, format: RowFormat) -> Self {
        let arrays = layout.columns.iter().zip(&decoded.batch.columns);
        // Most columns of a selection of many event record classes have no value at all.
        let empty = |array: &Array| format == RowFormat::JsonLines && array.nulls == array.length;
        let columns = arrays.filter(|(_, array)| !empty(array)).map(|(column, array)| {
            let mut key = Vec::new();
            push_json(&mut key, column.name.as_bytes());
            key.push(b':');
            (column, array, key)
        });
        Self {
            columns: columns.collect(),
            rows: decoded.batch.rows,
            format,
            new_labels: decoded.new_labels.iter().map(|(id, labels)| (*id, labels)).collect(),
        }
    }

    /// The text of all rows.
    #[must_use]
    pub fn text(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.rows * 128);
        let mut field = Vec::new();
        for row in 0..self.rows {
            match self.format {
                RowFormat::JsonLines => self.object(&mut out, row),
                RowFormat::Csv => self.fields(&mut out, row, &mut field),
            }
            out.push(b'\n');
        }
        out
    }

    fn object(&self, out: &mut Vec<u8>, row: usize) {
        let start = out.len();
        for (column, array, key) in &self.columns {
            if array.is_valid(row) {
                out.push(if out.len() == start { b'{' } else { b',' });
                out.extend_from_slice(key);
                self.value(out, column, array, row);
            }
        }
        if out.len() == start {
            out.push(b'{');
        }
        out.push(b'}');
    }

    fn fields(&self, out: &mut Vec<u8>, row: usize, field: &mut Vec<u8>) {
        for (index, (column, array, _)) in self.columns.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            if !array.is_valid(row) {
                continue;
            }
            match &column.kind {
                ColumnType::Text => push_csv(out, array.bytes(row)),
                ColumnType::Dictionary(_) => push_csv(out, self.label(column, array, row)),
                ColumnType::Timestamp => push_timestamp(out, array.bits(row) as i64),
                ColumnType::Binary => push_bytes(out, array.bytes(row)),
                ColumnType::List(_) | ColumnType::Structure(_) => {
                    field.clear();
                    self.value(field, column, array, row);
                    push_csv(out, field);
                }
                ColumnType::Float { bits } => push_float(out, array.bits(row), *bits, false),
                _ => self.value(out, column, array, row),
            }
        }
    }

    /// Writes a value as JSON.
    fn value(&self, out: &mut Vec<u8>, column: &Column, array: &Array, row: usize) {
        match &column.kind {
            ColumnType::Integer { bits, signed: true } => {
                let value = sign_extend(array.bits(row), *bits);
                push_signed(out, value);
            }
            ColumnType::Integer { .. } => {
                push_decimal(out, array.bits(row));
            }
            ColumnType::Duration => {
                let value = array.bits(row) as i64;
                push_signed(out, value);
            }
            ColumnType::Boolean => {
                let word: &[u8] = if array.bit(row) { b"true" } else { b"false" };
                out.extend_from_slice(word);
            }
            ColumnType::Float { bits } => push_float(out, array.bits(row), *bits, true),
            ColumnType::Binary => {
                out.push(b'"');
                push_bytes(out, array.bytes(row));
                out.push(b'"');
            }
            ColumnType::Timestamp => {
                out.push(b'"');
                push_timestamp(out, array.bits(row) as i64);
                out.push(b'"');
            }
            ColumnType::Text => push_json(out, array.bytes(row)),
            ColumnType::Dictionary(_) => push_json(out, self.label(column, array, row)),
            ColumnType::List(element) => self.list(out, element, array, row),
            ColumnType::Structure(members) => self.structure(out, members, array, row),
        }
    }

    fn list(&self, out: &mut Vec<u8>, element: &Column, array: &Array, row: usize) {
        out.push(b'[');
        let Some(values) = array.children.first() else { return out.push(b']') };
        for (index, row) in array.range(row).enumerate() {
            if index > 0 {
                out.push(b',');
            }
            if values.is_valid(row) {
                self.value(out, element, values, row);
            } else {
                out.extend_from_slice(b"null");
            }
        }
        out.push(b']');
    }

    fn structure(&self, out: &mut Vec<u8>, members: &[Column], array: &Array, row: usize) {
        out.push(b'{');
        let mut first = true;
        for (member, values) in members.iter().zip(&array.children) {
            if values.is_valid(row) {
                if !std::mem::take(&mut first) {
                    out.push(b',');
                }
                push_json(out, member.name.as_bytes());
                out.push(b':');
                self.value(out, member, values, row);
            }
        }
        out.push(b'}');
    }

    /// The label of a row of a dictionary column.
    fn label(&self, column: &'a Column, array: &Array, row: usize) -> &[u8] {
        let ColumnType::Dictionary(first) = &column.kind else { return &[] };
        let index = array.bits(row) as usize;
        if let Some(label) = first.get(index) {
            return label.as_bytes();
        }
        let new = self.new_labels.get(&column.id);
        let label = new.and_then(|new| new.labels.get(index.checked_sub(new.known)?));
        label.map_or(&[], AsRef::as_ref)
    }
}

/// Writes a number that reads back as the same; JSON has no number that is none.
fn push_float(out: &mut Vec<u8>, bits: u64, size: u32, json: bool) {
    let value = if size == 32 { f32::from_bits(bits as u32).into() } else { f64::from_bits(bits) };
    let quote: &[u8] = if json { b"\"" } else { b"" };
    if value.is_finite() {
        let text = if size == 32 { format!("{:?}", value as f32) } else { format!("{value:?}") };
        out.extend_from_slice(text.as_bytes());
        return;
    }
    out.extend_from_slice(quote);
    out.extend_from_slice(match (value.is_nan(), value > 0.0) {
        (true, _) => b"NaN",
        (_, true) => b"Infinity",
        _ => b"-Infinity",
    });
    out.extend_from_slice(quote);
}

/// Writes two hexadecimal digits a byte.
fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    let digit = |value: u8| if value < 10 { b'0' + value } else { b'a' + value - 10 };
    out.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
}

/// Writes a time as RFC 3339 has it, in UTC, with nine digits of the second.
fn push_timestamp(out: &mut Vec<u8>, nanoseconds: i64) {
    let second = nanoseconds.div_euclid(NANOSECONDS);
    let (days, rest) = (second.div_euclid(SECONDS_OF_DAY), second.rem_euclid(SECONDS_OF_DAY));
    // 64 bits of nanoseconds reach from 1677 to 2262: years have four digits.
    let (year, month, day) = civil_date(days);
    let parts = [(year, 4), (month, 2), (day, 2), (rest / 3600, 2), (rest / 60 % 60, 2)];
    for ((value, width), after) in parts.into_iter().zip(b"--T::") {
        push_decimal_padded(out, value.unsigned_abs(), width);
        out.push(*after);
    }
    push_decimal_padded(out, (rest % 60).unsigned_abs(), 2);
    push_nanoseconds(out, nanoseconds.rem_euclid(NANOSECONDS).unsigned_abs());
    out.push(b'Z');
}

/// Writes UTF-8 text between quotes.
fn push_json(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    let mut rest = text;
    let special = |byte: &u8| *byte < 0x20 || matches!(byte, b'"' | b'\\');
    while let Some(length) = rest.iter().position(special) {
        let (plain, tail) = rest.split_at(length);
        out.extend_from_slice(plain);
        let Some((&byte, tail)) = tail.split_first() else { break };
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            _ => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
        }
        rest = tail;
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// Writes a field of CSV, between quotes where it needs them. An empty text needs them to
/// be something else than no value.
fn push_csv(out: &mut Vec<u8>, text: &[u8]) {
    let special = |byte: &u8| matches!(byte, b'"' | b',' | b'\n' | b'\r');
    if !text.is_empty() && !text.iter().any(special) {
        out.extend_from_slice(text);
        return;
    }
    out.push(b'"');
    for &byte in text {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}
