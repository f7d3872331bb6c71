//! Where data streams and packets begin and end, against a model of what Babeltrace 2 tells.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::sync::Arc;

use common::{open, parse, BitWriter, HEAD};
use vestige_ctf::messages::{walk, Message};
use vestige_ctf::model::ByteOrder::Little;
use vestige_ctf::muxer::{Merge, Muxer, Notice};
use vestige_ctf::stream::{BoundaryKind, DataStream, LostKind, Selection};
use vestige_ctf::trimmer::Trimmer;

const METADATA: &str = "stream { \
     packet.context := struct { u32 packet_size; u32 content_size; time timestamp_begin; \
         time timestamp_end; u32 events_discarded; u32 packet_seq_num; }; \
     event.header := struct { time timestamp; }; };\n\
     event { name = e; fields := struct { string text; }; };";
const HEAD_SIZE: usize = 4 + 4 + 8 + 8 + 4 + 4;

/// Numbers that look random and are the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040);
        (self.0 >> 33) % limit
    }
}

/// What a data stream tells: what it is, its time, and for a loss its end and its count.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Told {
    kind: &'static str,
    time: Option<i64>,
    end: Option<i64>,
    count: Option<u64>,
    /// 0 where a range of time begins, 2 where it ends, 1 otherwise.
    phase: u8,
}

fn told(kind: &'static str, time: Option<i64>) -> Told {
    Told { kind, time, end: None, count: None, phase: 1 }
}

/// A data stream file, and all that it tells.
fn data_stream(random: &mut Random) -> (Vec<u8>, Vec<Told>) {
    let (mut bytes, mut all) = (Vec::new(), vec![told("stream begins", None)]);
    let (mut clock, mut discarded, mut sequence) = (random.below(40) as i64, 0, 0);
    let mut previous_end = None;
    for _ in 0..1 + random.below(12) {
        let begin = clock;
        let count = [0, 1, 3, 9, 40][random.below(5) as usize];
        // Some packets are longer than what is read at once, some records longer than others.
        let length = [0, 5, 300, 9000][random.below(4) as usize];
        let times: Vec<i64> = (0..count).map(|_| random.below(30) as i64 + begin).collect();
        let mut times = times;
        times.sort_unstable();
        let end = times.last().map_or(begin, |last| *last) + random.below(5) as i64;
        let lost = [0, 0, 0, 7][random.below(4) as usize];
        let skipped = [0, 0, 0, 2][random.below(4) as usize];
        discarded += lost;
        sequence += 1 + skipped;
        let loss =
            |kind, time, end, count| Told { end: Some(end), count, ..told(kind, Some(time)) };
        match previous_end {
            None if lost > 0 && (count > 0 || begin < end) => {
                all.push(loss("lost events", begin, end, None));
            }
            Some(before) if lost > 0 => {
                all.push(loss("lost events", before, end, Some(lost as u64)));
            }
            _ => {}
        }
        if let Some(before) = previous_end.filter(|_| skipped > 0) {
            all.push(loss("lost packets", before, begin, Some(skipped as u64)));
        }
        all.push(told("packet begins", Some(begin)));
        let size = 8 * (HEAD_SIZE + times.len() * (8 + length + 1)) as i64;
        let mut packet = BitWriter::new(Little).put(size, 32).put(size, 32);
        packet = packet.put(begin, 64).put(end, 64).put(discarded, 32).put(sequence, 32);
        let mut packet = packet.bytes();
        for time in times {
            packet.extend(time.to_le_bytes());
            packet.extend(std::iter::repeat_n(b'x', length));
            packet.push(0);
            all.push(told("event", Some(time)));
        }
        bytes.extend(packet);
        all.push(told("packet ends", Some(end)));
        previous_end = Some(end);
        clock = end + random.below(9) as i64;
    }
    all.push(told("stream ends", None));
    (bytes, all)
}

