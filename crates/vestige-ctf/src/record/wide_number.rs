//! Integers of any size: bit arrays of CTF 2, and the wide integers of CTF 1.8.

use super::state::{DecodeError, State};
use crate::bits::{low_bits, sign_extend, BitReader, OutOfData};
use crate::model::{BitArrayClass, BitMeaning, ByteOrder};

/// An integer or a bit array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Number {
    /// At most 64 bits.
    Unsigned(u64),
    /// At most 64 bits, two's complement.
    Signed(i64),
    /// More bits, from the least significant byte on; a signed one is two's complement with
    /// its sign in every unused bit of the last byte.
    Wide {
        /// Whether it is two's complement.
        signed: bool,
        /// Its bytes, at least one.
        bytes: Vec<u8>,
    },
}

impl Number {
    /// A number of `size` bits whose bytes start with the least significant one.
    #[must_use]
    pub fn from_bytes(mut bytes: Vec<u8>, size: u32, signed: bool) -> Self {
        if size > 64 {
            if signed {
                extend_sign(&mut bytes, size);
            }
            return Self::Wide { signed, bytes };
        }
        let raw = bytes.iter().rev().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
        Self::narrow(raw, size, signed)
    }

    fn narrow(raw: u64, size: u32, signed: bool) -> Self {
        if signed {
            Self::Signed(sign_extend(raw, size))
        } else {
            Self::Unsigned(raw)
        }
    }

    /// Whether the number is below zero.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        match self {
            Self::Unsigned(_) => false,
            Self::Signed(value) => *value < 0,
            Self::Wide { signed, bytes } => *signed && bytes.last().is_some_and(|byte| *byte > 127),
        }
    }

    /// The value, when 128 bits hold it.
    #[must_use]
    pub fn value(&self) -> Option<i128> {
        match self {
            Self::Unsigned(value) => Some(i128::from(*value)),
            Self::Signed(value) => Some(i128::from(*value)),
            Self::Wide { bytes, .. } => {
                let fill = if self.is_negative() { 0xff } else { 0 };
                let (low, high) = bytes.split_at(bytes.len().min(16));
                let mut raw = [fill; 16];
                raw.iter_mut().zip(low).for_each(|(to, from)| *to = *from);
                let value = i128::from_le_bytes(raw);
                let whole = high.iter().all(|&byte| byte == fill);
                (whole && (value < 0) == self.is_negative()).then_some(value)
            }
        }
    }

    /// The raw bits of the closest number of 64 bits of the same signedness.
    #[must_use]
    pub fn saturated(&self) -> u64 {
        match self {
            Self::Unsigned(value) => *value,
            Self::Signed(value) => *value as u64,
            Self::Wide { signed: false, .. } => {
                self.value().and_then(|value| u64::try_from(value).ok()).unwrap_or(u64::MAX)
            }
            Self::Wide { .. } => {
                let closest = if self.is_negative() { i64::MIN } else { i64::MAX };
                let value = self.value().and_then(|value| i64::try_from(value).ok());
                value.unwrap_or(closest) as u64
            }
        }
    }

    /// Its 64 lowest bits.
    #[must_use]
    pub fn low(&self) -> u64 {
        match self {
            Self::Unsigned(value) => *value,
            Self::Signed(value) => *value as u64,
            Self::Wide { bytes, .. } => {
                bytes.iter().take(8).rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
            }
        }
    }

    /// Whether a bit is set; bit 0 is the least significant one.
    #[must_use]
    pub fn bit(&self, index: u32) -> bool {
        match self {
            Self::Wide { bytes, .. } => {
                bytes.get(index as usize / 8).is_some_and(|byte| byte >> (index % 8) & 1 == 1)
            }
            _ => index < 64 && self.low() >> index & 1 == 1,
        }
    }

    /// Whether any bit is set.
    #[must_use]
    pub fn any_bit(&self) -> bool {
        match self {
            Self::Wide { bytes, .. } => bytes.iter().any(|&byte| byte != 0),
            _ => self.low() != 0,
        }
    }

    /// Whether any bit from `lower` to `upper` is set.
    #[must_use]
    pub fn any_bit_of(&self, lower: i128, upper: i128, size: u32) -> bool {
        let last = upper.min(i128::from(size) - 1);
        let (Ok(first), Ok(last)) = (u32::try_from(lower.max(0)), u32::try_from(last)) else {
            return false;
        };
        let Self::Wide { bytes, .. } = self else {
            return first <= last && low_bits(self.low(), last + 1) >> first != 0;
        };
        // Whole bytes in between; a bit map may have many bits and many flags.
        let (from, to) = (first.div_ceil(8) * 8, (last + 1) / 8 * 8);
        if from >= to {
            return (first..=last).any(|index| self.bit(index));
        }
        let inner = bytes.get(from as usize / 8..to as usize / 8).unwrap_or_default();
        (first..from).chain(to..last + 1).any(|index| self.bit(index))
            || inner.iter().any(|&byte| byte != 0)
    }

    /// Its bytes from the least significant one on.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Wide { bytes, .. } => bytes.clone(),
            _ => self.low().to_le_bytes().to_vec(),
        }
    }
}

