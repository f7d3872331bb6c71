//! The keywords of TSDL, and where they may stand (CTF 1.8.3, C.1.2).

use super::lexer::TokenKind;
use super::parser::Parser;
use crate::error::{CtfError, Result};

/// Beginnings of absolute paths (CTF 1.8.3, section 7.3.2), in decoding order.
pub(crate) const SCOPES: [&str; 6] = [
    "trace.packet.header",
    "stream.packet.context",
    "stream.event.header",
    "stream.event.context",
    "event.context",
    "event.fields",
];

/// Whether a word is a keyword that C has too, for a type or a part of its name.
fn is_basic_type(word: &str) -> bool {
    matches!(
        word,
        "const"
            | "char"
            | "double"
            | "float"
            | "int"
            | "long"
            | "short"
            | "signed"
            | "unsigned"
            | "void"
            | "_Bool"
            | "_Complex"
            | "_Imaginary"
    )
}

/// Whether a word is reserved, and so no name of a type of one's own.
fn is_reserved(word: &str) -> bool {
    matches!(
        word,
        "align"
            | "callsite"
            | "clock"
            | "enum"
            | "env"
            | "event"
            | "floating_point"
            | "integer"
            | "stream"
            | "string"
            | "struct"
            | "trace"
            | "typealias"
            | "typedef"
            | "variant"
    )
}

/// Whether a word is no name of a field.
pub(crate) fn is_keyword(word: &str) -> bool {
    is_reserved(word) || is_basic_type(word)
}

impl Parser<'_> {
    /// Reads the name of a field or a type: any name but a keyword.
    pub(super) fn identifier(&mut self) -> Result<String> {
        if let TokenKind::Name(word) = self.peek() {
            if is_keyword(word) {
                return Err(self.error(keyword(word)));
            }
        }
        self.name()
    }

    /// Reads the name of an alias, such as `unsigned long`, `void *` or `struct page *`;
    /// spaces join its words.
    pub(super) fn alias_name(&mut self) -> Result<String> {
        let mut words: Vec<String> = Vec::new();
        if let TokenKind::Name(word) = self.peek() {
            if matches!(word.as_str(), "struct" | "variant" | "enum") {
                words.push(word.clone());
                self.advance();
            }
        }
        loop {
            match self.peek() {
                TokenKind::Name(word) if is_reserved(word) => {
                    return Err(self.error(keyword(word)));
                }
                TokenKind::Name(word) => words.push(word.clone()),
                TokenKind::Punctuation("*") => words.push("*".to_owned()),
                _ => break,
            }
            self.advance();
        }
        if words.is_empty() {
            return Err(self.unexpected("the name of a type"));
        }
        Ok(words.join(" "))
    }

    /// Reads the path of a length or a selector.
    pub(super) fn reference(&mut self) -> Result<Vec<String>> {
        let line = self.line();
        let path = self.dotted_name()?;
        let absolute = |scope: &&str| path.strip_prefix(*scope)?.strip_prefix('.');
        let relative = SCOPES.iter().find_map(absolute).unwrap_or(&path);
        let wrong = relative.split('.').find(|word| is_keyword(word));
        match wrong {
            Some(word) => Err(CtfError::metadata(line, keyword(word))),
            None => Ok(path.split('.').map(str::to_owned).collect()),
        }
    }
}

fn keyword(word: &str) -> String {
    format!("the keyword '{word}' is no name of a field or a type (CTF 1.8.3, C.1.2)")
}
