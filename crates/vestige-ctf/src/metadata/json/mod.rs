//! The metadata stream of CTF 2: fragments in JSON (CTF2-SPEC-2.0, section 5).
//!
//! The fragments are a JSON text sequence (RFC 7464): each begins with the byte 0x1E. The
//! steps, a module each: [`value`] reads JSON, [`node`] types its properties, [`fragments`]
//! and [`field_classes`] make the trace class, [`locate`] finds the fields that lengths and
//! selectors are in, and [`scopes`] works out what roles mean where they stand.

mod clocks;
mod field_classes;
mod fragments;
mod locate;
mod node;
mod scalars;
mod scopes;
mod value;

use std::ops::Range;

use crate::error::{CtfError, Result};
use crate::model::TraceClass;

/// The byte in front of each fragment.
const RECORD_SEPARATOR: u8 = 0x1e;

/// Whether metadata text is a sequence of fragments.
#[must_use]
pub fn is_fragments(text: &[u8]) -> bool {
    text.first() == Some(&RECORD_SEPARATOR)
}

/// Parses fragments up to the first that is wrong: what those before it declare, and what
/// is wrong.
#[must_use]
pub fn parse(text: &[u8]) -> (Option<TraceClass>, Option<CtfError>) {
    let mut builder = fragments::Builder::new(text);
    let mut wrong = None;
    for (number, range) in (1..).zip(ranges(text)) {
        if let Err(error) = add(&mut builder, text, number, range) {
            wrong = Some(error);
            break;
        }
    }
    if wrong.is_none() && !builder.has_preamble() {
        let message = "no fragment: expected a preamble";
        wrong = Some(node::error(1, "", 0, message));
    }
    if !builder.has_preamble() {
        return (None, wrong);
    }
    match builder.finish() {
        Ok(trace) => (Some(trace), wrong),
        Err(error) => (None, wrong.or(Some(error))),
    }
}

fn add(
    builder: &mut fragments::Builder<'_>,
    text: &[u8],
    number: usize,
    range: Range<usize>,
) -> Result<()> {
    let value = value::parse(text, range)
        .map_err(|invalid| node::error(number, "", invalid.offset, invalid.message))?;
    builder.add(&node::Node { value: &value, fragment: number, path: node::Path::Root })
}

/// The bytes of each fragment. Empty ones are allowed (RFC 7464, section 2.1), and so are
/// the zeros that a buffer of the tracer may leave behind the last.
fn ranges(text: &[u8]) -> Vec<Range<usize>> {
    let mut starts: Vec<usize> = memchr::memchr_iter(RECORD_SEPARATOR, text).collect();
    starts.push(text.len());
    let mut found = Vec::new();
    for pair in starts.windows(2) {
        if let [start, end] = *pair {
            let bytes = text.get(start + 1..end).unwrap_or_default();
            let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0;
            let unused = bytes.iter().rev().take_while(|byte| blank(byte)).count();
            if unused < bytes.len() {
                found.push(start + 1..end - unused);
            }
        }
    }
    found
}
