//! How far a recording is, as one can see it while programs record.

use std::sync::atomic::Ordering;

use crate::arenas::Arenas;
use crate::pool::Pool;
use crate::recording::Failure;

/// How far a recording is.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    pub bytes: u64,
    pub packets: u64,
    pub lost: u64,
    /// Packets that rings have given up for newer ones.
    pub lost_packets: u64,
    /// Bytes of records that are in memory alone.
    pub unwritten: u64,
    /// Of these, the ones of the fullest ring.
    pub fullest: u64,
    pub streams: u64,
    /// Threads with a slot.
    pub live: u32,
    /// Chunks that have memory, and those of them that are free.
    pub chunks: u32,
    pub free_chunks: u32,
    /// Whether the size limit was reached.
    pub is_full: bool,
    /// Whether a program took memory of the arena away.
    pub is_damaged: bool,
    pub failure: Option<Failure>,
}

impl Arenas {
    /// How far the recording is.
    pub fn progress(&self) -> Progress {
        let trace = &self.trace;
        let tallies = &trace.tallies;
        let all = self.all();
        let fills: Vec<_> = all.iter().map(|one| one.fill()).collect();
        Progress {
            bytes: tallies.bytes.load(Ordering::Relaxed),
            packets: tallies.packets.load(Ordering::Relaxed),
            lost: fills
                .iter()
                .map(|one| one.untold)
                .fold(tallies.lost.load(Ordering::Relaxed), u64::saturating_add)
                .saturating_add(self.unplaced()),
            lost_packets: tallies.lost_packets.load(Ordering::Relaxed),
            unwritten: fills.iter().map(|one| one.unwritten).fold(0, u64::saturating_add),
            fullest: fills.iter().map(|one| one.fullest).max().unwrap_or_default(),
            streams: tallies.streams.load(Ordering::Relaxed),
            live: all.iter().map(|one| one.live.load(Ordering::Relaxed)).sum(),
            chunks: all.iter().map(|one| one.pool.ready()).sum(),
            free_chunks: all.iter().map(|one| Pool::free(&one.arena)).sum(),
            is_full: trace.was_full(),
            is_damaged: all.iter().any(|one| one.arena.guard().is_damaged()),
            failure: trace.failure(),
        }
    }
}
