//! Reading a data stream packet by packet, window by window.
//!
//! Damage ends the packet it is in, not the data stream: decision 16 tells which records of
//! such a packet are given.

mod boundaries;
mod damaged_packets;
mod packet_starts;
mod plain_packets;
mod windows;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use super::batch::Batch;
use super::boundary::Boundary;
use super::damage::{Damage, DamageKind};
use super::data_stream::DataStream;
use super::file_window::{FileWindow, MOST_AHEAD};
use super::lost::Lost;
use super::packet::{PacketProperties, SharedPacket};
use super::selection::Selection;
use super::step_table::StepTable;
use crate::record::State;
use boundaries::Boundaries;

/// How many packets are gone through for one batch, so that one whose records are seldom
/// wanted is given before the file is read to its end.
const MOST_GATHERED: usize = 16_384;
/// Bytes that are gone through for one item: nobody has to wait longer for records that are
/// seldom wanted, to be told that there are none yet.
const MOST_PASSED: u64 = 4 * 1024 * 1024;
/// Packets up to this size, bytes, are copied from what was read for many of them at once.
const SMALL_PACKET: u64 = 32 * 1024;

/// What a data stream yields.
pub enum Item {
    /// Event records.
    Batch(Batch),
    /// A loss that the tracer counted.
    Lost(Lost),
    /// Something begins or ends; only when asked for.
    Boundary(Boundary),
    /// Bytes that cannot be used, with the index of their file.
    Damage(usize, Damage),
    /// Nothing in many bytes; it goes on behind them.
    Nothing,
}

/// Where the reader is in a packet.
struct Place {
    packet: SharedPacket,
    file: usize,
    /// Bit offset of the next record, from the start of the packet.
    position: u64,
    /// The latest time that a record of the packet can have, cycles.
    limit: u64,
    /// The time before which the next record cannot lie, cycles.
    floor: u64,
    /// A window that is read and waits for the next one to be right.
    held: Option<Held>,
}

/// Records that are given out once what follows them proves right.
struct Held {
    batch: Batch,
    floor: u64,
    end: u64,
}

/// The bytes of a window and how its records are found once more.
struct Read {
    base: u64,
    data: Vec<u8>,
    clock: u64,
    whole: bool,
}

/// The time of the last record from a packet on, cycles.
pub(super) fn last_time(stream: &Arc<DataStream>, packet: usize) -> Option<u64> {
    let packets = packet..stream.packets.len();
    let mut reader = StreamReader::of_packets(Arc::clone(stream), Selection::default(), packets);
    let mut last = None;
    while let Some(item) = reader.next_item() {
        if let Item::Batch(batch) = item {
            last = batch.records.last().map(|record| record.cycles).or(last);
        }
    }
    last
}

/// Reads the items of a data stream in order.
pub struct StreamReader {
    stream: Arc<DataStream>,
    selection: Arc<Selection>,
    state: State,
    /// How to step over records under the selection.
    steps: StepTable,
    /// What was read around the place where the reader is, and of which file.
    window: FileWindow,
    window_file: usize,
    /// The packets that are not read yet.
    packets: Range<usize>,
    place: Option<Place>,
    previous: Option<PacketProperties>,
    /// Whether packets are missing since the previous one.
    gap: bool,
    /// Time of the last record, cycles.
    last: Option<u64>,
    /// Number and bits of the records so far, to estimate what damage costs.
    seen: (u64, u64),
    pending: VecDeque<Item>,
    /// Bytes that were gone through since the last item.
    passed: u64,
    /// What comes after a batch of several packets.
    next_gathered: Option<Item>,
    /// Most bytes of small packets that are put together.
    gather: usize,
    /// For each file how many of its damages were given, `usize::MAX` when it is given up.
    reported: Vec<usize>,
    /// The packet before the next one, when it was skipped.
    skipped: Option<(usize, usize)>,
    /// The file of whose wrong UUID was told last.
    other_uuid: Option<usize>,
    grows: bool,
    /// What has been told of beginnings and ends, when that is wanted.
    boundaries: Option<Boundaries>,
}

