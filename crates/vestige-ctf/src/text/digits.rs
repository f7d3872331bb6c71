//! The digits of unsigned integers, two at a time.

use super::snippet::push_start;
use crate::bits::low_bits;

/// More than the 20 digits of the largest integer of 64 bits.
const MOST: usize = 24;

/// `00` to `99`.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut value = 0;
    while value < 100 {
        #[allow(clippy::indexing_slicing)]
        {
            pairs[value as usize] = [b'0' + value / 10, b'0' + value % 10];
        }
        value += 1;
    }
    pairs
};

/// `00` to `FF`.
const HEXADECIMAL: [[u8; 2]; 256] = {
    const DIGITS: [u8; 16] = *b"0123456789ABCDEF";
    let mut pairs = [[0; 2]; 256];
    let mut value = 0;
    while value < 256 {
        #[allow(clippy::indexing_slicing)]
        {
            pairs[value] = [DIGITS[value / 16], DIGITS[value % 16]];
        }
        value += 1;
    }
    pairs
};

/// Appends a value in base 10.
#[inline]
pub fn push_decimal(out: &mut Vec<u8>, value: u64) {
    push_decimal_padded(out, value, 1);
}

/// Appends a signed value in base 10.
#[inline]
pub fn push_signed(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    push_decimal(out, value.unsigned_abs());
}

/// Appends a value in base 10 as at least `width` digits, up to 20.
#[inline]
pub fn push_decimal_padded(out: &mut Vec<u8>, value: u64, width: usize) {
    let length = decimal_digits(value).max(width).min(MOST);
    let mut digits = [b'0'; MOST];
    let mut rest = value;
    let mut end = length;
    while rest >= 10 {
        let pair = PAIRS.get((rest % 100) as usize).copied().unwrap_or_default();
        rest /= 100;
        if let Some(place) = digits.get_mut(end.wrapping_sub(2)..end) {
            place.copy_from_slice(&pair);
        }
        end -= 2;
    }
    if let Some(place) = digits.get_mut(end.wrapping_sub(1)).filter(|_| rest > 0) {
        *place = b'0' + rest as u8;
    }
    push_start(out, &digits, length);
}

/// How many digits a value has in base 10; 1 for 0.
#[inline]
fn decimal_digits(value: u64) -> usize {
    const POWERS: [u64; 20] = {
        let mut powers = [1u64; 20];
        let mut index = 1;
        while index < 20 {
            #[allow(clippy::indexing_slicing)]
            {
                powers[index] = powers[index - 1] * 10;
            }
            index += 1;
        }
        powers
    };
    // 1233 / 4096 is a little more than the logarithm of 2.
    let bits = (64 - (value | 1).leading_zeros()) as usize;
    let about = (bits * 1233) >> 12;
    about + usize::from(POWERS.get(about).is_some_and(|power| (value | 1) >= *power))
}

/// Appends a value in base 16, without leading zeros.
#[inline]
pub fn push_hexadecimal(out: &mut Vec<u8>, value: u64) {
    let length = ((64 - (value | 1).leading_zeros()) as usize).div_ceil(4);
    let mut digits = [0; 16];
    // The first digit moves to the top, so that the digits start where the text does.
    let shifted = value << (64 - 4 * length);
    for (place, byte) in digits.chunks_exact_mut(2).zip(shifted.to_be_bytes()) {
        let pair = HEXADECIMAL.get(byte as usize).copied().unwrap_or_default();
        place.copy_from_slice(&pair);
    }
    push_start(out, &digits, length);
}

/// Appends a value in base 8, without leading zeros.
pub fn push_octal(out: &mut Vec<u8>, value: u64) {
    let significant = 64 - (value | 1).leading_zeros();
    for place in (0..significant.div_ceil(3)).rev() {
        out.push(b'0' + low_bits(value >> (place * 3), 3) as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(push: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        push(&mut out);
        String::from_utf8(out).unwrap()
    }

    /// Values around all powers of 2 and 10.
    fn values() -> Vec<u64> {
        let twos = (0..64).map(|bit| 1u64 << bit);
        let tens = (0..20).map(|power| 10u64.pow(power));
        let more = |value: u64| value.wrapping_mul(7) / 3;
        let edges = twos.chain(tens).flat_map(|value| [value - 1, value, value + 1, more(value)]);
        edges.chain([0, u64::MAX]).collect()
    }

    #[test]
    fn digits_are_those_that_the_standard_library_writes() {
        for value in values() {
            assert_eq!(text(|out| push_decimal(out, value)), format!("{value}"));
            assert_eq!(text(|out| push_hexadecimal(out, value)), format!("{value:X}"));
            assert_eq!(text(|out| push_octal(out, value)), format!("{value:o}"));
            for width in [1, 2, 9, 12, 20] {
                let padded = text(|out| push_decimal_padded(out, value, width));
                assert_eq!(padded, format!("{value:0width$}"));
            }
            let signed = value as i64;
            assert_eq!(text(|out| push_signed(out, signed)), format!("{signed}"));
        }
    }
}
