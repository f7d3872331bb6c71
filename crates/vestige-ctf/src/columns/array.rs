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

/// Some rows of all columns of a layout.
#[derive(Debug, Clone, Default)]
pub struct RecordBatch {
    /// The number of rows.
    pub rows: usize,
    /// The columns.
    pub columns: Vec<Array>,
}
