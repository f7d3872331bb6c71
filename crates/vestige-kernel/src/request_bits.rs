//! The letters by which the kernel tells what a request to a disk is (`blk_fill_rwbs`), as the bits
//! that LTTng has in their place.

const WRITE: u32 = 1;
const DISCARD: u32 = 1 << 1;
const READ: u32 = 1 << 2;
const AHEAD: u32 = 1 << 3;
const BARRIER: u32 = 1 << 4;
const SYNC: u32 = 1 << 5;
const META: u32 = 1 << 6;
const SECURE: u32 = 1 << 7;
const FLUSH: u32 = 1 << 8;
const FUA: u32 = 1 << 9;
const PREFLUSH: u32 = 1 << 10;

/// Bits of letters; what follows a zero is left out.
///
/// First comes `F` for a flush before it, then the kind, then what else is said. A request of the
/// kind `F` is a flush itself.
#[must_use]
pub fn request_bits(letters: &[u8]) -> u32 {
    let text = letters.split(|one| *one == 0).next().unwrap_or_default();
    let (mut bits, text) = match text {
        [b'F', rest @ ..] if rest.first().is_some_and(|kind| b"WDRFNZ".contains(kind)) => {
            (PREFLUSH, rest)
        }
        _ => (0, text),
    };
    let (kind, rest) = match text {
        [b'W', rest @ ..] => (WRITE, rest),
        [b'D', b'E', rest @ ..] => (DISCARD | SECURE, rest),
        [b'D', rest @ ..] => (DISCARD, rest),
        [b'R', rest @ ..] => (READ, rest),
        [b'F', rest @ ..] => (FLUSH, rest),
        // Of zones, which LTTng has no bit for.
        [b'Z', _, rest @ ..] | [_, rest @ ..] => (0, rest),
        [] => (0, text),
    };
    bits |= kind;
    for letter in rest {
        bits |= match letter {
            b'F' => FUA,
            b'A' => AHEAD,
            b'B' => BARRIER,
            b'S' => SYNC,
            b'M' => META,
            _ => 0,
        };
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_bits() {
        assert_eq!(request_bits(b"W\0\0\0"), WRITE);
        assert_eq!(request_bits(b"WS"), WRITE | SYNC);
        assert_eq!(request_bits(b"RAM"), READ | AHEAD | META);
        assert_eq!(request_bits(b"FWFS\0"), PREFLUSH | WRITE | FUA | SYNC);
        assert_eq!(request_bits(b"WFS"), WRITE | FUA | SYNC);
        assert_eq!(request_bits(b"FF"), PREFLUSH | FLUSH);
        assert_eq!(request_bits(b"FS"), FLUSH | SYNC);
        assert_eq!(request_bits(b"ZAS"), SYNC);
        assert_eq!(request_bits(b"DE"), DISCARD | SECURE);
        assert_eq!(request_bits(b"N"), 0);
        assert_eq!(request_bits(b""), 0);
    }
}
