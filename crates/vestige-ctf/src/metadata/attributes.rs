//! `key = value;` lists: what stands between the braces of `integer`, `clock`, `env`, ….

use super::lexer::TokenKind;
use super::parser::Parser;
use crate::error::{CtfError, Result};

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// An integer constant with its sign.
    Integer(i128),
    /// A string.
    Text(String),
    /// A name or a dotted path of names.
    Name(String),
}

/// An attribute with the line of its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    /// The key; dots join its parts.
    pub key: String,
    /// The value.
    pub value: Value,
    /// Line number from 1.
    pub line: u32,
}

impl Attribute {
    /// The value as an integer.
    pub fn integer(&self) -> Result<i128> {
        match &self.value {
            Value::Integer(value) => Ok(*value),
            _ => Err(self.error("an integer")),
        }
    }

    /// The value as an unsigned integer of at most 64 bits.
    pub fn unsigned(&self) -> Result<u64> {
        u64::try_from(self.integer()?).map_err(|_| self.error("an integer from 0 to 2^64 - 1"))
    }

    /// The value as a signed integer of at most 64 bits.
    pub fn signed(&self) -> Result<i64> {
        i64::try_from(self.integer()?).map_err(|_| self.error("a 64-bit signed integer"))
    }

    /// The value as text: a string or a bare name.
    pub fn text(&self) -> Result<&str> {
        match &self.value {
            Value::Text(text) | Value::Name(text) => Ok(text),
            Value::Integer(_) => Err(self.error("a string")),
        }
    }

    /// The value as a word, such as those of byte orders.
    pub fn word(&self) -> Option<&str> {
        match &self.value {
            Value::Name(name) => Some(name),
            Value::Text(_) | Value::Integer(_) => None,
        }
    }

    /// The value as a truth value (CTF 1.8.3, section 7.1).
    pub fn boolean(&self) -> Result<bool> {
        match (&self.value, self.word()) {
            (Value::Integer(value), _) => Ok(*value != 0),
            (_, Some("true" | "TRUE")) => Ok(true),
            (_, Some("false" | "FALSE")) => Ok(false),
            _ => Err(self.error("true, TRUE, 1, false, FALSE or 0 (CTF 1.8.3, 7.1)")),
        }
    }

    /// The value as a part of the version of the format, which must be the `expected` one.
    pub fn version(&self, expected: u64) -> Result<u64> {
        match self.unsigned()? {
            value if value == expected => Ok(value),
            _ => Err(self.error(&format!("{expected}, as these are the rules of CTF 1.8"))),
        }
    }

    /// The value as a UUID in its usual text form.
    pub fn uuid(&self) -> Result<[u8; 16]> {
        let digits: Vec<u32> = self
            .text()?
            .chars()
            .filter(|&character| character != '-')
            .map(|character| character.to_digit(16))
            .collect::<Option<_>>()
            .ok_or_else(|| self.error("a UUID"))?;
        let bytes: Vec<u8> = digits
            .chunks_exact(2)
            .map(|pair| pair.iter().fold(0, |byte, &digit| byte << 4 | digit as u8))
            .collect();
        match <[u8; 16]>::try_from(bytes) {
            Ok(uuid) if digits.len() == 32 => Ok(uuid),
            _ => Err(self.error("a UUID")),
        }
    }

    /// An error that names the attribute and what its value should be.
    pub fn error(&self, expected: &str) -> CtfError {
        CtfError::metadata(self.line, format!("attribute '{}': expected {expected}", self.key))
    }
}

impl Parser<'_> {
    /// Reads `{ key = value; … }`.
    pub(super) fn attributes(&mut self) -> Result<Vec<Attribute>> {
        self.expect("{")?;
        let mut attributes = Vec::new();
        while !self.accept("}") {
            let line = self.line();
            let key = self.dotted_name()?;
            self.expect("=")?;
            attributes.push(self.attribute_value(key, line)?);
        }
        Ok(attributes)
    }

    /// Reads `value;` of an attribute whose key is read.
    pub(super) fn attribute_value(&mut self, key: String, line: u32) -> Result<Attribute> {
        let value = match self.peek().clone() {
            TokenKind::Text(text) => {
                self.advance();
                Value::Text(text)
            }
            TokenKind::Name(_) => Value::Name(self.dotted_name()?),
            _ => Value::Integer(self.integer()?),
        };
        self.expect(";")?;
        Ok(Attribute { key, value, line })
    }
}
