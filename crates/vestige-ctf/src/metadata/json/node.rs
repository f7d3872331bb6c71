//! Properties of JSON objects as the specification types them, with errors that name the
//! fragment and the path of the value.

use super::value::{Data, Value};
use crate::error::{CtfError, ErrorKind, Result};

/// A value with its place in the metadata stream.
#[derive(Debug, Clone, Copy)]
pub struct Node<'a> {
    /// The value.
    pub value: &'a Value,
    /// Number of the fragment, from 1.
    pub fragment: usize,
    /// What leads to it.
    pub path: Path<'a>,
}

/// The way from the fragment to a value, from its end.
#[derive(Debug, Clone, Copy)]
pub enum Path<'a> {
    /// The fragment itself.
    Root,
    /// A property of an object.
    Property(&'a Path<'a>, &'a str),
    /// An element of an array.
    Element(&'a Path<'a>, usize),
}

impl std::fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Property(parent, name) => write!(f, "{parent}/{name}"),
            Self::Element(parent, index) => write!(f, "{parent}/{index}"),
        }
    }
}

impl<'a> Node<'a> {
    /// An error at this value.
    pub fn error(&self, message: impl std::fmt::Display) -> CtfError {
        error(self.fragment, &self.path.to_string(), self.value.span.start, message)
    }

    /// An error that says what the value should be.
    pub fn expected(&self, what: &str) -> CtfError {
        self.error(format!("expected {what}"))
    }

    /// The properties of an object.
    pub fn properties(&self) -> Result<&'a [(String, Value)]> {
        match &self.value.data {
            Data::Object(properties) => Ok(properties),
            _ => Err(self.expected("a JSON object")),
        }
    }

    /// The elements of an array.
    pub fn elements(&self) -> Result<&'a [Value]> {
        match &self.value.data {
            Data::Array(elements) => Ok(elements),
            _ => Err(self.expected("a JSON array")),
        }
    }

    /// An element of an array.
    pub fn element(&'a self, index: usize, value: &'a Value) -> Node<'a> {
        Node { value, fragment: self.fragment, path: Path::Element(&self.path, index) }
    }

    /// A property of an object by its first name that exists. LTTng writes `null` for an
    /// empty list of entries or labels, which is as good as none.
    pub fn optional(&'a self, names: &[&'static str]) -> Result<Option<Node<'a>>> {
        let properties = self.properties()?;
        let found = names.iter().find_map(|name| {
            let value =
                properties.iter().find(|(key, value)| key == name && value.data != Data::Null);
            value.map(|(_, value)| (*name, value))
        });
        Ok(found.map(|(name, value)| self.child(name, value)))
    }

    /// A property of an object.
    pub fn child(&'a self, name: &'a str, value: &'a Value) -> Node<'a> {
        Node { value, fragment: self.fragment, path: Path::Property(&self.path, name) }
    }

    /// A property that must exist.
    pub fn required(&'a self, name: &'static str) -> Result<Node<'a>> {
        self.optional(&[name])?.ok_or_else(|| self.error(format!("property '{name}' is missing")))
    }

    /// The value as text.
    pub fn text(&self) -> Result<&'a str> {
        match &self.value.data {
            Data::Text(text) => Ok(text),
            _ => Err(self.expected("a JSON string")),
        }
    }

    /// The value as one of some words.
    pub fn word<T: Copy>(&self, words: &[(&str, T)]) -> Result<T> {
        let found = match &self.value.data {
            Data::Text(text) => words.iter().find(|(word, _)| word == text),
            _ => None,
        };
        found.map(|(_, meaning)| *meaning).ok_or_else(|| {
            let words: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
            self.expected(&match words.as_slice() {
                [] => "nothing".to_owned(),
                [word] => word.clone(),
                [words @ .., last] => format!("{} or {last}", words.join(", ")),
            })
        })
    }

    /// The value as an integer.
    pub fn integer(&self) -> Result<i128> {
        match self.value.data {
            Data::Integer(value) => Ok(value),
            _ => Err(self.expected("a JSON integer")),
        }
    }

    /// The value as an unsigned integer of 64 bits.
    pub fn unsigned(&self) -> Result<u64> {
        let value = self.integer()?;
        u64::try_from(value).map_err(|_| self.expected("an integer from 0 to 2^64 - 1"))
    }

    /// The value as a truth value.
    pub fn boolean(&self) -> Result<bool> {
        match self.value.data {
            Data::Boolean(value) => Ok(value),
            _ => Err(self.expected("true or false")),
        }
    }

    /// Text of a property that may be missing.
    pub fn optional_text(&'a self, name: &'static str) -> Result<Option<String>> {
        self.optional(&[name])?.map(|node| node.text().map(str::to_owned)).transpose()
    }

    /// An unsigned integer of a property that may be missing.
    pub fn optional_unsigned(&'a self, name: &'static str) -> Result<Option<u64>> {
        self.optional(&[name])?.map(|node| node.unsigned()).transpose()
    }

    /// A power of two of a property that may be missing: 1.
    pub fn alignment(&'a self, name: &'static str) -> Result<u32> {
        let Some(node) = self.optional(&[name])? else { return Ok(1) };
        let bits = u32::try_from(node.integer()?).unwrap_or(0);
        // A record is read through windows whose start is kept on this boundary.
        if bits.is_power_of_two() && bits <= crate::stream::MAX_ALIGNMENT {
            Ok(bits)
        } else {
            Err(node.expected("a power of two of at most 32768 bits"))
        }
    }
}

/// An error in a fragment of the metadata.
pub fn error(
    fragment: usize,
    path: &str,
    offset: usize,
    message: impl std::fmt::Display,
) -> CtfError {
    let colon = if path.is_empty() { "" } else { ", " };
    CtfError {
        offset: Some(offset as u64),
        ..CtfError::new(ErrorKind::Metadata, format!("fragment {fragment}{colon}{path}: {message}"))
    }
}
