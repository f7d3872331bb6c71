//! How durations are distributed: a histogram for each function.
//!
//! Its buckets are log-linear: each power of two has [`SUB_BUCKETS`] of the same width, so
//! that no bucket is wider than 3.2 % of the durations in it; those below [`SUB_BUCKETS`]
//! have a bucket each. Only powers of two that occur take memory, and at most
//! [`MOST_BLOCKS`] of all functions together.

/// How many buckets a power of two has, as a power of two.
const SUB_BITS: u32 = 5;
/// How many buckets a power of two has.
pub const SUB_BUCKETS: usize = 1 << SUB_BITS;
/// How many powers of two are kept, of all functions together: 32 MiB of counts.
const MOST_BLOCKS: usize = 1 << 17;
/// In place of the number of a block: there is none.
const NO_BLOCK: u32 = u32::MAX;

/// The index of the bucket of a duration.
#[inline]
#[must_use]
pub fn bucket_of(duration: u64) -> usize {
    let power = 63 - (duration | 1).leading_zeros();
    if power < SUB_BITS {
        return duration as usize;
    }
    let shift = power - SUB_BITS;
    // The topmost bit is cut off: it says which power of two this is.
    let sub = (duration >> shift) as usize & (SUB_BUCKETS - 1);
    (shift as usize + 1) * SUB_BUCKETS + sub
}

/// The first and the last duration in a bucket; those of the last one for what is none.
#[must_use]
pub fn bounds(bucket: usize) -> (u64, u64) {
    let last = (64 - SUB_BITS as usize + 1) * SUB_BUCKETS - 1;
    let (block, sub) = (bucket.min(last) / SUB_BUCKETS, bucket.min(last) % SUB_BUCKETS);
    if block == 0 {
        return (sub as u64, sub as u64);
    }
    let shift = block - 1;
    let first = ((SUB_BUCKETS + sub) as u64) << shift;
    (first, first + ((1u64 << shift) - 1))
}

/// The histograms of all functions.
#[derive(Debug, Clone, Default)]
pub struct Histograms {
    functions: Vec<Blocks>,
    blocks: Vec<[u64; SUB_BUCKETS]>,
}

/// Where the counts of a function are.
#[derive(Debug, Clone, Default)]
struct Blocks {
    /// The power of two of the first block.
    first: u32,
    /// Numbers of blocks, one for each power of two from the first on.
    numbers: Vec<u32>,
    /// How many durations have no bucket, since there are too many.
    left_out: u64,
}

impl Histograms {
    /// Adds a duration of a function.
    #[inline]
    pub fn add(&mut self, function: u32, duration: u64) {
        let function = function as usize;
        if function >= self.functions.len() {
            self.functions.resize(function + 1, Blocks::default());
        }
        let Some(known) = self.functions.get_mut(function) else { return };
        let bucket = bucket_of(duration);
        let power = (bucket / SUB_BUCKETS) as u32;
        let number = power
            .checked_sub(known.first)
            .and_then(|index| known.numbers.get(index as usize).copied())
            .filter(|&number| number != NO_BLOCK)
            .unwrap_or_else(|| known.add_block(power, &mut self.blocks));
        match self.blocks.get_mut(number as usize) {
            Some(block) => {
                if let Some(count) = block.get_mut(bucket % SUB_BUCKETS) {
                    *count += 1;
                }
            }
            None => known.left_out += 1,
        }
    }

    /// The buckets of a function that have any, in order: index and count. `None` when not
    /// all durations are in them.
    #[must_use]
    pub fn buckets(&self, function: u32) -> Option<Vec<(usize, u64)>> {
        let known = self.functions.get(function as usize)?;
        if known.left_out > 0 {
            return None;
        }
        let mut found = Vec::new();
        for (power, number) in (known.first as usize..).zip(&known.numbers) {
            let Some(block) = self.blocks.get(*number as usize) else { continue };
            let counts = block.iter().enumerate().filter(|(_, count)| **count > 0);
            found.extend(counts.map(|(sub, &count)| (power * SUB_BUCKETS + sub, count)));
        }
        Some(found)
    }
}

impl Blocks {
    /// Adds a block for a power of two, if there may be one more. Returns its number.
    #[cold]
    fn add_block(&mut self, power: u32, blocks: &mut Vec<[u64; SUB_BUCKETS]>) -> u32 {
        if blocks.len() >= MOST_BLOCKS {
            return NO_BLOCK;
        }
        if self.numbers.is_empty() {
            self.first = power;
        }
        if power < self.first {
            let more = (self.first - power) as usize;
            self.numbers.splice(0..0, std::iter::repeat_n(NO_BLOCK, more));
            self.first = power;
        }
        let index = (power - self.first) as usize;
        if index >= self.numbers.len() {
            self.numbers.resize(index + 1, NO_BLOCK);
        }
        let number = blocks.len() as u32;
        blocks.push([0; SUB_BUCKETS]);
        if let Some(place) = self.numbers.get_mut(index) {
            *place = number;
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Durations of every size: around each power of two, and some between.
    fn durations() -> impl Iterator<Item = u64> {
        let mut random = 0x9E37_79B9_7F4A_7C15_u64;
        let near = (0..64).flat_map(|power| {
            let one = 1u64 << power;
            [one - 1, one, one + 1]
        });
        let others = (0..20_000).map(move |_| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random >> (random % 64)
        });
        near.chain(others).chain([u64::MAX, u64::MAX - 1])
    }

    #[test]
    fn each_duration_is_in_a_bucket_that_is_narrow_enough() {
        for duration in durations() {
            let (first, last) = bounds(bucket_of(duration));
            assert!((first..=last).contains(&duration), "{duration} in {first}..={last}");
            assert!((last - first) as f64 <= 0.032 * first as f64, "{first}..={last}");
        }
    }

    #[test]
    fn buckets_follow_each_other_without_a_gap() {
        let last = bucket_of(u64::MAX);
        for bucket in 0..last {
            assert_eq!(bounds(bucket).1 + 1, bounds(bucket + 1).0);
        }
        assert_eq!((bounds(0).0, bounds(last).1), (0, u64::MAX));
    }

    #[test]
    fn quantiles_differ_from_the_true_ones_by_less_than_the_width_of_a_bucket() {
        let mut all: Vec<u64> = durations().collect();
        let mut histograms = Histograms::default();
        for &duration in &all {
            histograms.add(7, duration);
        }
        all.sort_unstable();
        let buckets = histograms.buckets(7).unwrap();
        assert_eq!(buckets.iter().map(|one| one.1).sum::<u64>(), all.len() as u64);
        let mut rank = 0;
        for (bucket, count) in buckets {
            let (first, last) = bounds(bucket);
            for duration in &all[rank..rank + count as usize] {
                assert!((first..=last).contains(duration));
            }
            rank += count as usize;
        }
    }

    #[test]
    fn functions_beyond_the_limit_have_no_histogram() {
        let mut histograms = Histograms::default();
        for function in 0..=MOST_BLOCKS as u32 {
            histograms.add(function, 1000);
        }
        histograms.add(0, 1000);
        assert_eq!(histograms.buckets(0), Some(vec![(bucket_of(1000), 2)]));
        assert_eq!(histograms.buckets(MOST_BLOCKS as u32), None);
        // Of the first one not all durations are in.
        histograms.add(0, 1);
        assert_eq!(histograms.buckets(0), None);
        assert_eq!(histograms.blocks.len(), MOST_BLOCKS);
    }
}
