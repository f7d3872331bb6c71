//! Numbers in the bases of CTF, and `printf`'s `%g`.

use super::digits::{push_decimal, push_decimal_padded, push_hexadecimal, push_octal, push_signed};
use super::significant::six_digits;
use crate::model::{DisplayBase, IntegerClass};

/// Appends an integer in its preferred base; `value` is sign-extended when it is signed.
#[inline]
pub fn push_integer(out: &mut Vec<u8>, class: &IntegerClass, value: u64) {
    push_based(out, class.base, class.signed, class.size, value);
}

/// Appends an integer of up to 64 bits in a base.
#[inline]
pub fn push_based(out: &mut Vec<u8>, base: DisplayBase, signed: bool, size: u32, value: u64) {
    match base {
        DisplayBase::Decimal if signed => push_signed(out, value as i64),
        DisplayBase::Decimal => push_decimal(out, value),
        DisplayBase::Hexadecimal => {
            out.extend_from_slice(b"0x");
            push_hexadecimal(out, whole_digits(value, size, 4));
        }
        DisplayBase::Octal => {
            let value = if signed { whole_digits(value, size, 3) } else { value };
            out.push(b'0');
            push_octal(out, value);
        }
        DisplayBase::Binary => push_binary(out, value, size),
    }
}

/// Appends an integer of any size from its bytes, the least significant one first. Negative
/// numbers are two's complement; in other bases than 10 their bits are shown.
pub fn push_wide(out: &mut Vec<u8>, base: DisplayBase, negative: bool, bytes: &[u8]) {
    let digit_bits = match base {
        DisplayBase::Decimal => return push_wide_decimal(out, negative, bytes),
        DisplayBase::Hexadecimal => 4,
        DisplayBase::Octal => 3,
        DisplayBase::Binary => 1,
    };
    out.extend_from_slice(match base {
        DisplayBase::Hexadecimal => b"0x",
        DisplayBase::Octal => b"0",
        _ => b"0b",
    });
    let bit = |index: usize| bytes.get(index / 8).map_or(0, |byte| byte >> (index % 8) & 1);
    let digit = |place: usize| {
        (0..digit_bits).rev().fold(0, |digit, step| digit << 1 | bit(place * digit_bits + step))
    };
    let places = (bytes.len() * 8).div_ceil(digit_bits);
    let first = (1..places).rev().find(|&place| digit(place) != 0).unwrap_or(0);
    for place in (0..=first).rev() {
        let digit = digit(place);
        out.push(if digit < 10 { b'0' + digit } else { b'A' + digit - 10 });
    }
}

/// Divides by a billion until nothing is left: nine digits each time.
fn push_wide_decimal(out: &mut Vec<u8>, negative: bool, bytes: &[u8]) {
    const BILLION: u64 = 1_000_000_000;
    let fill = if negative { 0xff } else { 0 };
    let mut limbs: Vec<u32> = bytes
        .chunks(4)
        .map(|chunk| {
            let mut raw = [fill; 4];
            raw.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
            u32::from_le_bytes(raw)
        })
        .collect();
    if negative {
        out.push(b'-');
        let mut carry = true;
        for limb in &mut limbs {
            (*limb, carry) = (!*limb).overflowing_add(u32::from(carry));
        }
    }
    let mut groups = Vec::new();
    while limbs.last() == Some(&0) {
        limbs.pop();
    }
    while !limbs.is_empty() {
        let mut rest = 0u64;
        for limb in limbs.iter_mut().rev() {
            let wide = rest << 32 | u64::from(*limb);
            *limb = (wide / BILLION) as u32;
            rest = wide % BILLION;
        }
        groups.push(rest);
        while limbs.last() == Some(&0) {
            limbs.pop();
        }
    }
    push_decimal_padded(out, groups.pop().unwrap_or(0), 1);
    for group in groups.iter().rev() {
        push_decimal_padded(out, *group, 9);
    }
}

/// Keeps as many bits as the digits of a field of `size` bits have.
#[inline]
fn whole_digits(value: u64, size: u32, digit_bits: u32) -> u64 {
    if size < 64 {
        crate::bits::low_bits(value, size.div_ceil(digit_bits) * digit_bits)
    } else {
        value
    }
}

fn push_binary(out: &mut Vec<u8>, value: u64, size: u32) {
    out.extend_from_slice(b"0b");
    for bit in (0..size).rev() {
        out.push(if value >> bit & 1 == 1 { b'1' } else { b'0' });
    }
}

/// Appends a floating point number as `%g` prints it: six significant digits.
pub fn push_float(out: &mut Vec<u8>, value: f64) {
    if !value.is_finite() {
        if value.is_sign_negative() {
            out.push(b'-');
        }
        out.extend_from_slice(if value.is_nan() { b"nan" } else { b"inf" });
        return;
    }
    if let Some((digits, exponent)) = six_digits(value) {
        return push_digits(out, value.is_sign_negative(), digits, exponent);
    }
    let scientific = format!("{value:.5e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        let decimals = usize::try_from(5 - exponent).unwrap_or(0);
        out.extend_from_slice(without_zeros(&format!("{value:.decimals$}")).as_bytes());
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        let mantissa = without_zeros(mantissa);
        let text = format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs());
        out.extend_from_slice(text.as_bytes());
    }
}

/// Appends six digits without the zeros at their end; `exponent` is that of the first.
fn push_digits(out: &mut Vec<u8>, negative: bool, digits: u32, exponent: i32) {
    if negative {
        out.push(b'-');
    }
    let mut text = [b'0'; 6];
    let mut rest = digits;
    for place in text.iter_mut().rev() {
        *place = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let used = text.iter().rposition(|&digit| digit != b'0').map_or(1, |last| last + 1);
    let is_fixed = (-4..6).contains(&exponent);
    let before = if is_fixed { usize::try_from(exponent + 1).unwrap_or(0) } else { 1 };
    let (whole, fraction) = text.split_at(before);
    let fraction = fraction.get(..used.saturating_sub(before)).unwrap_or_default();
    out.extend_from_slice(if whole.is_empty() { b"0" } else { whole });
    if !fraction.is_empty() {
        out.push(b'.');
        if is_fixed {
            out.extend((exponent..-1).map(|_| b'0'));
        }
        out.extend_from_slice(fraction);
    }
    if !is_fixed {
        out.extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" });
        push_decimal_padded(out, u64::from(exponent.unsigned_abs()), 2);
    }
}

fn without_zeros(digits: &str) -> &str {
    if digits.contains('.') {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        digits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(value: f64) -> String {
        let mut out = Vec::new();
        push_float(&mut out, value);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn floats_look_as_printf_prints_them() {
        let expected = [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (0.1, "0.1"),
            (100_000.0, "100000"),
            (1_000_000.0, "1e+06"),
            (999_999.5, "1e+06"),
            (100_000.5, "100000"),
            (100_001.5, "100002"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1.234_567_89e-300, "1.23457e-300"),
            (5e-324, "4.94066e-324"),
            (-12345.678, "-12345.7"),
            (-0.000_123_456_78, "-0.000123457"),
            (0.999_999_7, "1"),
            (99_999.97, "100000"),
            (1_234_567.0, "1.23457e+06"),
            (20_000_000_000.0, "2e+10"),
            (87.375, "87.375"),
            (10.0, "10"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ];
        for (value, text) in expected {
            assert_eq!(float(value), text);
        }
    }
}
