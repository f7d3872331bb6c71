//! What is told of a place: object, function and source line, each as text.

use crate::encode::value::{Cell, Value};
use crate::model::{FieldClass, FieldKind, Member};

/// The names of the texts.
const MEMBERS: [&str; 3] = ["bin", "func", "src"];

/// The field class of places.
#[must_use]
pub fn place_class() -> FieldClass {
    let member = |name: &str| Member::new(name.to_owned(), FieldClass::new(FieldKind::String));
    let members = MEMBERS.into_iter().map(member).collect();
    FieldClass::new(FieldKind::Structure { members, alignment: 8 })
}

/// The value of a place with some texts.
#[must_use]
pub fn place_value(texts: [String; 3]) -> Value {
    Value::Structure(texts.map(|text| Value::Bytes(text.into_bytes())).into())
}

/// The texts of a place; `None` when a value is none of a place.
#[must_use]
pub fn place_texts(value: &Value) -> Option<[&str; 3]> {
    let text = |member: usize| {
        let bytes = Cell::Value(value).member(member).bytes()?;
        std::str::from_utf8(bytes).ok()
    };
    let texts = [text(0)?, text(1)?, text(2)?];
    Cell::Value(value).member(MEMBERS.len()).is_absent().then_some(texts)
}
