//! What the tracer lost, worked out from the counters in the packet contexts.

use super::packet::PacketProperties;

/// What was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LostKind {
    /// Event records, in discard mode.
    Events,
    /// Packets, in overwrite mode.
    Packets,
}

/// A loss between two clock values of one data stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// What was lost.
    pub kind: LostKind,
    /// How many, when the counters tell.
    pub count: Option<u64>,
    /// The earliest time of it, cycles.
    pub beginning: Option<u64>,
    /// The latest time of it, cycles.
    pub end: Option<u64>,
}

/// The losses that the context of a packet reveals, given the packet before it.
#[must_use]
pub fn losses(previous: Option<&PacketProperties>, current: &PacketProperties) -> Vec<Lost> {
    let timed = current.beginning.is_some() && current.end.is_some();
    let range = |beginning: Option<u64>, end: Option<u64>| {
        if timed {
            (beginning, end)
        } else {
            (None, None)
        }
    };
    let mut found = Vec::new();
    if let Some((count, after_previous)) = lost_events(previous, current) {
        let start = if after_previous { previous.and_then(|p| p.end) } else { current.beginning };
        let (beginning, end) = range(start, current.end);
        found.push(Lost { kind: LostKind::Events, count, beginning, end });
    }
    if let Some(count) = lost_packets(previous, current) {
        let (beginning, end) = range(previous.and_then(|p| p.end), current.beginning);
        found.push(Lost { kind: LostKind::Packets, count: Some(count), beginning, end });
    }
    found
}

/// The count, if known, and whether the loss began after the previous packet. Records that
/// were lost before the first packet of the stream have no count to compare with. An empty
/// packet in front says what was lost before all of them: another chunk of the trace tells it.
fn lost_events(
    previous: Option<&PacketProperties>,
    current: &PacketProperties,
) -> Option<(Option<u64>, bool)> {
    let now = current.events_discarded?;
    match previous.and_then(|packet| packet.events_discarded) {
        None => (now != 0 && !is_empty_moment(current)).then_some((None, false)),
        Some(before) => match counted_on(before, now) {
            Some(count) => (count != 0).then_some((Some(count), true)),
            // The tracer counts anew, or the counter is narrow and went round.
            None => (now != 0).then_some((None, true)),
        },
    }
}

/// Whether a packet has neither records nor time in which any could be lost.
fn is_empty_moment(packet: &PacketProperties) -> bool {
    packet.content_bits == packet.events_at
        && packet.beginning.is_some()
        && packet.beginning == packet.end
}

/// How many numbers are missing. Numbers that go back tell nothing: the tracer counts anew, the
/// counter is narrow and went round, or the packets have another order than their numbers.
fn lost_packets(previous: Option<&PacketProperties>, current: &PacketProperties) -> Option<u64> {
    let step = counted_on(previous?.sequence_number?, current.sequence_number?)?;
    (step > 1).then(|| step - 1)
}

/// How far a counter has gone on, also past the largest number; nothing if it has gone back, which
/// half of all numbers are.
fn counted_on(before: u64, now: u64) -> Option<u64> {
    let step = now.wrapping_sub(before);
    (step <= u64::MAX / 2).then_some(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(discarded: u64, sequence: u64, times: (u64, u64)) -> PacketProperties {
        PacketProperties {
            events_discarded: Some(discarded),
            sequence_number: Some(sequence),
            beginning: Some(times.0),
            end: Some(times.1),
            content_bits: 8,
            ..PacketProperties::default()
        }
    }

    #[test]
    fn an_empty_packet_in_front_says_what_was_lost_before() {
        let empty = PacketProperties { content_bits: 0, ..packet(4, 7, (10, 10)) };
        assert!(losses(None, &empty).is_empty());
        let lost = losses(Some(&empty), &packet(9, 8, (10, 40)));
        assert_eq!((lost.len(), lost[0].count), (1, Some(5)));
        // Records may be lost while there is room for none.
        let long = PacketProperties { end: Some(11), ..empty };
        assert_eq!(losses(None, &long)[0].count, None);
    }

    #[test]
    fn a_loss_before_the_first_packet_has_no_count() {
        let lost = losses(None, &packet(4, 0, (10, 20)));
        assert_eq!(lost.len(), 1);
        assert_eq!((lost[0].count, lost[0].beginning, lost[0].end), (None, Some(10), Some(20)));
    }

    #[test]
    fn counters_that_go_back_have_no_count() {
        assert!(losses(Some(&packet(4, 7, (10, 20))), &packet(4, 7, (30, 40))).is_empty());
        assert!(losses(Some(&packet(4, 7, (10, 20))), &packet(0, 0, (30, 40))).is_empty());
        let lost = losses(Some(&packet(4, 7, (10, 20))), &packet(3, 6, (30, 40)));
        let facts: Vec<_> = lost.iter().map(|l| (l.kind, l.count, l.beginning)).collect();
        assert_eq!(facts, [(LostKind::Events, None, Some(20))]);
    }

    #[test]
    fn counters_give_the_loss_between_two_packets() {
        let lost = losses(Some(&packet(4, 0, (10, 20))), &packet(9, 3, (30, 40)));
        let facts: Vec<_> = lost.iter().map(|l| (l.kind, l.count, l.beginning, l.end)).collect();
        assert_eq!(
            facts,
            [
                (LostKind::Events, Some(5), Some(20), Some(40)),
                (LostKind::Packets, Some(2), Some(20), Some(30)),
            ]
        );
    }
}
