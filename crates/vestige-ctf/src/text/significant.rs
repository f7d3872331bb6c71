//! The six digits that `%g` shows, by whole numbers.
//!
//! The general way of the standard library falls back to numbers of a thousand bits where digits
//! end exactly, as those of sensors mostly do. Between 10^-5 and 10^15, 128 bits hold
//! all there is of a number.

/// Least and greatest magnitude whose digits fit.
const RANGE: std::ops::Range<f64> = 1e-5..1e15;
/// Powers of ten up to what scaling needs.
const TENS: [u64; 16] = {
    let mut powers = [1u64; 16];
    let mut index = 1;
    while index < 16 {
        #[allow(clippy::indexing_slicing)]
        {
            powers[index] = powers[index - 1] * 10;
        }
        index += 1;
    }
    powers
};

/// Six digits as a number, and the exponent in base 10 of the first one; ties go to even, as
/// `printf` rounds. `None` for zero, and what is very small or very large.
pub fn six_digits(value: f64) -> Option<(u32, i32)> {
    let magnitude = value.abs();
    if !RANGE.contains(&magnitude) {
        return None;
    }
    let exponent = exponent_of(magnitude);
    // All numbers of the range are normal: 53 bits, the first of which is not stored.
    let bits = magnitude.to_bits();
    let mantissa = u128::from(bits & ((1 << 52) - 1) | 1 << 52);
    let binary = (bits >> 52) as i32 - 1075;
    let ten = |power: i32| TENS.get(usize::try_from(power).ok()?).copied().map(u128::from);
    let (mut above, mut below) = (mantissa, 1u128);
    match ten(5 - exponent) {
        Some(power) => above *= power,
        None => below *= ten(exponent - 5)?,
    }
    // The last bit of what is below 10^15 stands for a fraction.
    below <<= u32::try_from(-binary).ok()?;
    let (mut digits, rest) = if below.is_power_of_two() {
        (above >> below.trailing_zeros(), above & (below - 1))
    } else {
        (above / below, above % below)
    };
    if rest * 2 > below || (rest * 2 == below && digits % 2 == 1) {
        digits += 1;
    }
    match u32::try_from(digits).ok()? {
        1_000_000 => Some((100_000, exponent + 1)),
        digits => Some((digits, exponent)),
    }
}

/// The exponent in base 10 of a magnitude in the range; where it is next to a power of ten,
/// it may be that of the other side, which six digits do not tell apart.
fn exponent_of(magnitude: f64) -> i32 {
    if magnitude >= 1.0 {
        let whole = magnitude as u64;
        return TENS.iter().take_while(|&&power| power <= whole).count() as i32 - 1;
    }
    let steps = [0.1, 0.01, 0.001, 0.0001];
    -1 - steps.iter().take_while(|&&step| magnitude < step).count() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers with few and with many digits, next to powers of ten, and on ties.
    fn numbers() -> Vec<f64> {
        let tens = (-6..17).map(|power| format!("1e{power}").parse::<f64>().unwrap());
        let beside =
            |number: f64, step: i64| f64::from_bits(number.to_bits().wrapping_add_signed(step));
        let near = tens.flat_map(|ten| [beside(ten, -1), ten, beside(ten, 1), ten * 9.999_995]);
        let ties = (0..2000).map(|step| 100_000.5 + f64::from(step));
        let small = (0..700).map(|step| f64::from(step) / 8.0);
        let mut seed = 1u64;
        let any = (0..200_000).map(move |_| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let exponent = (seed >> 57) % 70 + 1023 - 18;
            f64::from_bits(exponent << 52 | seed >> 12)
        });
        near.chain(ties).chain(small).chain(any).collect()
    }

    #[test]
    fn digits_are_those_of_the_standard_library() {
        let mut compared = 0;
        for number in numbers() {
            let Some((digits, exponent)) = six_digits(number) else { continue };
            let found = format!("{}.{:05}e{exponent}", digits / 100_000, digits % 100_000);
            assert_eq!(found, format!("{number:.5e}"));
            compared += 1;
        }
        assert!(compared > 100_000);
    }

    #[test]
    fn what_is_out_of_range_has_none() {
        for number in [0.0, 1e15, 9.9e-6, f64::MAX, f64::MIN_POSITIVE, f64::INFINITY, f64::NAN] {
            assert_eq!(six_digits(number), None, "{number}");
        }
    }
}
