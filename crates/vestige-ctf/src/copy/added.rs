//! What filters add to the common context of event records.

use super::error::CopyError;
use crate::derived::{Derived, Values};
use crate::encode::value::{Cell, Value};
use crate::encode::{BitWriter, Encoder, Facts};
use crate::model::{FieldClass, FieldKind, Length, Member};

/// A field that a filter adds to the records of a stream class.
#[derive(Debug, Clone)]
pub struct AddedField {
    /// Index of the stream class.
    pub stream: usize,
    /// Its name.
    pub name: String,
    /// Its class, which refers to no other field.
    pub class: FieldClass,
}

impl AddedField {
    /// The member of the common context that it is.
    pub(super) fn member(&self) -> Member {
        let (declared_name, class) = (self.name.clone(), self.class.clone());
        Member { declared_name, verbatim: true, class, attributes: None }
    }

    /// What records get that have no such field.
    pub(super) fn nothing(&self) -> Value {
        nothing(&self.class)
    }
}

/// Columns of a merge with their values.
pub(super) type AddedColumns<'a> = [(&'a Derived, Values<'a>)];

/// Writes the added fields of a record, which is at an index of the merge.
pub(super) fn write_added(
    fields: &[(AddedField, Value)],
    (columns, index): (&AddedColumns<'_>, usize),
    classes: &[Member],
    out: &mut BitWriter,
) -> Result<(), CopyError> {
    let (facts, mut slots) = (Facts::default(), Vec::new());
    for ((field, nothing), member) in fields.iter().zip(classes) {
        let mut named = columns.iter().filter(|(column, _)| column.name == field.name);
        let cell = named.find_map(|(_, values)| values.cell(index));
        let cell = cell.unwrap_or(Cell::Value(nothing));
        let (out, slots) = (&mut *out, &mut slots);
        let mut encoder = Encoder { out, slots, facts: &facts, marks: Vec::new() };
        encoder
            .field(&member.class, cell)
            .map_err(|error| CopyError::Field(format!("{}: {}", field.name, error.message)))?;
    }
    Ok(())
}

/// The value of a class that says nothing: 0, an empty text, no elements.
fn nothing(class: &FieldClass) -> Value {
    match &class.kind {
        FieldKind::Structure { members, .. } => {
            Value::Structure(members.iter().map(|member| nothing(&member.class)).collect())
        }
        FieldKind::String | FieldKind::Text(_) => Value::Bytes(Vec::new()),
        FieldKind::Float { .. } => Value::Float(0.0),
        FieldKind::Array { element, length: Length::Static(count), text: false } => {
            Value::List((0..*count).map(|_| nothing(element)).collect())
        }
        FieldKind::Array { .. } | FieldKind::Blob(_) => Value::Bytes(Vec::new()),
        FieldKind::Variant { .. } | FieldKind::Optional(_) => Value::Absent,
        _ => Value::Integer(0),
    }
}
