//! Fields of system calls that are made of memory to which their arguments lead, in LTTng's layout.

use crate::memory::{ARGUMENT, FLAG, WORD};

/// What becomes of memory in the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryField {
    /// So many bytes; zeros where there are none.
    Fixed { bytes: usize },
    /// The argument that the record lacks: its lowest bytes.
    Argument { bytes: usize },
    /// Whether there was more than is told.
    Exceeds,
    /// A set of descriptors: how many bytes (8 bits), and these.
    Set,
    /// How many descriptors poll(2) is to look at, or those of which it tells something (32 bits).
    PollCount { is_end: bool },
    /// Their descriptors and events.
    Polled { is_end: bool },
    /// How many events epoll_wait(2) has (32 bits).
    EventCount,
    /// These.
    Events,
    /// That of epoll_ctl(2), or zeros.
    Event,
    /// An address of a socket: family, port, addresses.
    Address,
}

/// Elements of arrays: `struct pollfd`, `struct epoll_event` (packed on x86-64).
const POLLED: usize = 8;
const EVENT: usize = 12;
/// `AF_INET` and `AF_INET6`, and bytes of their addresses' structures.
const INTERNET: u16 = 2;
const INTERNET_6: u16 = 10;
const INTERNET_BYTES: usize = 16;
const INTERNET_6_BYTES: usize = 28;

impl MemoryField {
    /// Its kind by name, of so many bytes.
    #[must_use]
    pub fn from_name(name: &str, bytes: usize) -> Option<Self> {
        Some(match name {
            "fixed" => Self::Fixed { bytes },
            "argument" => Self::Argument { bytes: bytes.min(8) },
            "exceeds" => Self::Exceeds,
            "set" => Self::Set,
            "poll_count" => Self::PollCount { is_end: false },
            "polled" => Self::Polled { is_end: false },
            "poll_end_count" => Self::PollCount { is_end: true },
            "poll_end" => Self::Polled { is_end: true },
            "event_count" => Self::EventCount,
            "events" => Self::Events,
            "event" => Self::Event,
            "address" => Self::Address,
            _ => return None,
        })
    }

    /// Appends it. `at` is where the word is that leads to the part, or where the block begins; a
    /// record that has none there has empty fields.
    pub fn push(self, record: &[u8], at: usize, out: &mut Vec<u8>) {
        let part = || part_of(record, at).unwrap_or_default();
        match self {
            Self::Fixed { bytes } => push_padded(part(), bytes, out),
            Self::Argument { bytes } => push_padded(from(record, at, ARGUMENT), bytes, out),
            Self::Exceeds => push_padded(from(record, at, FLAG), 1, out),
            Self::Set => {
                let part = part();
                let length = u8::try_from(part.len()).unwrap_or(u8::MAX);
                out.push(length);
                out.extend_from_slice(part.get(..usize::from(length)).unwrap_or_default());
            }
            Self::PollCount { is_end } => push_count(polled(part(), is_end).count(), out),
            Self::Polled { is_end } => {
                for (descriptor, events) in polled(part(), is_end) {
                    out.extend_from_slice(descriptor);
                    out.extend_from_slice(events);
                    out.extend(events.iter().take(1));
                }
            }
            Self::EventCount => push_count(part().chunks_exact(EVENT).count(), out),
            Self::Events => part().chunks_exact(EVENT).for_each(|one| push_event(one, out)),
            Self::Event => push_event(part().first_chunk::<EVENT>().unwrap_or(&[0; EVENT]), out),
            Self::Address => push_address(part(), out),
        }
    }
}

/// What the block of a record has at a place.
fn from(record: &[u8], at: usize, place: usize) -> &[u8] {
    at.checked_add(place).and_then(|place| record.get(place..)).unwrap_or_default()
}

/// What a word leads to.
fn part_of(record: &[u8], at: usize) -> Option<&[u8]> {
    let word = record.get(at..at.checked_add(WORD)?)?.try_into().ok().map(u32::from_le_bytes)?;
    let place = (word & 0xffff) as usize;
    record.get(place..place + (word >> 16) as usize)
}

fn push_padded(bytes: &[u8], wanted: usize, out: &mut Vec<u8>) {
    let end = out.len() + wanted;
    out.extend(bytes.iter().take(wanted));
    out.resize(end, 0);
}

fn push_count(count: usize, out: &mut Vec<u8>) {
    // A record has less than 64 KiB.
    out.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}

/// Descriptors, each with what is asked for, or with what came of it, if anything did.
fn polled(part: &[u8], is_end: bool) -> impl Iterator<Item = (&[u8], &[u8])> {
    part.chunks_exact(POLLED).filter_map(move |one| {
        let (descriptor, events) = one.split_at_checked(4)?;
        let (asked, told) = events.split_at_checked(2)?;
        let events = if is_end { told } else { asked };
        (!is_end || events != [0, 0]).then_some((descriptor, events))
    })
}

