//! Schemas and arrays in the Arrow C data interface.
//!
//! <https://arrow.apache.org/docs/format/CDataInterface.html>: a structure of pointers with a
//! `release` callback. Whoever takes it over copies the structure and sets `release` of the
//! original to null; so a structure whose `release` is still set belongs to us.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_void, CString};
use std::ptr::null_mut;
use std::sync::Arc;

use vestige_ctf::columns::{Array, Buffer, Column, ColumnType, RecordBatch};

/// `ARROW_FLAG_NULLABLE`.
const NULLABLE: i64 = 2;

/// `struct ArrowSchema`.
#[repr(C)]
pub struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

/// `struct ArrowArray`.
#[repr(C)]
pub struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

// SAFETY: a schema owns all it points to, and nothing of it is bound to a thread.
unsafe impl Send for ArrowSchema {}

impl Drop for ArrowSchema {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: `release` is set, so this structure was not taken over.
            unsafe { release(self) };
        }
    }
}

impl Drop for ArrowArray {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: as for schemas.
            unsafe { release(self) };
        }
    }
}

/// What the pointers of a schema point to.
struct SchemaMemory {
    format: CString,
    name: CString,
    children: Vec<*mut ArrowSchema>,
    dictionary: *mut ArrowSchema,
}

impl Drop for SchemaMemory {
    fn drop(&mut self) {
        let own = |schema: &*mut ArrowSchema| !schema.is_null();
        for &schema in self.children.iter().chain([&self.dictionary]).filter(|s| own(s)) {
            // SAFETY: made by `Box::into_raw` below and dropped only here.
            drop(unsafe { Box::from_raw(schema) });
        }
    }
}

/// What the pointers of an array point to.
struct ArrayMemory {
    /// Keeps the buffers alive; their children have memory of their own.
    _array: Arc<Array>,
    buffers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
    dictionary: *mut ArrowArray,
}

impl Drop for ArrayMemory {
    fn drop(&mut self) {
        let own = |array: &*mut ArrowArray| !array.is_null();
        for &array in self.children.iter().chain([&self.dictionary]).filter(|a| own(a)) {
            // SAFETY: as for schemas.
            drop(unsafe { Box::from_raw(array) });
        }
    }
}

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: the interface passes a structure that was made by `ArrowSchema::new`.
    let schema = unsafe { &mut *schema };
    // SAFETY: made by `Box::into_raw` there, and `release` is called once.
    drop(unsafe { Box::from_raw(schema.private_data.cast::<SchemaMemory>()) });
    schema.private_data = null_mut();
    schema.release = None;
}

unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: as for schemas.
    let array = unsafe { &mut *array };
    // SAFETY: as for schemas.
    drop(unsafe { Box::from_raw(array.private_data.cast::<ArrayMemory>()) });
    array.private_data = null_mut();
    array.release = None;
}

impl ArrowSchema {
    /// The schema of record batches with some columns.
    pub fn of_batches(columns: &[Column]) -> Self {
        Self::new("+s", "", false, columns.iter().map(Self::of).collect(), None)
    }

    fn of(column: &Column) -> Self {
        let children = column.children().iter().map(Self::of).collect();
        let dictionary = match &column.kind {
            ColumnType::Dictionary(_) => Some(Self::new("u", "", true, Vec::new(), None)),
            _ => None,
        };
        Self::new(format(&column.kind), &column.name, column.nullable, children, dictionary)
    }

    fn new(
        format: &str,
        name: &str,
        nullable: bool,
        children: Vec<Self>,
        dictionary: Option<Self>,
    ) -> Self {
        let boxed = |schema: Self| Box::into_raw(Box::new(schema));
        let mut memory = Box::new(SchemaMemory {
            format: text(format),
            name: text(name),
            children: children.into_iter().map(boxed).collect(),
            dictionary: dictionary.map_or(null_mut(), boxed),
        });
        Self {
            format: memory.format.as_ptr(),
            name: memory.name.as_ptr(),
            metadata: std::ptr::null(),
            flags: if nullable { NULLABLE } else { 0 },
            n_children: memory.children.len() as i64,
            children: memory.children.as_mut_ptr(),
            dictionary: memory.dictionary,
            release: Some(release_schema),
            private_data: Box::into_raw(memory).cast(),
        }
    }
}

/// A C string; a NUL inside would end it early.
fn text(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{2400}")).unwrap_or_default()
}

fn format(kind: &ColumnType) -> &'static str {
    match kind {
        ColumnType::Integer { bits: 8, signed: true } => "c",
        ColumnType::Integer { bits: 8, signed: false } => "C",
        ColumnType::Integer { bits: 16, signed: true } => "s",
        ColumnType::Integer { bits: 16, signed: false } => "S",
        ColumnType::Integer { bits: 32, signed: true } | ColumnType::Dictionary(_) => "i",
        ColumnType::Integer { bits: 32, signed: false } => "I",
        ColumnType::Integer { signed: true, .. } => "l",
        ColumnType::Integer { signed: false, .. } => "L",
        ColumnType::Float { bits: 32 } => "f",
        ColumnType::Float { .. } => "g",
        ColumnType::Boolean => "b",
        ColumnType::Text => "u",
        ColumnType::Binary => "z",
        ColumnType::Timestamp => "tsn:UTC",
        ColumnType::Duration => "tDn",
        ColumnType::List(_) => "+l",
        ColumnType::Structure(_) => "+s",
    }
}

impl ArrowArray {
    /// A record batch: a structure without nulls.
    pub fn of_batch(batch: RecordBatch) -> Self {
        let array = Array { length: batch.rows, children: batch.columns, ..Array::default() };
        Self::of(array)
    }

    /// No array at all: the end of a stream.
    pub fn none() -> Self {
        Self {
            length: 0,
            null_count: 0,
            offset: 0,
            n_buffers: 0,
            n_children: 0,
            buffers: null_mut(),
            children: null_mut(),
            dictionary: null_mut(),
            release: None,
            private_data: null_mut(),
        }
    }

    fn of(mut array: Array) -> Self {
        let children = std::mem::take(&mut array.children).into_iter().map(Self::of).collect();
        let dictionary = array.dictionary.take().map(|values| Self::new(values, Vec::new(), None));
        Self::new(Arc::new(array), children, dictionary)
    }

    fn new(array: Arc<Array>, children: Vec<Self>, dictionary: Option<Self>) -> Self {
        let boxed = |array: Self| Box::into_raw(Box::new(array));
        let pointer = |buffer: &Buffer| buffer.as_ptr().cast::<c_void>();
        let validity = array.validity.as_ref().map_or(std::ptr::null(), pointer);
        let buffers = std::iter::once(validity).chain(array.buffers.iter().map(pointer));
        let (length, nulls) = (array.length as i64, array.nulls as i64);
        let mut memory = Box::new(ArrayMemory {
            buffers: buffers.collect(),
            _array: array,
            children: children.into_iter().map(boxed).collect(),
            dictionary: dictionary.map_or(null_mut(), boxed),
        });
        Self {
            length,
            null_count: nulls,
            offset: 0,
            n_buffers: memory.buffers.len() as i64,
            n_children: memory.children.len() as i64,
            buffers: memory.buffers.as_mut_ptr(),
            children: memory.children.as_mut_ptr(),
            dictionary: memory.dictionary,
            release: Some(release_array),
            private_data: Box::into_raw(memory).cast(),
        }
    }
}
