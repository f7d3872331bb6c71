//! What is written: values, columns of values, and one place in either.

/// A value of a field.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Value {
    /// None given: the field is derived from others, or is an option that is not there.
    #[default]
    Absent,
    /// An integer, a boolean, an enumeration or bits.
    Integer(i128),
    /// An integer of more than 127 bits: two's complement, least significant byte first.
    Wide(Vec<u8>),
    /// A floating point number.
    Float(f64),
    /// A text in UTF-8, or bytes.
    Bytes(Vec<u8>),
    /// Elements of an array.
    List(Vec<Value>),
    /// Members of a structure, in the order of its class.
    Structure(Vec<Value>),
    /// An option of a variant, by its index.
    Option(usize, Box<Value>),
}

/// Values of one field for many event records.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// The same value for all.
    Constant(Value),
    /// Any values.
    Values(Vec<Value>),
    /// Integers of 8 bits.
    I8(Vec<i8>),
    /// Integers of 16 bits.
    I16(Vec<i16>),
    /// Integers of 32 bits.
    I32(Vec<i32>),
    /// Integers of 64 bits.
    I64(Vec<i64>),
    /// Unsigned integers of 8 bits.
    U8(Vec<u8>),
    /// Unsigned integers of 16 bits.
    U16(Vec<u16>),
    /// Unsigned integers of 32 bits.
    U32(Vec<u32>),
    /// Unsigned integers of 64 bits.
    U64(Vec<u64>),
    /// Floats of 32 bits.
    F32(Vec<f32>),
    /// Floats of 64 bits.
    F64(Vec<f64>),
    /// Texts or bytes: where each ends in `data`, and where the first begins.
    Bytes {
        /// All of them.
        data: Vec<u8>,
        /// One more than there are texts, in order; see [`Column::texts`].
        offsets: Vec<usize>,
    },
    /// Arrays that all have the same number of elements.
    Lists {
        /// That number.
        width: usize,
        /// How many arrays there are.
        rows: usize,
        /// The elements of all of them.
        elements: Box<Column>,
    },
    /// Members of structures, in the order of their class.
    Structure(Vec<Column>),
}

impl Column {
    /// Texts, by the offsets between which they lie in `data`.
    ///
    /// Returns `None` when the offsets go back or past the data.
    #[must_use]
    pub fn texts(data: Vec<u8>, offsets: Vec<usize>) -> Option<Self> {
        let sorted = offsets.is_sorted();
        let last = offsets.last().copied()?;
        (sorted && last <= data.len()).then_some(Self::Bytes { data, offsets })
    }

