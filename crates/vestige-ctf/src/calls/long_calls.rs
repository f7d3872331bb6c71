//! Which entries and exits belong to calls that lasted long enough: a bit for each.

/// The bits, by the number of the entry or exit in the order of all entries and exits.
#[derive(Debug, Clone, Default)]
pub struct LongCalls {
    words: Vec<u64>,
}

impl LongCalls {
    /// Notes that a record is to be kept.
    pub fn set(&mut self, number: u64) {
        let Ok(word) = usize::try_from(number / 64) else { return };
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        if let Some(place) = self.words.get_mut(word) {
            *place |= 1 << (number % 64);
        }
    }

    /// Whether a record is to be kept.
    #[must_use]
    pub fn has(&self, number: u64) -> bool {
        let word = usize::try_from(number / 64).ok().and_then(|word| self.words.get(word));
        word.is_some_and(|word| word & (1 << (number % 64)) != 0)
    }
}