impl StreamReader {
    /// A reader at the beginning of a data stream.
    #[must_use]
    pub fn new(stream: Arc<DataStream>, selection: Selection) -> Self {
        let packets = 0..stream.packets.len();
        Self::of_packets(stream, selection, packets)
    }

    /// A reader of some packets of a data stream, which does not know those before them.
    #[must_use]
    pub fn of_packets(
        stream: Arc<DataStream>,
        selection: Selection,
        packets: Range<usize>,
    ) -> Self {
        Self {
            packets,
            state: State::new(stream.trace.slot_count),
            steps: StepTable::default(),
            window: FileWindow::default(),
            window_file: 0,
            reported: vec![0; stream.files.len()],
            boundaries: selection.boundaries.then(Boundaries::default),
            stream,
            selection: Arc::new(selection),
            place: None,
            previous: None,
            gap: false,
            last: None,
            seen: (0, 0),
            pending: VecDeque::new(),
            passed: 0,
            next_gathered: None,
            gather: MOST_AHEAD,
            skipped: None,
            other_uuid: None,
            grows: false,
        }
    }

    /// The reader with other bounds: at most so many bytes are read ahead and put together.
    #[must_use]
    pub fn gathering(mut self, bytes: usize) -> Self {
        self.gather = bytes.min(MOST_AHEAD);
        self.window = FileWindow::new(self.gather);
        self
    }

    /// The reader of a data stream that grows: behind this part there may be others.
    #[must_use]
    pub fn growing(mut self) -> Self {
        self.grows = true;
        self
    }

    /// Whether there may be other parts.
    #[must_use]
    pub fn grows(&self) -> bool {
        self.grows
    }

    /// Lets the data stream end with this part: there may be more items then.
    pub fn end(&mut self) {
        self.grows = false;
    }

    /// Goes on with the next part of the data stream, behind the part that has ended: what was
    /// lost between them is told as between any two packets.
    pub fn go_on(&mut self, part: Arc<DataStream>, selection: Selection) {
        self.read_skipped();
        if !Arc::ptr_eq(&self.stream.trace, &part.trace) {
            let clock = self.state.clock;
            self.state = State::new(part.trace.slot_count);
            self.state.clock = clock;
        }
        self.steps = StepTable::default();
        self.window.clear();
        self.window_file = 0;
        self.packets = 0..part.packets.len();
        self.reported = vec![0; part.files.len()];
        self.selection = Arc::new(selection);
        self.stream = part;
    }

    /// The next item, or `None` at the end of the data stream. Records of small packets
    /// that follow each other come in one batch.
    pub fn next_item(&mut self) -> Option<Item> {
        if let Some(item) = self.next_gathered.take() {
            return Some(item);
        }
        self.passed = 0;
        let mut gathered: Option<Batch> = None;
        let from = self.packets.start;
        loop {
            if let Some(batch) = &mut gathered {
                self.gather_plain(batch, from);
            }
            let item = self.next_piece();
            let Some(mut batch) = gathered.take() else {
                match item {
                    Some(Item::Batch(batch)) if batch.data.len() < self.gather => {
                        gathered = Some(batch);
                        continue;
                    }
                    _ => return item,
                }
            };
            let next = match item {
                Some(Item::Batch(next)) => match batch.append(next, self.gather) {
                    None if self.packets.start.saturating_sub(from) < MOST_GATHERED => {
                        gathered = Some(batch);
                        continue;
                    }
                    next => next.map(Item::Batch),
                },
                Some(Item::Boundary(boundary))
                    if self.packets.start.saturating_sub(from) < MOST_GATHERED =>
                {
                    batch.add_boundary(boundary);
                    gathered = Some(batch);
                    continue;
                }
                item => item,
            };
            self.next_gathered = next;
            return Some(Item::Batch(batch));
        }
    }

