//! Packets of CTF 1.8 in LTTng's layout for kernels: header, context, event records.

/// The first word of each packet (CTF 1.8.3, 5.1).
const MAGIC: u32 = 0xc1fc_1fc1;
/// Bytes of the packet's header and context.
const HEAD: usize = 32 + 52;
/// Packets are whole pages.
const PAGE: usize = 4096;
/// Bytes of records after which a packet is written.
const ENOUGH: usize = 256 * 1024;
/// Values of the clock in a nanosecond at least: readers put packets of one moment in any order.
const NANOSECOND: u64 = 8;

/// What the headers of records look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// 5 bits of the class and 27 of the time.
    Compact,
    /// 16 bits of the class and 32 of the time.
    Large,
}

impl Header {
    /// The header for so many classes.
    #[must_use]
    pub fn of(classes: u32) -> Self {
        if classes <= 31 {
            Self::Compact
        } else {
            Self::Large
        }
    }

    /// Appends a header; the time before is that of the last record or the packet.
    fn push(self, class: u32, time: u64, before: u64, out: &mut Vec<u8>) {
        let bits = if self == Self::Compact { 27 } else { 32 };
        let is_near = (time - before) >> bits == 0;
        match (self, is_near) {
            (Self::Compact, true) => {
                // The lowest 32 bits of time and class are what there is room for.
                let word = (time << 5 | u64::from(class & 31)) & 0xffff_ffff;
                out.extend_from_slice(&word.to_le_bytes()[..4]);
            }
            (Self::Large, true) => {
                out.extend_from_slice(&class.to_le_bytes()[..2]);
                out.extend_from_slice(&time.to_le_bytes()[..4]);
            }
            (_, false) => {
                out.extend_from_slice(if self == Self::Compact { &[31] } else { &[0xff; 2] });
                out.extend_from_slice(&class.to_le_bytes());
                out.extend_from_slice(&time.to_le_bytes());
            }
        }
    }
}

/// What tells a data stream from others.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    pub uuid: [u8; 16],
    /// The class of the data stream in the metadata.
    pub stream: u32,
    pub cpu: u32,
    pub header: Header,
}

/// A packet that is being filled, and what is known of those before it.
pub struct Packets {
    facts: Facts,
    bytes: Vec<u8>,
    /// Bytes of records after which it is written.
    enough: usize,
    begin: u64,
    last: u64,
    sequence: u64,
    /// Whether one was written to where the next one goes.
    has_written: bool,
    records: u64,
    /// Event records that were lost in this data stream up to now.
    pub lost: u64,
}

impl Packets {
    /// The packets of a data stream that begins at a value of its clock.
    #[must_use]
    pub fn new(facts: Facts, begin: u64) -> Self {
        let mut bytes = Vec::with_capacity(HEAD + ENOUGH + PAGE);
        bytes.resize(HEAD, 0);
        Self {
            facts,
            bytes,
            enough: ENOUGH,
            begin,
            last: begin,
            sequence: 0,
            has_written: false,
            records: 0,
            lost: 0,
        }
    }

