//! Columns under construction. Rows that are never written are nulls and cost next to nothing.

use std::collections::HashMap;
use std::sync::Arc;

use super::array::{Array, Buffer};
use super::types::{Column, ColumnType};
use crate::record::DecodeError;

/// Most bytes of text and most list elements of a column: offsets are 32 bits wide.
const MAX_OFFSET: usize = i32::MAX as usize;

/// Which rows have a value.
#[derive(Debug, Default)]
struct Validity {
    /// Rows so far.
    length: usize,
    /// A bit for each row; empty as long as all have a value.
    bits: Vec<u8>,
    nulls: usize,
}

impl Validity {
    /// Notes that a row, the next or a later one, has a value.
    #[inline]
    fn mark(&mut self, row: usize) {
        if row == self.length && self.bits.is_empty() {
            self.length += 1;
        } else {
            self.mark_sparse(row);
        }
    }

    fn mark_sparse(&mut self, row: usize) {
        self.skip_to(row);
        if row / 8 >= self.bits.len() {
            self.bits.push(0);
        }
        if let Some(byte) = self.bits.get_mut(row / 8) {
            *byte |= 1 << (row % 8);
        }
        self.length = row + 1;
    }

    /// Makes all rows before `row` that are not there yet nulls.
    fn skip_to(&mut self, row: usize) {
        if row > self.length || self.bits.is_empty() {
            if self.bits.is_empty() {
                self.bits = vec![0xff; self.length / 8];
                if self.length % 8 > 0 {
                    self.bits.push((1u8 << (self.length % 8)) - 1);
                }
            }
            self.nulls += row.saturating_sub(self.length);
            self.bits.resize(row.div_ceil(8), 0);
            self.length = self.length.max(row);
        }
    }

    /// The mask of the first `rows` rows, and how many are nulls.
    fn finish(mut self, rows: usize) -> (Option<Buffer>, usize) {
        if self.length < rows {
            self.skip_to(rows);
        }
        (self.nulls > 0)
            .then_some(Buffer::U8(self.bits))
            .map_or((None, 0), |b| (Some(b), self.nulls))
    }
}

/// Labels that a column met and its dictionary did not have when it began.
#[derive(Debug, Default)]
pub struct NewLabels {
    /// How many labels the dictionary had.
    pub known: usize,
    /// The labels in the order of their indexes.
    pub labels: Vec<Box<[u8]>>,
    indexes: HashMap<Box<[u8]>, u32>,
}

impl NewLabels {
    fn index(&mut self, label: &[u8]) -> u32 {
        if let Some(&index) = self.indexes.get(label) {
            return index;
        }
        let index = (self.known + self.labels.len()) as u32;
        self.labels.push(label.into());
        self.indexes.insert(label.into(), index);
        index
    }
}

#[derive(Debug)]
enum Values {
    Width8(Vec<u8>),
    Width16(Vec<u16>),
    Width32(Vec<u32>),
    Width64(Vec<u64>),
    Labels(Vec<u32>, NewLabels),
    /// Booleans, a byte each until they are packed.
    Booleans(Vec<u8>),
    Text(Vec<i32>, Vec<u8>),
    /// Offsets; the elements are in the builder behind this one.
    List(Vec<i32>),
    Structure,
}

/// A column under construction.
#[derive(Debug)]
pub struct Builder {
    validity: Validity,
    values: Values,
}

/// Writes the value of a row; rows in between become zero.
#[inline]
fn write<T: Copy + Default>(values: &mut Vec<T>, row: usize, value: T) {
    if values.len() < row {
        values.resize(row, T::default());
    }
    values.push(value);
}

impl Builder {
    /// A builder of a column; `labels` is how many its dictionary has.
    pub fn new(kind: &ColumnType, labels: usize) -> Self {
        let values = match kind {
            ColumnType::Integer { bits: 8, .. } => Values::Width8(Vec::new()),
            ColumnType::Integer { bits: 16, .. } => Values::Width16(Vec::new()),
            ColumnType::Integer { bits: 32, .. } | ColumnType::Float { bits: 32 } => {
                Values::Width32(Vec::new())
            }
            ColumnType::Integer { .. }
            | ColumnType::Float { .. }
            | ColumnType::Timestamp
            | ColumnType::Duration => Values::Width64(Vec::new()),
            ColumnType::Boolean => Values::Booleans(Vec::new()),
            ColumnType::Text | ColumnType::Binary => Values::Text(Vec::new(), Vec::new()),
            ColumnType::Dictionary(_) => {
                Values::Labels(Vec::new(), NewLabels { known: labels, ..NewLabels::default() })
            }
            ColumnType::List(_) => Values::List(Vec::new()),
            ColumnType::Structure(_) => Values::Structure,
        };
        Self { validity: Validity::default(), values }
    }

    /// Writes the bits of a number, or an index of a label, into a row behind all others.
    #[inline]
    pub fn put(&mut self, row: usize, bits: u64) {
        self.validity.mark(row);
        match &mut self.values {
            Values::Width64(values) => write(values, row, bits),
            Values::Width32(values) | Values::Labels(values, _) => write(values, row, bits as u32),
            Values::Width16(values) => write(values, row, bits as u16),
            Values::Width8(values) | Values::Booleans(values) => write(values, row, bits as u8),
            Values::Text(..) | Values::List(_) | Values::Structure => {}
        }
    }

