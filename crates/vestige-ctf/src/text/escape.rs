//! Strings and names: between quotes with C escapes, and without what steers a terminal.

use vestige_escapes::{push_escape, push_safe};

use super::options::Style;

/// Whether a byte cannot stand in a string as it is.
const fn special(byte: u8) -> bool {
    byte < 0x20 || byte == 0x7f || matches!(byte, b'"' | b'\'' | b'\\' | b'?')
}

const SPECIAL: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        #[allow(clippy::indexing_slicing)]
        {
            table[byte] = special(byte as u8);
        }
        byte += 1;
    }
    table
};

/// Appends a string between quotes, in a style.
#[inline]
pub fn push_string(out: &mut Vec<u8>, text: &[u8], style: Style) {
    if !style.safe {
        return push_quoted(out, text);
    }
    let quotes: &[u8] = if style.short { b"\"\\" } else { b"\"\\'?" };
    out.push(b'"');
    push_safe(out, text, quotes);
    out.push(b'"');
}

/// Appends a name, as it is or without what steers a terminal.
pub fn push_plain(out: &mut Vec<u8>, text: &str, style: Style) {
    if style.safe {
        push_safe(out, text.as_bytes(), b"");
    } else {
        out.extend_from_slice(text.as_bytes());
    }
}

/// Appends a string between quotes, as Babeltrace 2 does.
#[inline]
pub fn push_quoted(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    let mut rest = text;
    while let Some(length) = rest.iter().position(|&byte| is_special(byte)) {
        let (plain, tail) = rest.split_at(length);
        out.extend_from_slice(plain);
        let Some((&byte, tail)) = tail.split_first() else { break };
        push_escape(out, byte);
        rest = tail;
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

#[inline]
fn is_special(byte: u8) -> bool {
    SPECIAL.get(byte as usize).copied().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_what_is_special_between_them_are_escaped() {
        for (short, quoted) in [(true, &b"\"\\\"\\\\'?\""[..]), (false, b"\"\\\"\\\\\\'\\?\"")] {
            let mut out = Vec::new();
            push_string(&mut out, b"\"\\'?", Style { short, safe: true });
            assert_eq!(out, quoted);
        }
    }

    #[test]
    fn control_characters_and_quotes_are_escaped_as_in_c() {
        let mut out = Vec::new();
        push_quoted(&mut out, b"a\"b\n\x1b\x01\x7f?\xc3\xa9");
        assert_eq!(out, b"\"a\\\"b\\n\\e\\x01\\x7f\\?\xc3\xa9\"");
    }
}
