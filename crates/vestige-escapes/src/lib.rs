//! Text of others for people: names, strings and paths that cannot steer a terminal.
//!
//! The Python package has the same rule in `plain_text.py`; a test compares them.

/// Appends text with escapes for what steers a terminal, and a backslash before some
/// characters.
///
/// Escaped are control characters (C0, DEL, C1), those that change the direction of the
/// text around them, the line and paragraph separators, and bytes that are no UTF-8.
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
                _ if steers(character) => {
                    let code = u32::from(character);
                    out.extend_from_slice(format!("\\u{code:04x}").as_bytes());
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

/// Whether a character outside of ASCII is a control (C1), ends a line, or changes the
/// direction of the text around it.
const fn steers(character: char) -> bool {
    matches!(
        character,
        '\u{80}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
    )
}

/// Appends the escape of one byte, as in C.
#[cold]
pub fn push_escape(out: &mut Vec<u8>, byte: u8) {
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

    fn safe(text: &[u8], escaped: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        push_safe(&mut out, text, escaped);
        out
    }

    #[test]
    fn nothing_steers_a_terminal() {
        let text = b"a\x1b[2J\x07\x7f\x9b\xc2\x9b\xc2\xa0\xc3\xa9\"\\'?\0";
        let expected = b"a\\e[2J\\a\\x7f\\x9b\\u009b\xc2\xa0\xc3\xa9\"\\'?\\0";
        assert_eq!(safe(text, b""), expected);
        assert_eq!(safe(b"a\"b'", b"\""), b"a\\\"b'");
    }

    #[test]
    fn nothing_turns_or_ends_a_line() {
        let text = "\u{61c}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202e}\u{2066}\u{2069}";
        let expected = r"\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069";
        assert_eq!(safe(text.as_bytes(), b""), expected.as_bytes());
        let harmless = "\u{200d}\u{2027}\u{202f}\u{2065}\u{206a}א";
        assert_eq!(safe(harmless.as_bytes(), b""), harmless.as_bytes());
    }
}
