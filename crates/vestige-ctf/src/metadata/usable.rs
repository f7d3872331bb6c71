//! The part of a metadata stream that can be used.

use std::borrow::Cow;

use super::{json, packets, parse, parse_partial};

/// How many ends of a declaration are tried, from the last to the first.
const MOST_TRIES: usize = 1000;
/// What plain text must begin with for Babeltrace (CTF 1.8.3, section 7).
const SIGNATURE: &[u8] = b"/* CTF 1.8 */\n";

/// Metadata as far as they can be used: the bytes as they are when all can, else the text of
/// the declarations before the first that cannot; `None` when there is none.
#[must_use]
pub fn usable(bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
    if parse(bytes).is_ok() {
        let is_text = packets::packet_order(bytes).is_none();
        let usable = if is_text && bytes.contains(&0) {
            Cow::Owned(without_zeros(bytes).collect())
        } else {
            Cow::Borrowed(bytes)
        };
        return Some(usable);
    }
    let (whole, error) = parse_partial(bytes);
    let whole = whole?;
    let wanted = whole.stream_classes.iter().map(|class| class.event_classes.len());
    let wanted: Vec<usize> = wanted.collect();
    let (text, _) = packets::partial_text(bytes);
    let last = error.and_then(|error| line_end(&text, error.line?)).unwrap_or(text.len());
    let ends = (0..=last).rev().filter(|&end| ends_declaration(&text, end));
    for end in ends.take(MOST_TRIES) {
        let Some(prefix) = text.get(..end) else { continue };
        let Ok(trace) = parse(prefix) else { continue };
        let found = trace.stream_classes.iter().map(|class| class.event_classes.len());
        if found.eq(wanted.iter().copied()) {
            let mut usable = Vec::with_capacity(end + SIGNATURE.len() + 1);
            let is_signed = prefix.starts_with(b"/* CTF") || json::is_fragments(prefix);
            usable.extend_from_slice(if is_signed { b"" } else { SIGNATURE });
            usable.extend(without_zeros(prefix));
            usable.push(b'\n');
            return Some(Cow::Owned(usable));
        }
    }
    None
}

/// The text with spaces for zero bytes: white space here, and the end to other readers.
fn without_zeros(text: &[u8]) -> impl Iterator<Item = u8> + '_ {
    text.iter().map(|byte| if *byte == 0 { b' ' } else { *byte })
}

/// Where a line, from 1, ends: no text that goes beyond the line of the first error can be used.
fn line_end(text: &[u8], line: u32) -> Option<usize> {
    memchr::memchr_iter(b'\n', text).nth(line.checked_sub(1)? as usize)
}

/// Whether a declaration of TSDL, or a fragment of JSON, may end before an offset.
fn ends_declaration(text: &[u8], end: usize) -> bool {
    const RECORD_SEPARATOR: u8 = 0x1e;
    let before = end.checked_sub(1).and_then(|last| text.get(last));
    before == Some(&b';') || text.get(end) == Some(&RECORD_SEPARATOR)
}

/// Byte offset of a line, from 1, of metadata in plain text.
#[must_use]
pub fn line_offset(bytes: &[u8], line: u32) -> Option<u64> {
    if packets::packet_order(bytes).is_some() {
        return None;
    }
    let before = line.checked_sub(1)? as usize;
    if before == 0 {
        return Some(0);
    }
    let ends = memchr::memchr_iter(b'\n', bytes);
    ends.skip(before - 1).map(|end| end as u64 + 1).next()
}
