//! Finished columns: buffers that nobody changes any more.

use std::sync::Arc;

/// Some memory of an array.
#[derive(Debug, Clone)]
pub enum Buffer {
    /// Bytes, also of text and of bit masks.
    U8(Vec<u8>),
    /// Values of two bytes.
    U16(Vec<u16>),
    /// Values of four bytes.
    U32(Vec<u32>),
    /// Values of eight bytes.
    U64(Vec<u64>),
    /// Offsets.
    I32(Vec<i32>),
    /// Zeros that many arrays share: a column without a value.
    Zeros(Arc<Vec<u64>>),
}

impl Buffer {
    /// Where the memory begins. It stays there as long as the buffer lives.
    #[must_use]
    pub fn as_ptr(&self) -> *const u8 {
        match self {
            Self::U8(values) => values.as_ptr(),
            Self::U16(values) => values.as_ptr().cast(),
            Self::U32(values) => values.as_ptr().cast(),
            Self::U64(values) => values.as_ptr().cast(),
            Self::I32(values) => values.as_ptr().cast(),
            Self::Zeros(values) => values.as_ptr().cast(),
        }
    }
}

/// The values of a column, laid out as the Arrow columnar format has it.
#[derive(Debug, Clone, Default)]
pub struct Array {
    /// The number of values.
    pub length: usize,
    /// How many of them are missing.
    pub nulls: usize,
    /// A bit for each value that is there, least significant bit first; absent without nulls.
    pub validity: Option<Buffer>,
    /// Values; for text and lists the offsets first.
    pub buffers: Vec<Buffer>,
    /// The element of lists, the members of structures.
    pub children: Vec<Self>,
    /// The dictionary that the values are indexes of.
    pub dictionary: Option<Arc<Self>>,
}

impl Array {
    /// Whether a row has a value.
    #[inline]
    #[must_use]
    pub fn is_valid(&self, row: usize) -> bool {
        match &self.validity {
            None => true,
            Some(Buffer::U8(bits)) => bits.get(row / 8).is_some_and(|b| b >> (row % 8) & 1 == 1),
            Some(_) => false,
        }
    }

    /// The bits of the number in a row.
    #[inline]
    #[must_use]
    pub fn bits(&self, row: usize) -> u64 {
        let value = match self.buffers.first() {
            Some(Buffer::U8(values)) => values.get(row).map(|&value| value.into()),
            Some(Buffer::U16(values)) => values.get(row).map(|&value| value.into()),
            Some(Buffer::U32(values)) => values.get(row).map(|&value| value.into()),
            Some(Buffer::U64(values)) => values.get(row).copied(),
            _ => None,
        };
        value.unwrap_or(0)
    }

    /// The boolean in a row.
    #[must_use]
    pub fn bit(&self, row: usize) -> bool {
        let Some(Buffer::U8(bits)) = self.buffers.first() else { return false };
        bits.get(row / 8).is_some_and(|byte| byte >> (row % 8) & 1 == 1)
    }

    /// Where the text or the elements of a row begin and end.
    #[inline]
    #[must_use]
    pub fn range(&self, row: usize) -> std::ops::Range<usize> {
        let Some(Buffer::I32(offsets)) = self.buffers.first() else { return 0..0 };
        let at = |row: usize| offsets.get(row).map_or(0, |&offset| offset.unsigned_abs() as usize);
        at(row)..at(row + 1)
    }

    /// The bytes of a row of text.
    #[inline]
    #[must_use]
    pub fn bytes(&self, row: usize) -> &[u8] {
        match self.buffers.get(1) {
            Some(Buffer::U8(bytes)) => bytes.get(self.range(row)).unwrap_or_default(),
            _ => &[],
        }
    }
}

/// Some rows of all columns of a layout.
#[derive(Debug, Clone, Default)]
pub struct RecordBatch {
    /// The number of rows.
    pub rows: usize,
    /// The columns.
    pub columns: Vec<Array>,
}
