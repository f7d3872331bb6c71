//! Strings and names: between quotes with C escapes, and without what steers a terminal.

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

/// Appends text with escapes for control characters (C0, DEL, C1), for bytes that are no
/// UTF-8, and with a backslash before some characters.
///
/// The Python side has the same rule in `cli/render/plain.py`; a test compares them.
#[inline]
pub fn push_safe(out: &mut Vec<u8>, text: &[u8], escaped: &[u8]) {
    if text.iter().all(|byte| (0x20..0x7f).contains(byte) && !escaped.contains(byte)) {
        out.extend_from_slice(text);
    } else {
        push_safe_slowly(out, text, escaped);
    }
}

fn push_safe_slowly(out: &mut Vec<u8>, text: &[u8], escaped: &[u8]) {
    for chunk in text.utf8_chunks() {
        for character in chunk.valid().chars() {
            match u8::try_from(character) {
                Ok(byte) if byte < 0x80 && escaped.contains(&byte) => {
                    out.extend_from_slice(&[b'\\', byte]);
                }
                Ok(byte) if byte < 0x20 || byte == 0x7f => push_escape(out, byte),
                Ok(byte @ 0x80..=0x9f) => {
                    out.extend_from_slice(format!("\\u{byte:04x}").as_bytes());
                }
                _ => {
                    let mut bytes = [0; 4];
                    out.extend_from_slice(character.encode_utf8(&mut bytes).as_bytes());
                }
            }
        }
        for byte in chunk.invalid() {
            out.extend_from_slice(format!("\\x{byte:02x}").as_bytes());
        }
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

#[cold]
fn push_escape(out: &mut Vec<u8>, byte: u8) {
    let letter = match byte {
        b'"' | b'\'' | b'\\' | b'?' => byte,
        0 => b'0',
        7 => b'a',
        8 => b'b',
        9 => b't',
        10 => b'n',
        11 => b'v',
        12 => b'f',
        13 => b'r',
        27 => b'e',
        _ => {
            out.extend_from_slice(format!("\\x{byte:02x}").as_bytes());
            return;
        }
    };
    out.extend_from_slice(&[b'\\', letter]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_a_terminal() {
        let text = b"a\x1b[2J\x07\x7f\x9b\xc2\x9b\xc2\xa0\xc3\xa9\"\\'?\0";
        let mut out = Vec::new();
        push_safe(&mut out, text, b"");
        let expected = b"a\\e[2J\\a\\x7f\\x9b\\u009b\xc2\xa0\xc3\xa9\"\\'?\\0";
        assert_eq!(out, expected);
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