/// Appends an event of epoll: its data, the lower half of these once more, and the events.
fn push_event(event: &[u8], out: &mut Vec<u8>) {
    let (events, data) = event.split_at_checked(4).unwrap_or_default();
    out.extend_from_slice(data);
    out.extend(data.iter().take(4));
    out.extend_from_slice(events);
    out.extend(events.iter().take(1));
}

/// Appends family, port, and the bytes of an address, of which one of two sequences has none.
fn push_address(part: &[u8], out: &mut Vec<u8>) {
    let family = part.first_chunk().map_or(0, |two| u16::from_le_bytes(*two));
    out.extend_from_slice(&family.to_le_bytes());
    let (port, four, six) = match family {
        INTERNET if part.len() >= INTERNET_BYTES => (part.get(2..4), part.get(4..8), None),
        INTERNET_6 if part.len() >= INTERNET_6_BYTES => (part.get(2..4), None, part.get(8..24)),
        _ => (None, None, None),
    };
    push_padded(port.unwrap_or_default(), 2, out);
    let (four, six) = (four.unwrap_or_default(), six.unwrap_or_default());
    push_count(four.len(), out);
    out.extend_from_slice(four);
    push_count(six.len() / 2, out);
    out.extend_from_slice(six);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record whose block begins at 4.
    fn record(part: &[u8]) -> Vec<u8> {
        let mut made = vec![9; 4];
        made.extend((28 | (part.len() as u32) << 16).to_le_bytes());
        made.extend([0; 8]);
        made.extend([1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
        made.extend(part);
        made
    }

    fn made(field: MemoryField, part: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        field.push(&record(part), 4, &mut out);
        out
    }

    #[test]
    fn numbers_are_as_wide_as_their_fields() {
        assert_eq!(made(MemoryField::Fixed { bytes: 4 }, &[1, 2]), [1, 2, 0, 0]);
        assert_eq!(made(MemoryField::Argument { bytes: 4 }, &[]), [1, 2, 3, 4]);
        assert_eq!(made(MemoryField::Exceeds, &[]), [1]);
    }

    #[test]
    fn sets_have_their_lengths() {
        assert_eq!(made(MemoryField::Set, &[1, 64]), [2, 1, 64]);
        assert_eq!(made(MemoryField::Set, &[1; 300]).len(), 256);
    }

    #[test]
    fn of_polled_descriptors_those_are_told_with_which_something_is() {
        let part = [[3, 0, 0, 0, 1, 2, 0, 0], [4, 0, 0, 0, 1, 0, 17, 0]].concat();
        let of = |name| made(MemoryField::from_name(name, 0).unwrap(), &part);

        assert_eq!(of("poll_count"), [2, 0, 0, 0]);
        assert_eq!(of("polled"), [3, 0, 0, 0, 1, 2, 1, 4, 0, 0, 0, 1, 0, 1]);
        assert_eq!(of("poll_end_count"), [1, 0, 0, 0]);
        assert_eq!(of("poll_end"), [4, 0, 0, 0, 17, 0, 17]);
    }

    #[test]
    fn events_have_their_data_twice() {
        let part = [17, 2, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8];
        let event = [1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 17, 2, 0, 0, 17];

        assert_eq!(made(MemoryField::Event, &part), event);
        assert_eq!(made(MemoryField::Event, &[]), [0; 17]);
        assert_eq!(made(MemoryField::EventCount, &[part; 3].concat()), [3, 0, 0, 0]);
        assert_eq!(made(MemoryField::Events, &[part; 2].concat()), [event; 2].concat());
    }

    #[test]
    fn addresses_are_of_one_family() {
        let four = [2, 0, 31, 144, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        let mut six = vec![10, 0, 31, 144, 0, 0, 0, 0];
        six.extend([7; 16]);
        six.extend([0; 4]);
        let six_made = [&[10, 0, 31, 144, 0, 0, 0, 0, 8, 0, 0, 0][..], &[7; 16]].concat();
        let none = |family| [&[family, 0][..], &[0; 10]].concat();

        let of = |part: &[u8]| made(MemoryField::Address, part);
        assert_eq!(of(&four), [2, 0, 31, 144, 4, 0, 0, 0, 127, 0, 0, 1, 0, 0, 0, 0]);
        assert_eq!(of(&six), six_made);
        assert_eq!((of(&four[..15]), of(&[1, 0, b'/'])), (none(2), none(1)));
        assert_eq!(of(&[]), none(0));
    }

    #[test]
    fn records_without_memory_have_empty_fields() {
        let names = [
            ("fixed", 8),
            ("argument", 8),
            ("exceeds", 1),
            ("set", 1),
            ("poll_count", 4),
            ("polled", 0),
            ("poll_end_count", 4),
            ("poll_end", 0),
            ("event_count", 4),
            ("events", 0),
            ("event", 17),
            ("address", 12),
        ];
        for (name, length) in names {
            for at in [4, 1 << 16, usize::MAX] {
                let mut out = Vec::new();
                MemoryField::from_name(name, 8).unwrap().push(&[0xff; 8], at, &mut out);
                assert_eq!(out, vec![0; length], "{name}");
            }
        }
        assert_eq!(MemoryField::from_name("other", 8), None);
    }
}