    /// Writes a text. Bytes that are no UTF-8 become U+FFFD.
    pub fn put_text(&mut self, row: usize, bytes: &[u8]) -> Result<(), DecodeError> {
        let lossy;
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text.as_bytes(),
            Err(_) => {
                lossy = String::from_utf8_lossy(bytes);
                lossy.as_bytes()
            }
        };
        self.put_bytes(row, text)
    }

    /// Writes bytes, or a text that is known to be UTF-8.
    pub fn put_bytes(&mut self, row: usize, bytes: &[u8]) -> Result<(), DecodeError> {
        match &mut self.values {
            Values::Text(offsets, data) => {
                if data.len() + bytes.len() > MAX_OFFSET {
                    return Err(DecodeError::TextTooLong);
                }
                offsets.resize(row + 1, data.len() as i32);
                data.extend_from_slice(bytes);
                offsets.push(data.len() as i32);
            }
            Values::Labels(values, labels) => write(values, row, labels.index(bytes)),
            _ => {}
        }
        self.validity.mark(row);
        Ok(())
    }

    /// Marks a structure as there.
    #[inline]
    pub fn put_structure(&mut self, row: usize) {
        self.validity.mark(row);
    }

    /// Begins a list of `count` elements; returns the row of the first of them.
    pub fn put_list(&mut self, row: usize, count: u64) -> Result<usize, DecodeError> {
        self.validity.mark(row);
        let Values::List(offsets) = &mut self.values else { return Ok(0) };
        let start = offsets.last().copied().unwrap_or(0);
        let end = u64::from(start.unsigned_abs()).saturating_add(count);
        let end = i32::try_from(end).map_err(|_| DecodeError::TextTooLong)?;
        offsets.resize(row + 1, start);
        offsets.push(end);
        Ok(start as usize)
    }

    /// The number written last, if it is a column of numbers.
    pub fn last(&self) -> Option<u64> {
        match &self.values {
            Values::Width64(values) => values.last().copied(),
            Values::Width32(values) | Values::Labels(values, _) => {
                values.last().map(|&value| value.into())
            }
            Values::Width16(values) => values.last().map(|&value| value.into()),
            Values::Width8(values) => values.last().map(|&value| value.into()),
            _ => None,
        }
    }

    /// How many elements all lists have together.
    fn elements(&self) -> usize {
        match &self.values {
            Values::List(offsets) => offsets.last().map_or(0, |&end| end.unsigned_abs() as usize),
            _ => 0,
        }
    }
}

/// What finishing columns shares: zeros for those without a value, and the labels found.
pub struct Finish {
    /// Builders by the index of their column.
    pub builders: Vec<Option<Builder>>,
    /// New labels of each dictionary column that met any: index of the column and labels.
    pub new_labels: Vec<(usize, NewLabels)>,
    zeros: Option<Arc<Vec<u64>>>,
}

impl Finish {
    /// Begins with all builders.
    pub fn new(builders: Vec<Builder>) -> Self {
        let builders = builders.into_iter().map(Some).collect();
        Self { builders, new_labels: Vec::new(), zeros: None }
    }

    /// The array of the first `rows` rows of a column.
    pub fn column(&mut self, column: &Column, rows: usize) -> Array {
        let Some(builder) = self.builders.get_mut(column.id).and_then(Option::take) else {
            return Array::default();
        };
        let inner = match &column.kind {
            ColumnType::List(_) => builder.elements(),
            _ => rows,
        };
        let children = column.children().iter().map(|child| self.column(child, inner)).collect();
        let empty = builder.validity.length == 0;
        let (validity, nulls) = builder.validity.finish(rows);
        let buffers = if empty {
            self.zero_buffers(&column.kind, rows)
        } else {
            self.buffers(builder.values, column.id, rows)
        };
        Array { length: rows, nulls, validity, buffers, children, dictionary: None }
    }

    fn buffers(&mut self, values: Values, id: usize, rows: usize) -> Vec<Buffer> {
        match values {
            Values::Width8(mut values) => {
                values.resize(rows, 0);
                vec![Buffer::U8(values)]
            }
            Values::Width16(mut values) => {
                values.resize(rows, 0);
                vec![Buffer::U16(values)]
            }
            Values::Width32(mut values) => {
                values.resize(rows, 0);
                vec![Buffer::U32(values)]
            }
            Values::Width64(mut values) => {
                values.resize(rows, 0);
                vec![Buffer::U64(values)]
            }
            Values::Booleans(values) => {
                let mut bits = vec![0; rows.div_ceil(8)];
                for (row, _) in values.iter().enumerate().filter(|(_, &value)| value != 0) {
                    if let Some(byte) = bits.get_mut(row / 8) {
                        *byte |= 1 << (row % 8);
                    }
                }
                vec![Buffer::U8(bits)]
            }
            Values::Labels(mut values, labels) => {
                values.resize(rows, 0);
                if !labels.labels.is_empty() {
                    self.new_labels.push((id, labels));
                }
                vec![Buffer::U32(values)]
            }
            Values::Text(mut offsets, data) => {
                offsets.resize(rows + 1, data.len() as i32);
                vec![Buffer::I32(offsets), Buffer::U8(data)]
            }
            Values::List(mut offsets) => {
                let end = offsets.last().copied().unwrap_or(0);
                offsets.resize(rows + 1, end);
                vec![Buffer::I32(offsets)]
            }
            Values::Structure => Vec::new(),
        }
    }

    /// The buffers of a column without a single value.
    fn zero_buffers(&mut self, kind: &ColumnType, rows: usize) -> Vec<Buffer> {
        let zeros = match &self.zeros {
            Some(zeros) if zeros.len() > rows => Arc::clone(zeros),
            _ => Arc::clone(self.zeros.insert(Arc::new(vec![0; rows + 1]))),
        };
        match kind {
            ColumnType::Structure(_) => Vec::new(),
            ColumnType::Text | ColumnType::Binary => {
                vec![Buffer::Zeros(Arc::clone(&zeros)), Buffer::Zeros(zeros)]
            }
            _ => vec![Buffer::Zeros(zeros)],
        }
    }
}
