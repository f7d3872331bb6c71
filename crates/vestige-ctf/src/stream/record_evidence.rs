//! Which records before a failure may already be wrong.
//!
//! When a record cannot be decoded, something before it may have been altered: a length, an
//! ID, the end of a string. From there on, what is read as records are bytes that begin at
//! wrong places, and chance may let some of them pass. So the last records before a failure
//! are believed only as far as chance cannot explain them: each time stamp close to the one
//! before it, and each known event record class, is evidence that the record begins where
//! the tracer began one.

use super::data_stream::DataStream;
use super::evidence_strength::EvidenceStrength;
use super::record_place::Record;
use crate::bits::BitReader;
use crate::record::State;

/// Bits of evidence that are enough: one chance in four thousand million.
const ENOUGH: u32 = 32;
/// Bits of evidence that a time needs behind a place where bytes are missing: the stamp that
/// follows has any value.
const SPLICED: u32 = 12;
/// The same where bytes are altered: a wrap that never was takes a step of a quarter of all
/// values of the stamp, or more.
const ALTERED: u32 = 3;
/// Two clocks that differ in all bits a short time stamp leaves open.
const CLOCKS: [u64; 2] = [0, 0x5555_5555_5555_5555];

/// Collects evidence from the last record to the first.
pub struct RecordEvidence<'a> {
    stream: &'a DataStream,
    trust: EvidenceStrength,
    state: State,
    evidence: u32,
}

impl<'a> RecordEvidence<'a> {
    /// No evidence so far. `slots` are those of the packet.
    #[must_use]
    pub fn new(stream: &'a DataStream, trust: EvidenceStrength, slots: &[u64]) -> Self {
        let mut state = State::new(0);
        state.slots = slots.to_vec();
        Self { stream, trust, state, evidence: 0 }
    }

    /// Whether the records in front are out of doubt.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.evidence >= ENOUGH
    }

    /// How many of the first records are out of doubt, of some that lie in `data` and end
    /// at bit `end`, the first of them after the time `floor`.
    pub fn certain(&mut self, data: &[u8], records: &[Record], floor: u64, end: u64) -> usize {
        let mut behind = end;
        for (index, record) in records.iter().enumerate().rev() {
            if self.is_settled() {
                return index + 1;
            }
            let before = index.checked_sub(1).and_then(|index| records.get(index));
            let before = before.map_or(floor, |record| record.cycles);
            if !is_zero(data, u64::from(record.start), behind) {
                self.evidence += self.weigh(data, record, before);
            }
            behind = u64::from(record.start);
            if self.is_settled() {
                // This one begins at the right place; those behind it may not.
                return index + 1;
            }
        }
        0
    }

    /// How many of the first records have a time that can be believed.
    ///
    /// A short time stamp tells only how far the clock is behind the last wrap. Where records
    /// are missing or a stamp is altered, wraps are missed or imagined, and the times behind
    /// are wrong by that much. Such a place has a step that is large for the stamp.
    /// `is_spliced` tells whether bytes are known to be missing.
    pub fn timed(
        &mut self,
        data: &[u8],
        records: &[Record],
        floor: u64,
        is_spliced: bool,
    ) -> usize {
        let least = if is_spliced { SPLICED } else { ALTERED };
        let mut before = floor;
        let first = records.iter().position(|record| {
            let step = record.cycles.saturating_sub(std::mem::replace(&mut before, record.cycles));
            let bits = self.time_bits(data, record);
            (1..u64::BITS).contains(&bits) && bits.saturating_sub(size(step)) < least
        });
        first.unwrap_or(records.len())
    }

    /// Bits by which chance would have missed the class and the time of a record.
    fn weigh(&mut self, data: &[u8], record: &Record, before: u64) -> u32 {
        let bits = self.time_bits(data, record);
        let step = record.cycles.saturating_sub(before);
        self.trust.class_bits + bits.saturating_sub(size(step))
    }

    /// How many bits of the clock the header of a record gives.
    fn time_bits(&mut self, data: &[u8], record: &Record) -> u32 {
        let times = CLOCKS.map(|clock| {
            let end = data.len() as u64 * 8;
            let mut reader = BitReader::new(data, u64::from(record.start), end);
            self.state.clock = clock;
            self.stream.header.decode(&mut reader, &mut self.state).map(|_| self.state.clock)
        });
        match times {
            [Ok(left), Ok(right)] if left == right => u64::BITS,
            _ => self.trust.time_bits,
        }
    }
}

/// How many bits a number has.
fn size(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// Zeros are what is found where nothing was written: they prove nothing.
fn is_zero(data: &[u8], start: u64, end: u64) -> bool {
    let bytes = data.get((start / 8) as usize..end.div_ceil(8) as usize).unwrap_or_default();
    bytes.iter().all(|&byte| byte == 0)
}