    /// The value of the clock at the last record, or where the packet begins.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.last
    }

    /// The same, but not in the nanosecond in which the packet begins.
    #[must_use]
    pub fn apart(&self) -> u64 {
        self.last.max(self.begin.saturating_add(NANOSECOND))
    }

    /// Event records in this packet.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Whether no packet has been written before this one, to the same place.
    #[must_use]
    pub fn is_first(&self) -> bool {
        !self.has_written
    }

    /// Lets the next packet be the first one of another place.
    pub fn begin_elsewhere(&mut self) {
        self.has_written = false;
    }

    /// Lets packets have no more than some bytes, but for their last record.
    pub fn limit(&mut self, bytes: usize) {
        self.enough = bytes.saturating_sub(HEAD + PAGE).clamp(PAGE, ENOUGH);
    }

    /// Lets a packet without records begin at a later value of the clock.
    pub fn skip_to(&mut self, time: u64) {
        if self.records == 0 {
            self.last = self.last.max(time);
            self.begin = self.last;
        }
    }

    /// Throws away the records of this packet.
    pub fn drop_records(&mut self) {
        self.bytes.truncate(HEAD);
        self.begin = self.last;
        self.records = 0;
    }

    #[must_use]
    pub fn is_full(&self) -> bool {
        self.bytes.len() >= HEAD + self.enough
    }

    /// Adds a record whose fields are pushed; without them, there is none.
    ///
    /// A time before the last one is that one: readers take no other.
    pub fn add(
        &mut self,
        class: u32,
        time: u64,
        push: impl FnOnce(&mut Vec<u8>) -> Option<()>,
    ) -> bool {
        let time = time.max(self.last);
        let length = self.bytes.len();
        self.facts.header.push(class, time, self.last, &mut self.bytes);
        if push(&mut self.bytes).is_none() {
            self.bytes.truncate(length);
            return false;
        }
        self.last = time;
        self.records += 1;
        true
    }

    /// The packet, once it is complete.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Completes the packet, which ends at a value of the clock: what an index says of it.
    pub fn complete(&mut self, end: u64) -> [u64; 8] {
        let end = end.max(self.last);
        self.last = end;
        let content = self.bytes.len() as u64 * 8;
        self.bytes.resize(self.bytes.len().next_multiple_of(PAGE), 0);
        let packet = self.bytes.len() as u64 * 8;
        let stream = u64::from(self.facts.cpu);
        let mut head = Vec::with_capacity(HEAD);
        head.extend_from_slice(&MAGIC.to_le_bytes());
        head.extend_from_slice(&self.facts.uuid);
        head.extend_from_slice(&self.facts.stream.to_le_bytes());
        head.extend_from_slice(&stream.to_le_bytes());
        for number in [self.begin, end, content, packet, self.sequence, self.lost] {
            head.extend_from_slice(&number.to_le_bytes());
        }
        head.extend_from_slice(&self.facts.cpu.to_le_bytes());
        if let Some(room) = self.bytes.get_mut(..HEAD) {
            room.copy_from_slice(&head);
        }
        [packet, content, self.begin, end, self.lost, 0, stream, self.sequence]
    }

    /// Begins the next packet, after the last one was written or given up.
    pub fn begin_next(&mut self, was_written: bool) {
        self.bytes.truncate(HEAD);
        self.begin = self.last;
        self.sequence += u64::from(was_written);
        self.has_written |= was_written;
        if !was_written {
            self.lost = self.lost.saturating_add(self.records);
        }
        self.records = 0;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    fn packets(header: Header) -> Packets {
        Packets::new(Facts { uuid: [7; 16], stream: 0, cpu: 3, header }, 1000)
    }

    fn records(packets: &mut Packets) -> Vec<u8> {
        let facts = packets.complete(0);
        packets.bytes()[HEAD..(facts[1] / 8) as usize].to_vec()
    }

    #[test]
    fn headers_are_as_short_as_time_lets_them_be() {
        let later = 1001 + (1 << 27);
        let mut few = packets(Header::of(31));
        few.add(2, 1001, |_| Some(()));
        few.add(2, later, |_| Some(()));
        let mut many = packets(Header::of(32));
        many.add(300, later, |_| Some(()));
        many.add(300, later + (1 << 32), |_| Some(()));

        let near = (1001_u32 << 5 | 2).to_le_bytes().to_vec();
        let far = [vec![31, 2, 0, 0, 0], later.to_le_bytes().to_vec()].concat();
        assert_eq!(records(&mut few), [near, far].concat());
        let near = [vec![44, 1], (later as u32).to_le_bytes().to_vec()].concat();
        let far = (later + (1 << 32)).to_le_bytes().to_vec();
        assert_eq!(records(&mut many), [near, vec![255, 255, 44, 1, 0, 0], far].concat());
    }

    #[test]
    fn a_record_without_all_fields_is_none() {
        let mut one = packets(Header::Large);
        let is_there = one.add(0, 2000, |out| {
            out.push(1);
            None
        });

        assert!(!is_there);
        assert_eq!((records(&mut one), one.last(), one.records()), (vec![], 1000, 0));
    }

    #[test]
    fn packets_follow_each_other_without_gaps() {
        let mut one = packets(Header::Large);
        one.add(0, 1500, |_| Some(()));
        one.lost = 4;
        let facts = one.complete(0);
        let bytes = one.bytes().to_vec();
        assert_eq!(facts, [4096 * 8, (HEAD as u64 + 6) * 8, 1000, 1500, 4, 0, 3, 0]);
        one.begin_next(true);
        let second = one.complete(1700);
        assert_eq!(second, [4096 * 8, HEAD as u64 * 8, 1500, 1700, 4, 0, 3, 1]);

        assert_eq!(bytes.len(), PAGE);
        assert_eq!(bytes[..4], MAGIC.to_le_bytes());
        assert_eq!(bytes[4..20], [7; 16]);
        assert_eq!(bytes[80..84], [3, 0, 0, 0]);
    }

    #[test]
    fn records_of_a_packet_that_was_not_written_are_lost() {
        let mut one = packets(Header::Large);
        one.add(0, 1500, |_| Some(()));
        one.complete(0);
        one.begin_next(false);
        let facts = one.complete(1700);

        assert_eq!((facts[4], facts[7]), (1, 0));
    }

    #[test]
    fn time_does_not_go_back() {
        let mut one = packets(Header::Large);
        one.add(0, 900, |_| Some(()));

        assert_eq!(records(&mut one)[2..], 1000_u32.to_le_bytes());
    }
}