/// What is left behind a seek to a time, by the rule of Babeltrace's library.
fn sought(all: &[Told], begin: i64) -> Vec<Told> {
    let (mut exists, mut in_packet, mut is_timed) = (false, false, false);
    let mut queued = Vec::new();
    let mut rest = all.iter();
    for one in rest.by_ref() {
        match (one.time, one.end) {
            (Some(time), _) if time >= begin => {
                queued.push(one.clone());
                break;
            }
            (Some(_), Some(end)) if end >= begin => {
                queued.push(Told { time: Some(begin), count: None, ..one.clone() });
                continue;
            }
            _ => {}
        }
        is_timed |= one.time.is_some();
        match one.kind {
            "stream begins" => exists = true,
            "stream ends" => exists = false,
            "packet begins" => in_packet = true,
            "packet ends" => in_packet = false,
            _ => {}
        }
    }
    let time = is_timed.then_some(begin);
    let head = exists.then(|| told("stream begins", time)).into_iter();
    let head = head.chain(in_packet.then(|| told("packet begins", time)));
    let head = head.map(|one| Told { phase: u8::from(time.is_none()), ..one });
    head.chain(queued).chain(rest.cloned()).collect()
}

/// What is left of it before a time, by the rule of Babeltrace's trimmer.
fn ended(all: &[Told], end: i64) -> Vec<Told> {
    let (mut in_packet, mut is_timed) = (false, false);
    let mut left = Vec::new();
    for one in all {
        is_timed |= one.end.is_some();
        if one.time.is_some_and(|time| time > end) {
            if in_packet {
                left.push(Told { phase: 2, ..told("packet ends", Some(end)) });
            }
            let phase = if is_timed { 2 } else { 1 };
            left.push(Told { phase, ..told("stream ends", is_timed.then_some(end)) });
            return left;
        }
        is_timed |= one.time.is_some();
        in_packet = (in_packet || one.kind == "packet begins") && one.kind != "packet ends";
        let mut one = one.clone();
        if one.end.is_some_and(|until| until > end) {
            (one.end, one.count) = (Some(end), None);
        }
        left.push(one);
    }
    left
}

/// Data streams merged: what has no time comes at once, ties go to the first.
fn merged(streams: &[Vec<Told>]) -> Vec<(usize, Told)> {
    let mut rests: Vec<_> = streams.iter().map(|one| one.iter().peekable()).collect();
    let mut all = Vec::new();
    loop {
        let heads = rests.iter_mut().enumerate();
        let heads =
            heads.filter_map(|(rank, rest)| rest.peek().map(|one| (one.time, one.phase, rank)));
        let Some((.., rank)) = heads.min() else { return all };
        all.extend(rests[rank].next().map(|one| (rank, one.clone())));
    }
}

fn read(streams: &[Arc<DataStream>], begin: Option<i64>, end: Option<i64>) -> Vec<(usize, Told)> {
    let wanted = Selection { begin, end, boundaries: true, ..Selection::default() };
    let inputs = streams.iter().map(|stream| (Arc::clone(stream), wanted.clone())).collect();
    let mut muxer = Muxer::new(inputs);
    let mut all = Vec::new();
    while let Some(merge) = muxer.next_merge() {
        all.extend(messages_of(&merge));
    }
    all
}

/// The same cut from all that there is.
fn trimmed(
    streams: &[Arc<DataStream>],
    begin: Option<i64>,
    end: Option<i64>,
) -> Vec<(usize, Told)> {
    let wanted = Selection { boundaries: true, ..Selection::default() };
    let inputs = streams.iter().map(|stream| (Arc::clone(stream), wanted.clone())).collect();
    let (mut muxer, mut trimmer) = (Muxer::new(inputs), Trimmer::new(begin, end));
    let mut all = Vec::new();
    while let Some(merge) = muxer.next_merge() {
        let (cut, kept) = trimmer.trim(&merge);
        assert_eq!(cut.records, kept.len());
        let (before, after) = (events_of(&merge), events_of(&cut));
        assert!(after.iter().eq(kept.iter().map(|&index| &before[index])));
        all.extend(messages_of(&cut));
    }
    all
}