/// Copies the sign into the bits of the last byte that the number does not use.
fn extend_sign(bytes: &mut [u8], size: u32) {
    let used = size % 8;
    if let (Some(last), true) = (bytes.last_mut(), used != 0) {
        if *last >> (used - 1) & 1 == 1 {
            *last |= 0xff << used;
        }
    }
}

/// Reads the bits of a bit array and notes its value for whoever needs it.
///
/// # Errors
///
/// When the data ends before it.
pub fn bit_array(
    class: &BitArrayClass,
    reader: &mut BitReader<'_>,
    state: &mut State,
) -> Result<Number, DecodeError> {
    reader.align(class.alignment)?;
    let signed = matches!(class.meaning, BitMeaning::Integer { signed: true, .. });
    let number = if class.size <= 64 {
        let raw = reader.unsigned(class.size, class.order)?;
        let raw = if class.reversed { raw.reverse_bits() >> (64 - class.size) } else { raw };
        Number::narrow(raw, class.size, signed)
    } else {
        let mut bytes = wide(reader, class.size, class.order)?;
        if class.reversed {
            bytes = reversed(&bytes, class.size);
        }
        Number::from_bytes(bytes, class.size, signed)
    };
    if class.uses.any() {
        let value = match class.meaning {
            BitMeaning::Boolean => u64::from(number.any_bit()),
            _ => number.saturated(),
        };
        state.note_uses(&class.uses, class.size, low_bits(number.low(), class.size), value);
    }
    Ok(number)
}

/// The bits of a big field in the usual order, from the least significant byte on.
fn wide(reader: &mut BitReader<'_>, size: u32, order: ByteOrder) -> Result<Vec<u8>, OutOfData> {
    if u64::from(size) > reader.remaining() {
        return Err(OutOfData);
    }
    let mut bytes = Vec::with_capacity((size as usize).div_ceil(8));
    match order {
        ByteOrder::Little => {
            for _ in 0..size / 8 {
                bytes.push(reader.unsigned(8, order)? as u8);
            }
            if size % 8 != 0 {
                bytes.push(reader.unsigned(size % 8, order)? as u8);
            }
        }
        ByteOrder::Big => {
            if size % 8 != 0 {
                bytes.push(reader.unsigned(size % 8, order)? as u8);
            }
            for _ in 0..size / 8 {
                bytes.push(reader.unsigned(8, order)? as u8);
            }
            bytes.reverse();
        }
    }
    Ok(bytes)
}

/// The same bits with the first one last.
fn reversed(bytes: &[u8], size: u32) -> Vec<u8> {
    let turned: Vec<u8> = bytes.iter().rev().map(|byte| byte.reverse_bits()).collect();
    let unused = (8 - size % 8) % 8;
    let mut result = Vec::with_capacity(turned.len());
    for (index, &byte) in turned.iter().enumerate() {
        let next = turned.get(index + 1).copied().unwrap_or(0);
        result.push((u16::from_le_bytes([byte, next]) >> unused) as u8);
    }
    result
}

/// The closest double to an IEEE 754 binary floating point number of 16, 32, 64, 128 or
/// more bits.
#[must_use]
pub fn binary_float(number: &Number, size: u32) -> f64 {
    let exponent_bits = match size {
        16 => 5,
        32 => 8,
        64 => return f64::from_bits(number.low()),
        128 => 15,
        // IEEE 754-2008, table 3.5: round(4 log2(k)) - 13.
        _ => ((4.0 * f64::from(size).log2()).round() as u32).saturating_sub(13).clamp(1, 30),
    };
    let fraction_bits = size.saturating_sub(exponent_bits + 1);
    let exponent = (0..exponent_bits)
        .rev()
        .fold(0i64, |value, bit| value << 1 | i64::from(number.bit(fraction_bits + bit)));
    let sign = if number.bit(size - 1) { -1.0 } else { 1.0 };
    let largest = (1i64 << exponent_bits) - 1;
    // 62 bits and whether any lower one is set: enough to round correctly once.
    let mut significand =
        (0..62u32).fold(0u64, |value, step| value << 1 | fraction_bit(number, fraction_bits, step));
    let rest = fraction_bits.saturating_sub(62);
    if (0..rest).any(|bit| number.bit(bit)) {
        significand |= 1;
    }
    if exponent == largest {
        return if significand == 0 { sign * f64::INFINITY } else { f64::NAN };
    }
    let normal = u64::from(exponent != 0) << 62;
    let bias = largest >> 1;
    scale(significand | normal, exponent.max(1) - bias - 62) * sign
}

