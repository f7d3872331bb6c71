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

pub(crate) use fragments::LOG_LEVELS;
pub(crate) use locate::ORIGINS;

use std::ops::Range;

use crate::error::{CtfError, Result};
use crate::model::TraceClass;

/// How often metadata are read to get around locations that are wrong.
const MAX_ATTEMPTS: usize = 8;

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
    let mut ranges = ranges(text);
    let mut first_error = None;
    // A location is found to be wrong at the end; then what stands before it is read anew.
    for _ in 0..MAX_ATTEMPTS {
        let (builder, error) = build(text, &ranges);
        if error.is_some() {
            first_error = error;
        }
        if !builder.has_preamble() {
            return (None, first_error);
        }
        match builder.finish() {
            Ok(trace) => return (Some(trace), first_error),
            Err(wrong) => {
                ranges.truncate(wrong.fragment.saturating_sub(1));
                first_error = Some(wrong.error);
            }
        }
    }
    (None, first_error)
}

/// The fragments up to the first that is wrong by itself.
fn build<'a>(
    text: &'a [u8],
    ranges: &[Range<usize>],
) -> (fragments::Builder<'a>, Option<CtfError>) {
    let mut builder = fragments::Builder::new(text);
    if ranges.is_empty() {
        let error = node::error(1, "", 0, "no fragment: expected a preamble");
        return (builder, Some(error));
    }
    for (number, range) in (1..).zip(ranges) {
        if let Err(error) = add(&mut builder, text, number, range.clone()) {
            return (builder, Some(error));
        }
    }
    (builder, None)
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
