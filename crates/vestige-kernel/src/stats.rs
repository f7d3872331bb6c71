//! What the kernel counts of a ring buffer, in the text of its file `stats`.

/// Events that never came into the buffer, or were overwritten in it, since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// There was no room for them, or an interrupt came at a bad moment.
    pub dropped: u64,
    /// They made room for newer ones.
    pub overwritten: u64,
}

impl Counts {
    /// The counts in a text.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let mut counts = Self::default();
        for line in text.lines() {
            let Some((name, value)) = line.split_once(':') else { continue };
            let value = value.trim().parse().unwrap_or(0);
            match name {
                "overrun" => counts.overwritten = value,
                "commit overrun" | "dropped events" => {
                    counts.dropped = counts.dropped.saturating_add(value);
                }
                _ => (),
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_lines() {
        let text = "entries: 129\noverrun: 7\ncommit overrun: 2\nbytes: 4\n\
                    oldest event ts:  2724.3\nnow ts:  2725.6\ndropped events: 40\nread events: 4\n";

        assert_eq!(Counts::read(text), Counts { dropped: 42, overwritten: 7 });
        assert_eq!(Counts::read("overrun 7\n:\n"), Counts::default());
    }
}
