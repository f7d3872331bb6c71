//! Which options the labels of an enumeration select.

use std::collections::{HashMap, HashSet};

use super::ranges::Range;
use crate::model::{EnumerationMapping, Member};

/// Most ranges of all selectors of a trace class. A page of labels and a page of variants
/// would multiply to more than any memory.
const MAX_RANGES: usize = 1_000_000;

/// The labels of an enumeration by name, made once for all variants it selects for.
#[derive(Debug, Default)]
pub(super) struct LabelIndex {
    /// Indexes of the mappings of a label.
    places: HashMap<String, Vec<usize>>,
    ranges: Vec<(i128, i128)>,
}

impl LabelIndex {
    pub(super) fn new(mappings: &[EnumerationMapping]) -> Self {
        let mut index = Self::default();
        for (place, mapping) in mappings.iter().enumerate() {
            index.places.entry(mapping.label.clone()).or_default().push(place);
            index.ranges.push((mapping.lower, mapping.upper));
        }
        index
    }

    /// The ranges that select each of the options, in the order of the mappings; `None` when
    /// they and those `before` them are too many.
    ///
    /// A label selects the option of its name, or the one whose name is the label behind an
    /// underscore (CTF 1.8.3, section 4.2.2).
    pub(super) fn select(&self, options: &[Member], before: usize) -> Option<Vec<Range>> {
        let exact: HashSet<&str> = options.iter().map(|option| &*option.declared_name).collect();
        let mut found = Vec::new();
        for (index, option) in options.iter().enumerate() {
            let name = option.declared_name.as_str();
            let bare = name.strip_prefix('_').filter(|bare| !exact.contains(bare));
            for label in [Some(name), bare].into_iter().flatten() {
                let Some(places) = self.places.get(label) else { continue };
                if before + found.len() + places.len() > MAX_RANGES {
                    return None;
                }
                found.extend(places.iter().map(|&place| (place, index)));
            }
        }
        found.sort_unstable();
        let range = |(place, index)| {
            let &(lower, upper) = self.ranges.get(place)?;
            Some((lower, upper, index))
        };
        Some(found.into_iter().filter_map(range).collect())
    }
}
