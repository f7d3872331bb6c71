//! Values of fields that belong together if they are the same.

use std::hash::{DefaultHasher, Hash, Hasher};

/// The value of a key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Key {
    /// A number.
    Number(i64),
    /// A text.
    Text(Box<[u8]>),
}

/// Most bytes of a text that are kept: of longer ones the end is a hash.
const MOST_BYTES: usize = 128;

impl Key {
    /// That of a text, which takes little memory however long it is.
    #[must_use]
    pub fn of_text(bytes: &[u8]) -> Self {
        let Some((start, rest)) = bytes.split_at_checked(MOST_BYTES) else {
            return Self::Text(bytes.into());
        };
        let mut hasher = DefaultHasher::new();
        rest.hash(&mut hasher);
        let mut kept = start.to_vec();
        kept.extend_from_slice(format!("...{:016x}", hasher.finish()).as_bytes());
        Self::Text(kept.into())
    }

    /// It as a text.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Number(value) => value.to_string(),
            Self::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        }
    }
}
