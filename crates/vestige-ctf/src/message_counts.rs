//! How many messages of each kind merges hold, told from time to time.

use crate::messages::{pieces, Piece};
use crate::muxer::{Merge, Notice};
use crate::stream::{BoundaryKind, LostKind};

/// Babeltrace 2 moves so many messages at once, and looks at a count after them.
const MESSAGES_AT_ONCE: u64 = 15;

/// How many messages there are of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MessageCounts {
    /// Event records.
    pub events: u64,
    /// Beginnings of data streams.
    pub stream_beginnings: u64,
    /// Ends of data streams.
    pub stream_ends: u64,
    /// Beginnings of packets.
    pub packet_beginnings: u64,
    /// Ends of packets.
    pub packet_ends: u64,
    /// Losses of event records.
    pub lost_events: u64,
    /// Losses of packets.
    pub lost_packets: u64,
    /// Messages that nothing comes.
    pub inactivity: u64,
}

impl MessageCounts {
    /// All counts, in the order in which they are shown.
    #[must_use]
    pub fn all(&self) -> [u64; 8] {
        [
            self.events,
            self.stream_beginnings,
            self.stream_ends,
            self.packet_beginnings,
            self.packet_ends,
            self.lost_events,
            self.lost_packets,
            self.inactivity,
        ]
    }

    /// The number of all messages.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.all().iter().sum()
    }

    fn notice(&mut self, notice: &Notice) -> bool {
        let count = match notice {
            Notice::Damage(..) => return false,
            Notice::Inactivity(_) => &mut self.inactivity,
            Notice::Lost(lost) => match lost.kind {
                LostKind::Events => &mut self.lost_events,
                LostKind::Packets => &mut self.lost_packets,
            },
            Notice::Boundary(boundary) => match boundary.kind {
                BoundaryKind::StreamBeginning => &mut self.stream_beginnings,
                BoundaryKind::StreamEnd => &mut self.stream_ends,
                BoundaryKind::PacketBeginning(_) => &mut self.packet_beginnings,
                BoundaryKind::PacketEnd(_) => &mut self.packet_ends,
            },
        };
        *count += 1;
        true
    }
}

/// Counts messages.
#[derive(Debug, Clone, Default)]
pub struct MessageCounter {
    counts: MessageCounts,
    /// After so many messages the counts are told; 0 for never.
    step: u64,
    /// Messages since they were told.
    since: u64,
    told: Option<u64>,
}

impl MessageCounter {
    /// A counter that tells after each `step` messages, or only at the end.
    #[must_use]
    pub fn new(step: u64) -> Self {
        Self { step, ..Self::default() }
    }

    /// Counts the messages of a merge; calls `tell` whenever it is time.
    pub fn add(&mut self, merge: &Merge, tell: &mut dyn FnMut(&MessageCounts)) {
        for piece in pieces(merge) {
            match piece {
                Piece::Notice(_, notice) => {
                    if self.counts.notice(notice) {
                        self.count(1, tell);
                    }
                }
                Piece::Run { run, .. } => {
                    let mut left = u64::from(run.end - run.start);
                    while left > 0 {
                        let count = self.until_told().map_or(left, |most| left.min(most));
                        self.counts.events += count;
                        self.count(count, tell);
                        left -= count;
                    }
                }
            }
        }
    }

    fn until_told(&self) -> Option<u64> {
        let interval = self.step.div_ceil(MESSAGES_AT_ONCE).checked_mul(MESSAGES_AT_ONCE)?;
        (self.step > 0).then(|| interval.saturating_sub(self.since).max(1))
    }

    fn count(&mut self, count: u64, tell: &mut dyn FnMut(&MessageCounts)) {
        let is_due = self.until_told() == Some(count);
        self.since += count;
        if is_due {
            self.tell(tell);
        }
    }

    fn tell(&mut self, tell: &mut dyn FnMut(&MessageCounts)) {
        self.since = 0;
        self.told = Some(self.counts.total());
        tell(&self.counts);
    }

    /// Ends the counting: calls `tell` if it is time even then, and returns the counts unless
    /// they were told last.
    pub fn finish(&mut self, tell: &mut dyn FnMut(&MessageCounts)) -> Option<MessageCounts> {
        if self.step > 0 && self.since >= self.step {
            self.tell(tell);
        }
        (self.told != Some(self.counts.total())).then_some(self.counts)
    }

    /// The counts so far.
    #[must_use]
    pub fn counts(&self) -> &MessageCounts {
        &self.counts
    }
}
