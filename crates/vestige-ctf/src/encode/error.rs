//! What can be wrong with an event record that is to be written.

use std::io;

use super::value::Value;

/// A value that does not fit its field class.
#[derive(Debug, Clone, PartialEq)]
pub struct EncodeError {
    /// Names of members and indexes of elements that lead to the field, innermost first.
    pub path: Vec<String>,
    /// What is wrong and what was expected.
    pub message: String,
    /// The value, when it is a number.
    pub value: Option<Value>,
}

impl EncodeError {
    /// An error at a field whose path is not known yet.
    pub fn new(message: impl Into<String>) -> Self {
        Self { path: Vec::new(), message: message.into(), value: None }
    }

    /// A number that is out of its range.
    pub fn number(value: i128, message: impl Into<String>) -> Self {
        Self { value: Some(Value::Integer(value)), ..Self::new(message) }
    }

    /// The same error in a member of a structure.
    #[must_use]
    pub fn within(mut self, name: &str) -> Self {
        self.path.push(name.to_owned());
        self
    }

    /// The path as it is shown: `request.headers[3].name`.
    #[must_use]
    pub fn field(&self) -> String {
        let mut shown = String::new();
        for part in self.path.iter().rev() {
            if !shown.is_empty() && !part.starts_with('[') {
                shown.push('.');
            }
            shown.push_str(part);
        }
        shown
    }
}

/// Why an event record was not written.
#[derive(Debug)]
pub enum WriteError {
    /// A value does not fit its field class; in bulk, in which row.
    Value(EncodeError, Option<usize>),
    /// A time stamp is before the last one, or past the greatest that readers can show.
    Time {
        /// It.
        time: u64,
        /// The last one before it, or the greatest that is possible.
        limit: u64,
        /// Whether it is before the last one.
        back: bool,
        /// In bulk, in which row.
        row: Option<usize>,
    },
    /// A column has another number of rows than there are time stamps.
    Rows {
        /// Rows of the column.
        rows: usize,
        /// Time stamps.
        expected: usize,
        /// Name of the member.
        name: String,
    },
    /// The data stream file could not be written; in bulk, after how many rows.
    Io(io::Error, usize),
    /// The process is a child of that which began the data stream.
    Forked,
}

impl From<EncodeError> for WriteError {
    fn from(error: EncodeError) -> Self {
        Self::Value(error, None)
    }
}
