//! Files of a stream that take no more than so many bytes each, of which so many stay.

use crate::streams::data_name;

/// How long the files of a stream are, and how many there are; 0: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rollover {
    pub file_bytes: u64,
    /// Counts only if the size is limited: the oldest makes room for the next one then.
    pub file_count: u32,
}

impl Rollover {
    /// Whether files have a limit.
    #[must_use]
    pub const fn is_limited(&self) -> bool {
        self.file_bytes != 0
    }

    /// Whether a file that has some bytes takes no more of them.
    #[must_use]
    pub const fn is_full(&self, written: u64, more: u64) -> bool {
        self.is_limited() && written > 0 && written.saturating_add(more) > self.file_bytes
    }

    /// The number of the file after one; files are counted from 1 on, and begin anew.
    #[must_use]
    pub const fn next(&self, number: u32) -> u32 {
        let is_last = self.is_limited() && self.file_count != 0 && number >= self.file_count;
        if is_last || number == u32::MAX {
            1
        } else {
            number + 1
        }
    }

    /// The name of the nth file of a stream: where there is a limit, it ends with a number, which
    /// counts from 0 on, as LTTng's do.
    #[must_use]
    pub fn name(&self, channel: &str, instance: u64, number: u32) -> String {
        if self.is_limited() {
            format!("{}_{}", data_name(channel, instance, 1), number.saturating_sub(1))
        } else {
            data_name(channel, instance, number)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INSTANCE: u64 = 7 << 42 | 8 << 10;

    #[test]
    fn files_without_a_limit_are_parts() {
        let none = Rollover::default();
        assert!(!none.is_full(u64::MAX, 1));
        assert_eq!(none.next(1), 2);
        assert_eq!([none.name("c", INSTANCE, 1), none.name("c", INSTANCE, 2)], ["7-8", "7-8@2"]);
    }

    #[test]
    fn a_file_takes_one_packet_at_least() {
        let limit = Rollover { file_bytes: 100, file_count: 0 };
        assert!(!limit.is_full(0, 200));
        assert!(!limit.is_full(40, 60));
        assert!(limit.is_full(40, 61));
        assert!(limit.is_full(u64::MAX, 1));
    }

    #[test]
    fn names_count_from_zero_and_begin_anew() {
        let limit = Rollover { file_bytes: 100, file_count: 2 };
        assert_eq!([limit.next(1), limit.next(2)], [2, 1]);
        assert_eq!(
            [limit.name("c", INSTANCE, 1), limit.name("c", INSTANCE, 2)],
            ["7-8_0", "7-8_1"]
        );
        assert_eq!(limit.name("c", 3 << 10, 1), "c_3_0");
        let endless = Rollover { file_bytes: 100, file_count: 0 };
        assert_eq!([endless.next(2), endless.next(u32::MAX)], [3, 1]);
    }
}