    /// The next item of a single packet.
    fn next_piece(&mut self) -> Option<Item> {
        loop {
            if let Some(item) = self.pending.pop_front() {
                return Some(item);
            }
            if self.passed >= MOST_PASSED {
                self.passed = 0;
                return Some(Item::Nothing);
            }
            if let Some(place) = self.place.take() {
                self.read_window(place);
                continue;
            }
            let next = self.packets.next();
            match next.and_then(|packet| self.stream.packets.get(packet)) {
                Some(at) => self.enter_packet(at),
                None => {
                    (0..self.reported.len()).for_each(|file| self.report_until(file, None));
                    if !self.grows {
                        self.tell_stream_end();
                    }
                    if self.pending.is_empty() {
                        return None;
                    }
                }
            }
        }
    }

    /// Gives the damages of a file that lie before an offset, or all.
    fn report_until(&mut self, file: usize, next: Option<(u64, Option<u64>)>) {
        let stream = Arc::clone(&self.stream);
        let (Some(data), Some(reported)) = (stream.files.get(file), self.reported.get_mut(file))
        else {
            return;
        };
        let rest = data.damage.get(*reported..).unwrap_or_default();
        let due = |damage: &&Damage| next.is_none_or(|(offset, _)| damage.start <= offset);
        let before = next.and_then(|(_, beginning)| beginning);
        let mut count = 0;
        for damage in rest.iter().take_while(due) {
            count += 1;
            if data.is_being_written(damage) {
                continue;
            }
            self.gap = true;
            let records = damage.records.or_else(|| {
                let empty = damage.kind.is_empty();
                if empty {
                    Some(0)
                } else {
                    estimate(self.seen, (damage.end - damage.start) * 8)
                }
            });
            let damage = Damage { records, after: self.last, before, ..damage.clone() };
            self.pending.push_back(Item::Damage(file, damage));
        }
        *reported = reported.saturating_add(count);
    }

    /// Lets the window be one of a file.
    fn look_at(&mut self, file: usize) {
        if self.window_file != file {
            self.window_file = file;
            self.window.clear();
        }
    }

    /// Reports a packet of which nothing is read.
    fn give_up(&mut self, file: usize, damage: Damage) {
        self.gap = true;
        if damage.kind == DamageKind::ReadFailed {
            // What follows in the file cannot be read either.
            if let Some(reported) = self.reported.get_mut(file) {
                *reported = usize::MAX;
            }
        }
        let records =
            damage.records.or_else(|| estimate(self.seen, (damage.end - damage.start) * 8));
        let damage = Damage { records, after: self.last, ..damage };
        self.pending.push_back(Item::Damage(file, damage));
    }

    fn release(&mut self, held: Option<Held>) {
        if let Some(held) = held {
            self.give(held.batch);
        }
    }

    /// Gives out records that are right; what lies between a few of them stays here.
    fn give(&mut self, batch: Batch) {
        let batch = batch.thinned().unwrap_or(batch);
        self.tell_held(&batch);
        self.pending.push_back(Item::Batch(batch));
    }

    fn push_damage(&mut self, place: &Place, damage: Damage) {
        let before = Some(place.limit).filter(|&limit| limit != u64::MAX);
        let damage = Damage { after: self.last, before, ..damage };
        self.pending.push_back(Item::Damage(place.file, damage));
    }
}

/// About how many records some bits held, given the number and bits of those before.
fn estimate((records, bits): (u64, u64), lost: u64) -> Option<u64> {
    let lost = u128::from(lost) * u128::from(records);
    let count = lost.checked_div(u128::from(bits))?;
    u64::try_from(count).ok().map(|count| count.max(1))
}

/// Packets are of files that are there, so this is never seen.
#[cold]
fn no_file(offset: u64) -> Damage {
    Damage::new(DamageKind::ReadFailed, offset, offset, "no such file")
}
