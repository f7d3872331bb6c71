//! Strings between quotes, with C escapes.

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

/// Appends a string between quotes.
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
    fn control_characters_and_quotes_are_escaped_as_in_c() {
        let mut out = Vec::new();
        push_quoted(&mut out, b"a\"b\n\x1b\x01\x7f?\xc3\xa9");
        assert_eq!(out, b"\"a\\\"b\\n\\e\\x01\\x7f\\?\xc3\xa9\"");
    }
}
