//! When a thread lets more come before it reads on.
//!
//! Who sends small packets in a row wakes a reader for each of them, and waking costs more than
//! what there is to be done. So where little has come, and shortly after what came before, the
//! thread rests for a moment, and then has several at once. Peers that wait for each answer are
//! not let wait.

use std::time::{Duration, Instant};

/// How long a thread rests.
const REST: Duration = Duration::from_micros(200);
/// Turns follow each other closely if there is no more between them.
const GAP: Duration = Duration::from_micros(500);
/// Bytes of packets that are worth a turn.
const ENOUGH_BYTES: usize = 32 << 10;
/// Commands that are.
const ENOUGH_COMMANDS: u64 = 64;
/// Turns after a single command until its peer is believed not to wait for answers.
const PATIENCE: u32 = 64;

/// What came in a turn, and what came before.
#[derive(Debug)]
pub struct Pace {
    before: Instant,
    bytes: usize,
    commands: u64,
    /// Turns until a rest is tried although somebody may wait.
    until_try: u32,
}

impl Pace {
    /// Nothing has come yet.
    pub fn new(now: Instant) -> Self {
        Self { before: now, bytes: 0, commands: 0, until_try: 0 }
    }

    /// Bytes of packets have come.
    pub fn note_bytes(&mut self, count: usize) {
        self.bytes += count;
    }

    /// Commands have come at once.
    pub fn note_commands(&mut self, count: u64) {
        self.commands += count;
        match count {
            0 => {}
            1 if self.until_try == 0 => self.until_try = PATIENCE,
            1 => {}
            _ => self.until_try = 0,
        }
    }

    /// A turn has ended now: how long the thread should rest, if it should.
    pub fn end_turn(&mut self, now: Instant) -> Option<Duration> {
        let gap = now.duration_since(std::mem::replace(&mut self.before, now));
        let bytes = std::mem::take(&mut self.bytes);
        let commands = std::mem::take(&mut self.commands);
        if self.until_try > 0 {
            self.until_try -= 1;
            if self.until_try > 0 {
                return None;
            }
        }
        let has_come = bytes > 0 || commands > 0;
        let is_little = bytes < ENOUGH_BYTES && commands < ENOUGH_COMMANDS;
        (has_come && is_little && gap < GAP + REST).then_some(REST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_packets_in_a_row_are_let_come() {
        let mut now = Instant::now();
        let mut pace = Pace::new(now);
        assert_eq!(pace.end_turn(now), None);
        pace.note_bytes(4096);
        assert_eq!(pace.end_turn(now), Some(REST));
        pace.note_bytes(ENOUGH_BYTES);
        assert_eq!(pace.end_turn(now), None);
        now += 2 * GAP;
        pace.note_bytes(4096);
        assert_eq!(pace.end_turn(now), None);
    }

    #[test]
    fn peers_that_wait_for_answers_are_not_let_wait() {
        let now = Instant::now();
        let mut pace = Pace::new(now);
        let mut rests = 0;
        for _ in 0..10 * PATIENCE {
            pace.note_commands(1);
            rests += u32::from(pace.end_turn(now).is_some());
        }
        assert_eq!(rests, 10);
        pace.note_commands(3);
        assert_eq!(pace.end_turn(now), Some(REST));
    }
}
