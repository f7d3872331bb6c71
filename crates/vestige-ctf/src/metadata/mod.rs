//! From the `metadata` file to the [`TraceClass`].
//!
//! CTF 1.8.3, section 7: the metadata stream holds text in the Trace Stream Description
//! Language, either plain or cut into packets. The steps, a module each: [`packets`] joins
//! the packets, [`lexer`] makes tokens, [`parser`] and its helpers read the declarations,
//! [`resolve`] finds the fields that lengths and selectors name, [`derive`] works out roles,
//! visibility and fixed sizes, [`validate`] refuses what cannot be decoded.

mod attributes;
mod blocks;
mod budget;
mod constants;
pub mod derive;
mod enumeration;
pub mod json;
pub mod lexer;
pub mod packets;
mod parser;
pub mod resolve;
mod scope;
mod types;
pub mod validate;

use crate::error::{CtfError, ErrorKind, Result};
use crate::model::TraceClass;

/// Deepest nesting of types that is read; hostile metadata must not exhaust the stack.
pub(crate) const MAX_DEPTH: u32 = 64;

/// Parses the bytes of a `metadata` file.
///
/// # Errors
///
/// An error with the line of the text, or the byte offset of the metadata packet.
pub fn parse(bytes: &[u8]) -> Result<TraceClass> {
    let text = packets::text(bytes)?;
    if json::is_fragments(&text) {
        return match json::parse(&text) {
            (Some(trace), None) => Ok(trace),
            (_, Some(error)) => Err(error),
            (None, None) => Err(CtfError::new(ErrorKind::Metadata, "no fragment")),
        };
    }
    parse_text(&text)
}

/// Parses TSDL text.
///
/// # Errors
///
/// An error with the line that is wrong and what was expected there.
pub fn parse_text(text: &[u8]) -> Result<TraceClass> {
    let tokens = lexer::tokens(text)?;
    if tokens.len() < 2 {
        // Zeros and white space, such as a crash leaves behind, are no trace without streams.
        let message = "the metadata declares nothing; expected TSDL text";
        return Err(CtfError::new(ErrorKind::Metadata, message));
    }
    let mut trace = parser::Parser::new(tokens).trace_class()?;
    resolve::resolve(&mut trace)?;
    derive::derive(&mut trace);
    validate::validate(&trace)?;
    Ok(trace)
}
