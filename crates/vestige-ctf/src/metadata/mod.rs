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
mod implicit_clock;
pub mod json;
mod keywords;
mod labels;
pub mod lexer;
mod lines;
mod open_body;
pub mod packets;
mod parser;
mod ranges;
mod resolve;
mod scope;
mod static_scope;
mod types;
mod usable;
mod validate;

pub(crate) use self::keywords::{is_keyword, SCOPES};
use self::lines::ScopeLines;
pub use self::usable::{line_offset, usable};
use crate::error::{CtfError, ErrorKind, Result};
use crate::model::{ByteOrder, TraceClass};

/// Deepest nesting of field classes that is read; hostile metadata must not exhaust the stack.
pub(crate) const MAX_DEPTH: u32 = 64;

/// The same for the types of TSDL: the CTF test suite nests 256 structures in a payload.
pub(crate) const MAX_TYPE_DEPTH: u32 = 260;

/// Parses the bytes of a `metadata` file.
///
/// # Errors
///
/// An error with the line of the text, or the byte offset of the metadata packet.
pub fn parse(bytes: &[u8]) -> Result<TraceClass> {
    complete(parse_partial(bytes))
}

/// Parses TSDL text.
///
/// # Errors
///
/// An error with the line that is wrong and what was expected there.
pub fn parse_text(text: &[u8]) -> Result<TraceClass> {
    complete(partial_text(text, None, None))
}

/// Parses a `metadata` file as far as it goes.
///
/// Gives what the blocks before the first error declare, and that error. Streams whose block
/// was not reached are left out: nobody knows the layout of their packets. There is no trace
/// class when no stream is left to read, or when what the blocks say contradicts itself.
/// Without an error the trace class is the one that [`parse`] gives.
#[must_use]
pub fn parse_partial(bytes: &[u8]) -> (Option<TraceClass>, Option<CtfError>) {
    let (trace, error) = partial(bytes);
    (trace, error.map(shortened))
}

fn partial(bytes: &[u8]) -> (Option<TraceClass>, Option<CtfError>) {
    let (text, error) = packets::partial_text(bytes);
    if json::is_fragments(&text) {
        let (trace, json_error) = json::parse(&text);
        return (trace, error.or(json_error));
    }
    partial_text(&text, packets::packet_order(bytes), error)
}

fn complete((trace, error): (Option<TraceClass>, Option<CtfError>)) -> Result<TraceClass> {
    match (trace, error) {
        (Some(trace), None) => Ok(trace),
        (_, Some(error)) => Err(error),
        (None, None) => Err(declares_nothing()),
    }
}

/// Zeros and white space, such as a crash leaves behind, are no trace without streams.
fn declares_nothing() -> CtfError {
    let message = "the metadata declares nothing; expected TSDL text";
    CtfError::new(ErrorKind::Metadata, message)
}

/// Parses text whose end is missing because of `error`, if there is one.
fn partial_text(
    text: &[u8],
    order: Option<ByteOrder>,
    error: Option<CtfError>,
) -> (Option<TraceClass>, Option<CtfError>) {
    if let Err(error) = check_signature(text) {
        return (None, Some(error));
    }
    let mut parser = parser::Parser::new(text, order);
    if parser.is_at_end() {
        let error = error.or(parser.lexer_error());
        return (None, error.or_else(|| Some(declares_nothing())));
    }
    let parser_error = parser.read();
    // Errors in the order of the text: a parser that ran out of tokens did so because of the
    // lexer, and a lexer because of the packets.
    let error = match parser_error {
        Some((error, false)) => Some(error),
        at_end => error.or(parser.lexer_error()).or(at_end.map(|(error, _)| error)),
    };
    let (mut trace, lines) = parser.into_trace_class();
    match finish(&mut trace, &lines) {
        Err(contradiction) => (None, error.or(Some(contradiction))),
        Ok(()) if error.is_some() && trace.stream_classes.is_empty() => (None, error),
        Ok(()) => (Some(trace), error),
    }
}

/// A name may be as long as the metadata; a message about it may not.
fn shortened(mut error: CtfError) -> CtfError {
    const MOST: usize = 300;
    if error.message.chars().nth(2 * MOST).is_some() {
        let ends: Vec<char> = error.message.chars().collect();
        let first = ends.iter().take(MOST);
        let last = ends.iter().skip(ends.len() - MOST);
        error.message =
            first.chain(" ... ".chars().collect::<Vec<_>>().iter()).chain(last).collect();
    }
    error
}

/// Text that says which version it is of must be of this one (CTF 1.8.3, section 7.1).
fn check_signature(text: &[u8]) -> Result<()> {
    let Some(version) = text.strip_prefix(b"/* CTF") else { return Ok(()) };
    match version.strip_prefix(b" 1.8").map(<[u8]>::first) {
        Some(next) if !next.is_some_and(u8::is_ascii_digit) => Ok(()),
        _ => {
            let message = "metadata of another version: expected them to begin with \
                           '/* CTF 1.8' (CTF 1.8.3, 7.1)";
            Err(CtfError::metadata(1, message))
        }
    }
}

fn finish(trace: &mut TraceClass, lines: &ScopeLines) -> Result<()> {
    resolve::resolve(trace, lines)?;
    implicit_clock::map_time_stamps(trace);
    derive::derive(trace);
    validate::validate(trace, lines)
}
