//! Patterns of text: constants with any text between them.

use memchr::memmem::Finder;

/// What stands for any text in the bytes of a pattern.
const ANY: u8 = 0;

/// A pattern that was taken apart. However text and pattern are, a comparison takes a time
/// that is in proportion to their lengths.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// What the text begins with.
    start: Vec<u8>,
    /// What follows, in this order; `None` in a pattern without any.
    rest: Option<Rest>,
}

#[derive(Debug, Clone)]
struct Rest {
    parts: Vec<Finder<'static>>,
    /// What the text ends with.
    end: Vec<u8>,
}

impl Pattern {
    /// A pattern of its bytes.
    pub fn new(bytes: &[u8]) -> Self {
        let mut parts = bytes.split(|&byte| byte == ANY);
        let start = parts.next().unwrap_or_default().to_vec();
        let rest = parts.next_back().map(|end| {
            let parts = parts.filter(|part| !part.is_empty());
            Rest {
                parts: parts.map(|part| Finder::new(part).into_owned()).collect(),
                end: end.to_vec(),
            }
        });
        Self { start, rest }
    }

    /// Whether it is the pattern of a text.
    pub fn matches(&self, text: &[u8]) -> bool {
        let Some(rest) = &self.rest else { return text == self.start };
        let Some(text) = text.strip_prefix(self.start.as_slice()) else { return false };
        let Some(mut text) = text.strip_suffix(rest.end.as_slice()) else { return false };
        for part in &rest.parts {
            // The first place leaves most to those behind it.
            let Some(place) = part.find(text) else { return false };
            text = text.get(place + part.needle().len()..).unwrap_or_default();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Pattern::new(pattern.replace('*', "\0").as_bytes()).matches(text.as_bytes())
    }

    /// The rule in its plainest form.
    fn plainly(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern.split_first(), text.split_first()) {
            (None, None) => true,
            (Some((b'*', rest)), _) => {
                plainly(rest, text) || !text.is_empty() && plainly(pattern, &text[1..])
            }
            (Some((one, rest)), Some((other, left))) => one == other && plainly(rest, left),
            _ => false,
        }
    }

    #[test]
    fn stars_are_any_text_and_ends_do_not_overlap() {
        assert!(matches("a*", "abc") && matches("*c", "abc") && matches("**", ""));
        assert!(!matches("ab*ba", "aba") && !matches("abc", "abcd") && matches("abc", "abc"));
    }

    #[test]
    fn all_short_patterns_are_as_the_rule_has_it() {
        let words = |letters: &[u8], most: usize| {
            let mut all = vec![Vec::new()];
            let mut last = all.clone();
            for _ in 0..most {
                last = last
                    .iter()
                    .flat_map(|word| letters.iter().map(|&l| [word.as_slice(), &[l]].concat()))
                    .collect();
                all.extend(last.clone());
            }
            all
        };
        let texts = words(b"ab", 5);
        for pattern in words(b"ab*", 5) {
            let bytes: Vec<u8> = pattern.iter().map(|&b| if b == b'*' { 0 } else { b }).collect();
            let made = Pattern::new(&bytes);
            for text in &texts {
                assert_eq!(made.matches(text), plainly(&pattern, text), "{pattern:?} {text:?}");
            }
        }
    }
}
