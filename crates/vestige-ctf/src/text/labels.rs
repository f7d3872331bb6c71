//! The labels of an enumeration, found by value.

use std::collections::HashMap;

use super::escape::push_string;
use super::options::Options;
use super::snippet::Snippet;
use crate::model::EnumerationMapping;

/// A label with all its ranges.
#[derive(Debug, Clone)]
pub struct Label {
    /// Its text with quotes and colours.
    pub text: Snippet,
    /// Its ranges, both ends included.
    pub ranges: Vec<(i128, i128)>,
}

impl Label {
    /// Whether it names a value.
    pub fn holds(&self, value: i128) -> bool {
        self.ranges.iter().any(|(lower, upper)| (*lower..=*upper).contains(&value))
    }
}

/// All labels, in the order of the metadata.
#[derive(Debug, Clone, Default)]
pub struct Labels {
    list: Vec<Label>,
    /// All ranges with the index of their label, in the order of the values; empty when
    /// some overlap, so that a value may have several labels.
    sorted: Vec<(i128, i128, usize)>,
}

impl Labels {
    /// The labels of some mappings. Ranges of the same label belong together, in the place
    /// of the first.
    #[must_use]
    pub fn new(mappings: &[EnumerationMapping], options: &Options) -> Self {
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut list: Vec<Label> = Vec::new();
        let mut sorted = Vec::with_capacity(mappings.len());
        for mapping in mappings {
            let place = *places.entry(&mapping.label).or_insert(list.len());
            let range = (mapping.lower, mapping.upper);
            sorted.push((mapping.lower, mapping.upper, place));
            match list.get_mut(place) {
                Some(label) => label.ranges.push(range),
                None => {
                    let mut text = options.palette.value.as_bytes().to_vec();
                    push_label(&mut text, &mapping.label, options);
                    text.extend_from_slice(options.palette.reset.as_bytes());
                    list.push(Label { text: Snippet::new(&text), ranges: vec![range] });
                }
            }
        }
        sorted.sort_unstable();
        let overlap = sorted.windows(2).any(|pair| match pair {
            [(_, end, _), (start, ..)] => end >= start,
            _ => false,
        });
        if overlap {
            sorted.clear();
        }
        Self { list, sorted }
    }

    /// All labels.
    #[must_use]
    pub fn all(&self) -> &[Label] {
        &self.list
    }

    /// The labels of a value.
    pub fn of(&self, value: i128) -> impl Iterator<Item = &Label> {
        let disjoint = !self.sorted.is_empty();
        let only = if disjoint { self.only(value) } else { None };
        let rest = if disjoint { &[] } else { self.list.as_slice() };
        only.into_iter().chain(rest.iter().filter(move |label| label.holds(value)))
    }

    /// The label of a value, when no two labels share one.
    #[inline]
    fn only(&self, value: i128) -> Option<&Label> {
        let behind = self.sorted.partition_point(|(lower, ..)| *lower <= value);
        let (_, upper, place) = self.sorted.get(behind.checked_sub(1)?)?;
        if *upper >= value {
            self.list.get(*place)
        } else {
            None
        }
    }
}

/// Appends a label: between quotes, which the short layout leaves out around a word.
fn push_label(out: &mut Vec<u8>, label: &str, options: &Options) {
    let in_word = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte);
    if options.style.short && !label.is_empty() && label.bytes().all(in_word) {
        out.extend_from_slice(label.as_bytes());
    } else {
        push_string(out, label.as_bytes(), options.style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(mappings: &[(&str, i128, i128)]) -> Labels {
        let mapping = |&(label, lower, upper): &(&str, i128, i128)| EnumerationMapping {
            label: label.to_owned(),
            lower,
            upper,
        };
        Labels::new(&mappings.iter().map(mapping).collect::<Vec<_>>(), &Options::default())
    }

    fn names(labels: &Labels, value: i128) -> String {
        let mut out = Vec::new();
        labels.of(value).for_each(|label| label.text.push(&mut out));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_value_finds_its_label_among_ranges_that_do_not_overlap() {
        let found = labels(&[("c", 20, 29), ("a", -5, -1), ("b", 0, 0), ("a", 40, 40)]);
        let expected = [(-6, ""), (-5, "\"a\""), (-1, "\"a\""), (0, "\"b\""), (1, "")];
        let more = [(19, ""), (20, "\"c\""), (29, "\"c\""), (30, ""), (40, "\"a\""), (41, "")];
        for (value, name) in expected.into_iter().chain(more) {
            assert_eq!(names(&found, value), name, "{value}");
        }
    }

    #[test]
    fn a_value_in_several_ranges_has_all_their_labels_in_order() {
        let found = labels(&[("wide", 0, 9), ("narrow", 4, 5), ("wide", 20, 21)]);
        assert_eq!(names(&found, 4), "\"wide\"\"narrow\"");
        assert_eq!(names(&found, 20), "\"wide\"");
        assert_eq!(names(&found, 10), "");
    }
}