fn fraction_bit(number: &Number, fraction_bits: u32, step: u32) -> u64 {
    u64::from(fraction_bits > step && number.bit(fraction_bits - 1 - step))
}

/// `significand` times two to the power of `exponent`, rounded once.
fn scale(significand: u64, exponent: i64) -> f64 {
    let width = 64 - i64::from(significand.leading_zeros());
    // The least significant bit that a double of this magnitude has.
    let lowest = (width + exponent - 53).max(-1074);
    let drop = (lowest - exponent).clamp(0, 64) as u32;
    let wide = u128::from(significand);
    let kept = wide >> drop;
    let lost = wide & ((1u128 << drop) - 1);
    let half = (1u128 << drop) >> 1;
    let up = lost > half || (lost == half && drop > 0 && kept & 1 == 1);
    let rounded = (kept + u128::from(up)) as f64;
    let power = (exponent + i64::from(drop)).clamp(-2000, 2000) as i32;
    // Two steps, so that no power of two on the way is out of range.
    rounded * 2f64.powi(power / 2) * 2f64.powi(power - power / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(bytes: &[u8]) -> Number {
        Number::from_bytes(bytes.to_vec(), bytes.len() as u32 * 8, false)
    }

    #[test]
    fn half_precision_numbers_have_their_known_values() {
        let cases: [(u16, f64); 6] = [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 5.960_464_477_539_063e-8),
            (0x3555, 0.333_251_953_125),
            (0x7c00, f64::INFINITY),
        ];
        for (bits, value) in cases {
            assert_eq!(binary_float(&number(&bits.to_le_bytes()), 16), value, "{bits:#x}");
        }
        assert!(binary_float(&number(&0x7e00u16.to_le_bytes()), 16).is_nan());
    }

    #[test]
    fn single_precision_agrees_with_the_machine() {
        for bits in [0u32, 1, 0x007f_ffff, 0x0080_0000, 0x3f80_0000, 0x7f7f_ffff, 0xff80_0000] {
            let expected = f64::from(f32::from_bits(bits));
            assert_eq!(binary_float(&number(&bits.to_le_bytes()), 32), expected, "{bits:#x}");
        }
    }

    #[test]
    fn quadruple_precision_is_rounded_to_the_closest_double() {
        // 1 + 2^-60 is half of nothing that a double can show; 1 + 2^-52 is one step.
        for (low, expected) in [(1u128 << 52, 1.0), (1 << 60, 1.0 + f64::EPSILON), (0, 1.0)] {
            let bits = (0x3fffu128 << 112) | low;
            assert_eq!(binary_float(&number(&bits.to_le_bytes()), 128), expected);
        }
        let largest = (0x7ffeu128 << 112) | ((1 << 112) - 1);
        assert_eq!(binary_float(&number(&largest.to_le_bytes()), 128), f64::INFINITY);
    }

    #[test]
    fn wide_numbers_keep_their_sign_and_their_bits() {
        let minus_two =
            Number::from_bytes(vec![0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], 65, true);
        assert_eq!(minus_two.value(), Some(-2));
        assert_eq!(minus_two.saturated() as i64, -2);
        let big = Number::from_bytes(vec![0xff; 20], 160, false);
        assert_eq!((big.value(), big.saturated()), (None, u64::MAX));
        assert!(big.any_bit_of(159, 159, 160) && !big.any_bit_of(160, 170, 160));
    }

    #[test]
    fn a_range_of_bits_is_set_when_any_of_them_is() {
        for (size, set) in [(20, 13u32), (64, 63), (64, 0), (100, 64), (100, 71), (100, 99)] {
            let mut bytes = vec![0u8; 13];
            bytes[set as usize / 8] = 1 << (set % 8);
            bytes.truncate((size as usize).div_ceil(8));
            let number = Number::from_bytes(bytes, size, false);
            for first in 0..size {
                for last in first..size + 9 {
                    let expected = (first..=last).contains(&set);
                    let found = number.any_bit_of(first.into(), last.into(), size);
                    assert_eq!(found, expected, "{set} of {size}: {first} to {last}");
                }
            }
        }
        assert!(!Number::Unsigned(u64::MAX).any_bit_of(64, 70, 64));
    }

    #[test]
    fn reversing_turns_the_first_bit_into_the_last() {
        assert_eq!(reversed(&[0b0000_0001, 0b0000_0010], 10), [0b0000_0001, 0b0000_0010]);
        assert_eq!(reversed(&[0b0000_0011, 0], 10), [0, 0b0000_0011]);
    }
}
