//! The ranges of a selector, so that an option is found without trying all of them.

use std::collections::BTreeMap;

/// A range of values, both ends included, with the index of the option it selects.
pub(super) type Range = (i128, i128, usize);

/// The same selection with ranges in the order of their values that do not overlap. Of
/// ranges that do, the first selects. Neighbours that select the same are one range.
pub(super) fn disjoint(ranges: Vec<Range>) -> Vec<Range> {
    let in_order = |pair: &[Range]| matches!(pair, [first, second] if first.1 < second.0);
    if ranges.windows(2).all(in_order) {
        return ranges;
    }
    // The values at which the selection may change, with what begins and ends there.
    let mut changes: Vec<(i128, bool, usize)> = Vec::with_capacity(ranges.len() * 2);
    for (place, (lower, upper, _)) in ranges.iter().enumerate() {
        changes.push((*lower, true, place));
        changes.push((upper.saturating_add(1), false, place));
    }
    changes.sort_unstable();
    let mut active: BTreeMap<usize, usize> = BTreeMap::new();
    let mut found: Vec<Range> = Vec::new();
    let mut changes = changes.into_iter().peekable();
    while let Some((value, begins, place)) = changes.next() {
        if begins {
            active.insert(place, ranges.get(place).map_or(0, |range| range.2));
        } else {
            active.remove(&place);
        }
        let Some(&(next, ..)) = changes.peek() else { break };
        if let (Some(&option), true) = (active.values().next(), value < next) {
            match found.last_mut() {
                Some(last) if last.2 == option && last.1 == value - 1 => last.1 = next - 1,
                _ => found.push((value, next - 1, option)),
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::disjoint;

    #[test]
    fn ranges_in_order_stay_as_they_are() {
        let ranges = vec![(0, 30, 0), (31, 31, 1), (40, 50, 0)];
        assert_eq!(disjoint(ranges.clone()), ranges);
    }

    #[test]
    fn of_overlapping_ranges_the_first_selects() {
        assert_eq!(disjoint(vec![(5, 6, 1), (0, 9, 0)]), [(0, 4, 0), (5, 6, 1), (7, 9, 0)]);
        assert_eq!(disjoint(vec![(0, 9, 0), (5, 6, 1)]), [(0, 9, 0)]);
        assert_eq!(disjoint(vec![(3, 9, 0), (0, 5, 1)]), [(0, 2, 1), (3, 9, 0)]);
    }

    #[test]
    fn neighbours_that_select_the_same_are_one() {
        assert_eq!(disjoint(vec![(2, 2, 0), (1, 1, 0), (0, 0, 0)]), [(0, 2, 0)]);
    }

    /// Any order of any ranges selects what looking through them one by one would.
    #[test]
    fn the_selection_is_the_same() {
        let mut state = 1u64;
        let mut random = |most: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % most
        };
        for _ in 0..200 {
            let ranges: Vec<_> = (0..random(8))
                .map(|_| {
                    let lower = i128::from(random(20)) - 10;
                    (lower, lower + i128::from(random(6)), random(3) as usize)
                })
                .collect();
            let sorted = disjoint(ranges.clone());
            assert!(sorted.windows(2).all(|pair| pair[0].1 < pair[1].0), "{sorted:?}");
            for value in -12..20 {
                let holds = |range: &&(i128, i128, usize)| (range.0..=range.1).contains(&value);
                let option = |ranges: &[_]| ranges.iter().find(holds).map(|range| range.2);
                assert_eq!(option(&sorted), option(&ranges), "{value} in {ranges:?}");
            }
        }
    }
}
