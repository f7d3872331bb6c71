//! How many columns text takes on a terminal, and cutting it to fewer.

/// Begins a code that takes no column; ours all end with `m`.
const ESCAPE: u8 = 0x1b;
const CODE_END: char = 'm';

/// Columns of text that holds no control characters but codes of colours.
#[inline]
pub fn columns(text: &[u8]) -> usize {
    if text.iter().all(|byte| (0x20..0x7f).contains(byte)) {
        return text.len();
    }
    let mut total = 0;
    walk(text, |_, width| {
        total += width;
        true
    });
    total
}

/// Cuts what stands from `start` on to some columns, with a sign that something is missing.
#[cold]
pub fn cut(out: &mut Vec<u8>, start: usize, room: usize, sign: &str, reset: &str) {
    let room = room.saturating_sub(columns(sign.as_bytes()));
    let text = out.get(start..).unwrap_or_default();
    let (mut used, mut end) = (0, text.len());
    walk(text, |at, width| {
        let fits = used + width <= room;
        if fits {
            used += width;
        } else {
            end = at;
        }
        fits
    });
    out.truncate(start + end);
    out.extend_from_slice(reset.as_bytes());
    out.extend_from_slice(sign.as_bytes());
}

/// Calls `see` with the place and the width of each character until it says no.
fn walk(text: &[u8], mut see: impl FnMut(usize, usize) -> bool) {
    let mut in_code = false;
    let mut at = 0;
    for chunk in text.utf8_chunks() {
        for character in chunk.valid().chars() {
            if character == char::from(ESCAPE) {
                in_code = true;
            }
            if !in_code && !see(at, width_of(character)) {
                return;
            }
            if character == CODE_END {
                in_code = false;
            }
            at += character.len_utf8();
        }
        at += chunk.invalid().len();
    }
}

/// Columns of a character: two of those of East Asia and of emoji, none of those that
/// combine with the one before.
fn width_of(character: char) -> usize {
    match u32::from(character) {
        0..0x300 => 1,
        0x300..=0x36f | 0x200b..=0x200f | 0x20d0..=0x20ff | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0x303e
        | 0x3041..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// Appends spaces.
#[inline]
pub fn push_spaces(out: &mut Vec<u8>, count: usize) {
    const SPACES: [u8; 64] = [b' '; 64];
    match SPACES.get(..count) {
        Some(spaces) => out.extend_from_slice(spaces),
        None => out.resize(out.len() + count, b' '),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_of_a_terminal() {
        let cases = [("abc", 3), ("\u{b5}s", 2), ("\x1b[1;31mab\x1b[0m", 2), ("\u{6f22}", 2)];
        for (text, expected) in cases {
            assert_eq!(columns(text.as_bytes()), expected, "{text:?}");
        }
        assert_eq!(columns("e\u{301}".as_bytes()), 1);
    }

    #[test]
    fn what_is_cut_fits() {
        let cases = [
            ("abcdef", 4, "abc~"),
            ("\u{6f22}\u{6f22}\u{6f22}", 4, "\u{6f22}~"),
            ("\x1b[1mabcdef\x1b[0m", 3, "\x1b[1mab~"),
            ("abcdef", 0, "~"),
        ];
        for (text, room, expected) in cases {
            let mut out = b"> ".to_vec();
            out.extend_from_slice(text.as_bytes());
            cut(&mut out, 2, room, "~", "");
            assert_eq!(String::from_utf8_lossy(&out), format!("> {expected}"));
        }
    }
}
