//! Numbers whose digits stand in groups.

use std::io::Write;

use crate::model::DisplayBase;
use crate::text::digits::{push_decimal, push_decimal_padded, push_octal};

/// Appends a number in base 10; those of five digits and more have commas.
pub fn push_grouped(out: &mut Vec<u8>, value: u64) {
    if value <= 9_999 {
        return push_decimal(out, value);
    }
    push_groups(out, value);
}

fn push_groups(out: &mut Vec<u8>, value: u64) {
    if value < 1_000 {
        return push_decimal(out, value);
    }
    push_groups(out, value / 1_000);
    out.push(b',');
    push_decimal_padded(out, value % 1_000, 3);
}

/// The same with a sign.
pub fn push_grouped_signed(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    push_grouped(out, value.unsigned_abs());
}

/// Appends a number of up to 64 bits in a base, as Babeltrace 2 does: base 2 as base 16.
pub fn push_number(out: &mut Vec<u8>, base: DisplayBase, signed: bool, value: u64) {
    let negative = signed && (value as i64) < 0;
    let value = if negative { (value as i64).unsigned_abs() } else { value };
    if negative {
        out.push(b'-');
    }
    match base {
        DisplayBase::Decimal => push_grouped(out, value),
        DisplayBase::Octal => {
            out.push(b'0');
            let start = out.len();
            push_octal(out, value);
            group(out, start, 3);
        }
        DisplayBase::Hexadecimal | DisplayBase::Binary => push_hexadecimal(out, value),
    }
}

/// Appends a number in base 16, four digits a group.
pub fn push_hexadecimal(out: &mut Vec<u8>, value: u64) {
    let start = out.len() + 2;
    // Writing to memory cannot fail.
    let _ = write!(out, "0x{value:x}");
    group(out, start, 4);
}

/// Appends a number of any size in base 16 from its bytes, the least significant one first.
pub fn push_wide(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(b"0x");
    let start = out.len();
    let used = bytes.iter().rposition(|&byte| byte != 0).map_or(1, |last| last + 1);
    for (index, byte) in bytes.iter().take(used).rev().enumerate() {
        let _ = if index == 0 { write!(out, "{byte:x}") } else { write!(out, "{byte:02x}") };
    }
    group(out, start, 4);
}

/// Puts colons between groups of the digits behind `start`.
fn group(out: &mut Vec<u8>, start: usize, size: usize) {
    let mut at = out.len();
    while at.saturating_sub(size) > start {
        at -= size;
        out.insert(at, b':');
    }
}

/// Appends a floating point number as `%f` prints it.
pub fn push_float(out: &mut Vec<u8>, value: f64) {
    if value.is_nan() {
        let sign: &[u8] = if value.is_sign_negative() { b"-nan" } else { b"nan" };
        return out.extend_from_slice(sign);
    }
    // The same digits as in C, `inf` included.
    let _ = write!(out, "{value:.6}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(push: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        push(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn digits_stand_in_groups_from_five_on() {
        let numbers = [(0, "0"), (9_999, "9999"), (10_000, "10,000"), (123_456, "123,456")];
        for (value, expected) in numbers {
            assert_eq!(text(|out| push_grouped(out, value)), expected);
        }
        assert_eq!(text(|out| push_grouped(out, u64::MAX)), "18,446,744,073,709,551,615");
        let least = text(|out| push_grouped_signed(out, i64::MIN));
        assert_eq!(least, "-9,223,372,036,854,775,808");
    }

    #[test]
    fn other_bases_have_colons() {
        use DisplayBase::{Binary, Hexadecimal, Octal};
        let number = |base, value: i64| text(|out| push_number(out, base, true, value as u64));
        assert_eq!(number(Hexadecimal, 0x1234), "0x1234");
        assert_eq!(number(Hexadecimal, 0x12345), "0x1:2345");
        assert_eq!(number(Hexadecimal, -0x1_2345_6789), "-0x1:2345:6789");
        assert_eq!(number(Binary, 5), "0x5");
        assert_eq!(number(Octal, 0o1234), "01:234");
        assert_eq!(text(|out| push_wide(out, &[1, 0xab, 2, 0, 3, 0])), "0x3:0002:ab01");
        assert_eq!(text(|out| push_wide(out, &[0, 0])), "0x0");
    }

    #[test]
    fn floats_have_six_decimals() {
        for (value, expected) in
            [(1.5, "1.500000"), (-0.0, "-0.000000"), (1e20, "100000000000000000000.000000")]
        {
            assert_eq!(text(|out| push_float(out, value)), expected);
        }
        assert_eq!(text(|out| push_float(out, f64::NEG_INFINITY)), "-inf");
        assert_eq!(text(|out| push_float(out, f64::NAN)), "nan");
    }
}