    /// How many rows there are; `None` when there are as many as are asked for.
    #[must_use]
    pub fn rows(&self) -> Option<usize> {
        Some(match self {
            Self::Constant(_) | Self::Structure(_) => return None,
            Self::Values(values) => values.len(),
            Self::I8(values) => values.len(),
            Self::I16(values) => values.len(),
            Self::I32(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::U8(values) => values.len(),
            Self::U16(values) => values.len(),
            Self::U32(values) => values.len(),
            Self::U64(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Bytes { offsets, .. } => offsets.len().saturating_sub(1),
            Self::Lists { rows, .. } => *rows,
        })
    }
}

/// A place where a value is.
#[derive(Debug, Clone, Copy)]
pub enum Cell<'a> {
    /// A value by itself.
    Value(&'a Value),
    /// A row of a column.
    Row(&'a Column, usize),
    /// An array in a column: its first element and their number.
    Elements(&'a Column, usize, usize),
    /// A byte of some.
    Octet(u8),
}

const ABSENT: Cell<'static> = Cell::Value(&Value::Absent);

impl<'a> Cell<'a> {
    /// Nothing.
    #[must_use]
    pub fn absent() -> Self {
        ABSENT
    }

    /// A structure of which no member is given.
    #[must_use]
    pub fn absent_structure() -> Self {
        const EMPTY: &Value = &Value::Structure(Vec::new());
        Self::Value(EMPTY)
    }

    /// The value behind constants and columns of any values.
    #[inline]
    fn plain(self) -> Option<&'a Value> {
        match self {
            Self::Value(value) | Self::Row(Column::Constant(value), _) => Some(value),
            Self::Row(Column::Values(values), row) => values.get(row),
            _ => None,
        }
    }

    /// Whether there is no value.
    #[inline]
    #[must_use]
    pub fn is_absent(self) -> bool {
        matches!(self.plain(), Some(Value::Absent))
    }

    /// The integer, if it is one of up to 127 bits.
    #[inline]
    #[must_use]
    pub fn integer(self) -> Option<i128> {
        let (column, row) = match self {
            Self::Row(column, row) => (column, row),
            Self::Octet(value) => return Some(value.into()),
            _ => return self.plain().and_then(integer_of),
        };
        match column {
            Column::I8(values) => values.get(row).map(|&value| value.into()),
            Column::I16(values) => values.get(row).map(|&value| value.into()),
            Column::I32(values) => values.get(row).map(|&value| value.into()),
            Column::I64(values) => values.get(row).map(|&value| value.into()),
            Column::U8(values) => values.get(row).map(|&value| value.into()),
            Column::U16(values) => values.get(row).map(|&value| value.into()),
            Column::U32(values) => values.get(row).map(|&value| value.into()),
            Column::U64(values) => values.get(row).map(|&value| value.into()),
            _ => self.plain().and_then(integer_of),
        }
    }

    /// The bytes of an integer, least significant first, and whether it is negative.
    #[must_use]
    pub fn wide(self) -> Option<(Vec<u8>, bool)> {
        if let Some(Value::Wide(bytes)) = self.plain() {
            let negative = bytes.last().is_some_and(|&byte| byte >= 0x80);
            return Some((bytes.clone(), negative));
        }
        self.integer().map(|value| (value.to_le_bytes().to_vec(), value < 0))
    }

    /// The number as a float.
    #[inline]
    #[must_use]
    pub fn float(self) -> Option<f64> {
        match self {
            Self::Row(Column::F32(values), row) => values.get(row).map(|&value| value.into()),
            Self::Row(Column::F64(values), row) => values.get(row).copied(),
            _ => match self.plain() {
                Some(Value::Float(value)) => Some(*value),
                _ => self.integer().map(|value| value as f64),
            },
        }
    }

    /// The text or the bytes.
    #[inline]
    #[must_use]
    pub fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Self::Row(Column::Bytes { data, offsets }, row) => {
                data.get(*offsets.get(row)?..*offsets.get(row + 1)?)
            }
            Self::Elements(Column::U8(values), first, count) => values.get(first..first + count),
            _ => match self.plain() {
                Some(Value::Bytes(bytes)) => Some(bytes),
                _ => None,
            },
        }
    }

    /// The elements: a cell that [`Cell::count`] and [`Cell::element`] take.
    fn array(self) -> Self {
        match self {
            Self::Row(Column::Lists { width, elements, .. }, row) => {
                Self::Elements(elements, row * width, *width)
            }
            _ => self,
        }
    }

    /// How many elements or bytes there are.
    #[must_use]
    pub fn count(self) -> Option<usize> {
        if let Self::Elements(_, _, count) = self.array() {
            return Some(count);
        }
        match self.plain() {
            Some(Value::List(values)) => Some(values.len()),
            _ => self.array().bytes().map(<[u8]>::len),
        }
    }

    /// The bytes of a text, or of an array of bytes.
    #[must_use]
    pub fn array_bytes(self) -> Option<&'a [u8]> {
        self.array().bytes()
    }

    /// An element of an array.
    #[must_use]
    pub fn element(self, index: usize) -> Self {
        if let Self::Elements(column, first, _) = self.array() {
            return Self::Row(column, first + index);
        }
        match self.plain() {
            Some(Value::List(values)) => values.get(index).map_or(ABSENT, Self::Value),
            _ => {
                let octet = self.bytes().and_then(|bytes| bytes.get(index));
                octet.map_or(ABSENT, |&value| Self::Octet(value))
            }
        }
    }

    /// A member of a structure.
    #[inline]
    #[must_use]
    pub fn member(self, index: usize) -> Self {
        if let Self::Row(Column::Structure(columns), row) = self {
            return columns.get(index).map_or(ABSENT, |column| Self::Row(column, row));
        }
        match self.plain() {
            Some(Value::Structure(values)) => values.get(index).map_or(ABSENT, Self::Value),
            _ => ABSENT,
        }
    }

    /// Whether there is a structure.
    #[must_use]
    pub fn is_structure(self) -> bool {
        matches!(self, Self::Row(Column::Structure(_), _))
            || matches!(self.plain(), Some(Value::Structure(_)))
    }

    /// The option of a variant and its value.
    #[must_use]
    pub fn option(self) -> Option<(usize, Self)> {
        match self.plain() {
            Some(Value::Option(index, value)) => Some((*index, Self::Value(value))),
            _ => None,
        }
    }
}

#[inline]
fn integer_of(value: &Value) -> Option<i128> {
    match value {
        Value::Integer(value) => Some(*value),
        _ => None,
    }
}