fn messages_of(merge: &Merge) -> impl Iterator<Item = (usize, Told)> + '_ {
    let mut next = 0;
    walk(merge).map(move |message| match message {
        Message::Event { rank, batch, record, index, part } => {
            assert_eq!(index, next);
            next += 1;
            assert!(Arc::ptr_eq(&batch.part_of(record).packet, &batch.part(part).packet));
            (rank, told("event", Some(record.cycles as i64)))
        }
        Message::Notice(rank, notice) => (rank, told_of(notice)),
    })
}

fn events_of(merge: &Merge) -> Vec<(usize, Told)> {
    messages_of(merge).filter(|(_, told)| told.kind == "event").collect()
}

/// What each data stream tells, if it tells anything: when one without anything else ends
/// depends on whether the others let it come so far.
fn apart(all: &[(usize, Told)]) -> Vec<Vec<&Told>> {
    let of = |wanted| all.iter().filter(move |(rank, _)| *rank == wanted).map(|(_, told)| told);
    let each = (0..3).map(|rank| of(rank).collect::<Vec<_>>());
    each.filter(|told| told.len() > 2).collect()
}

fn told_of(notice: &Notice) -> Told {
    let time = |cycles: Option<u64>| cycles.map(|cycles| cycles as i64);
    match notice {
        Notice::Boundary(boundary) => {
            let kind = match boundary.kind {
                BoundaryKind::StreamBeginning => "stream begins",
                BoundaryKind::PacketBeginning(_) => "packet begins",
                BoundaryKind::PacketEnd(_) => "packet ends",
                BoundaryKind::StreamEnd => "stream ends",
            };
            let is_beginning = kind.ends_with("begins");
            let phase = match (boundary.is_cut, is_beginning) {
                (false, _) => 1,
                (true, true) => 0,
                (true, false) => 2,
            };
            Told { phase, ..told(kind, time(boundary.cycles)) }
        }
        Notice::Lost(lost) => {
            let kind = match lost.kind {
                LostKind::Events => "lost events",
                LostKind::Packets => "lost packets",
            };
            let (end, count) = (time(lost.end), lost.count);
            Told { end, count, ..told(kind, time(lost.beginning)) }
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn all_that_begins_and_ends_is_told_in_order_within_any_range_of_time() {
    let trace = Arc::new(parse(&format!("{HEAD}{METADATA}")));
    for seed in 0..20 {
        let mut random = Random(seed);
        let made: Vec<_> = (0..1 + seed % 3).map(|_| data_stream(&mut random)).collect();
        let streams: Vec<_> = made.iter().map(|(bytes, _)| open(&trace, bytes.clone())).collect();
        let all: Vec<_> = made.into_iter().map(|(_, told)| told).collect();
        for _ in 0..4 {
            let begin = random.below(220) as i64;
            let end = begin + random.below(150) as i64;
            let begin = Some(begin).filter(|_| random.below(4) > 0);
            let end = Some(end).filter(|_| random.below(4) > 0);
            let cut = all.iter().map(|told| {
                let told = begin.map_or_else(|| told.clone(), |begin| sought(told, begin));
                end.map_or_else(|| told.clone(), |end| ended(&told, end))
            });
            let expected = merged(&cut.collect::<Vec<_>>());
            assert_eq!(read(&streams, begin, end), expected, "{seed} {begin:?} {end:?}");
            let cut = trimmed(&streams, begin, end);
            assert_eq!(apart(&cut), apart(&expected), "{seed} {begin:?} {end:?}");
            assert!(cut.iter().filter_map(|(_, told)| told.time).is_sorted());
        }
    }
}
