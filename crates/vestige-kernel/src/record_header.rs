//! What each record of the kernel begins with: `struct trace_entry` (`include/linux/trace_events.h`).

/// Where the ID of the event, the flags, the counts and the thread are (`common_type`,
/// `common_flags`, `common_preempt_count`, `common_pid`).
const FLAGS: usize = 2;
const COUNTS: usize = 3;
const THREAD: usize = 4;

/// Bits of the flags (`enum trace_flag_type`).
pub const INTERRUPTS_OFF: u8 = 0x01;
pub const NEED_RESCHEDULE: u8 = 0x04;
const HARD_INTERRUPT: u8 = 0x08;
const SOFT_INTERRUPT: u8 = 0x10;
const NMI: u8 = 0x40;

/// What a record has interrupted: the greater, the more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Thread,
    SoftInterrupt,
    HardInterrupt,
    Nmi,
}

/// How many levels there are.
pub const LEVELS: usize = 4;

impl Level {
    /// That of a record; one without flags is of a thread.
    #[must_use]
    pub fn of(record: &[u8]) -> Self {
        match flags(record).unwrap_or(0) {
            flags if flags & NMI != 0 => Self::Nmi,
            flags if flags & HARD_INTERRUPT != 0 => Self::HardInterrupt,
            flags if flags & SOFT_INTERRUPT != 0 => Self::SoftInterrupt,
            _ => Self::Thread,
        }
    }
}

/// The ID of the event.
#[must_use]
pub fn event(record: &[u8]) -> Option<u16> {
    bytes(record, 0).map(u16::from_le_bytes)
}

/// The flags.
#[must_use]
pub fn flags(record: &[u8]) -> Option<u8> {
    record.get(FLAGS).copied()
}

/// The counters of what forbids to preempt (the lower four bits) and to migrate.
#[must_use]
pub fn counts(record: &[u8]) -> Option<u8> {
    record.get(COUNTS).copied()
}

/// The thread that ran.
#[must_use]
pub fn thread(record: &[u8]) -> Option<i32> {
    number(record, THREAD)
}

/// A number of four bytes at a place in a record.
#[must_use]
pub fn number(record: &[u8], at: usize) -> Option<i32> {
    bytes(record, at).map(i32::from_le_bytes)
}

/// So many bytes at a place in a record.
#[must_use]
pub fn bytes<const N: usize>(record: &[u8], at: usize) -> Option<[u8; N]> {
    record.get(at..)?.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_header_are_where_the_kernel_has_them() {
        let record = [0x34, 0x12, 0x05, 0x21, 7, 0, 0, 0, 255, 255, 255, 255];

        assert_eq!((event(&record), thread(&record)), (Some(0x1234), Some(7)));
        assert_eq!((flags(&record), counts(&record)), (Some(5), Some(0x21)));
        assert_eq!((number(&record, 8), number(&record, 9)), (Some(-1), None));
        assert_eq!(bytes::<2>(&record, usize::MAX), None);
        assert_eq!((event(&[1]), flags(&[1, 2]), thread(&record[..7])), (None, None, None));
    }

    #[test]
    fn the_highest_level_counts() {
        let of = |flags| Level::of(&[0, 0, flags]);

        assert_eq!(
            [of(0), of(0x11), of(0x18), of(0x58)],
            [Level::Thread, Level::SoftInterrupt, Level::HardInterrupt, Level::Nmi]
        );
        assert_eq!(Level::of(&[]), Level::Thread);
        assert!(Level::Thread < Level::SoftInterrupt && (Level::Nmi as usize) < LEVELS);
    }
}
