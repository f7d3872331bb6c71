//! Reading a data stream packet by packet, window by window.
//!
//! Damage ends the packet it is in, not the data stream: decision 16 tells which records of
//! such a packet are given.

mod plain_packets;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use super::batch::Batch;
use super::damage::{Damage, DamageKind};
use super::data_stream::DataStream;
use super::file::DataFile;
use super::file_window::{read_exactly, FileWindow, MOST_AHEAD};
use super::header_faults::damage_of_stream;
use super::lost::{losses, Lost, LostKind};
use super::packet::{read_packet, Packet, PacketProperties, SharedPacket};
use super::packet_list::PacketList;
use super::pool::Buffers;
use super::record_evidence::RecordEvidence;
use super::record_place::Record;
use super::scan::{scan, Scan, ScanEnd, Window};
use super::selection::{PacketUse, Selection};
use super::MAX_ALIGNMENT;
use crate::record::State;

/// Bytes of a packet that are read at once.
const WINDOW: u64 = 256 * 1024;
/// How many packets are gone through for one batch, so that one whose records are seldom
/// wanted is given before the file is read to its end.
const MOST_GATHERED: usize = 16_384;
/// Bytes that are gone through for one item: nobody has to wait longer for records that are
/// seldom wanted, to be told that there are none yet.
const MOST_PASSED: u64 = 4 * 1024 * 1024;
/// Packets up to this size, bytes, are copied from what was read for many of them at once.
const SMALL_PACKET: u64 = 32 * 1024;
/// Largest event record: bit offsets inside a window are 32 bits wide.
const MAX_RECORD: u64 = 256 * 1024 * 1024;

/// What a data stream yields.
pub enum Item {
    /// Event records.
    Batch(Batch),
    /// A loss that the tracer counted.
    Lost(Lost),
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
            window: FileWindow::default(),
            window_file: 0,
            reported: vec![0; stream.files.len()],
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
        }
    }

    /// The reader with other bounds: at most so many bytes are read ahead and put together.
    #[must_use]
    pub fn gathering(mut self, bytes: usize) -> Self {
        self.gather = bytes.min(MOST_AHEAD);
        self.window = FileWindow::new(self.gather);
        self
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

    fn enter_packet(&mut self, (file, packet): (usize, usize)) {
        let Some(data) = self.stream.files.get(file).cloned() else { return };
        let Some(offset) = data.packets.offset(packet) else { return };
        if self.reported.get(file) == Some(&usize::MAX) {
            return;
        }
        if !data.damage.is_empty() {
            self.report_until(file, Some((offset, data.packets.beginning(packet))));
        }
        let usage = self.selection.use_of(&self.stream, self.packets.start - 1);
        if usage == PacketUse::Before {
            self.skipped = Some((file, packet));
            return;
        }
        self.read_skipped();
        let clock = self.state.clock;
        let read = self.read_head(file, offset);
        if was_replaced(&data.packets, packet, &read) {
            self.state.clock = clock;
            return;
        }
        let size = data.packets.size(packet).unwrap_or(0);
        match read.and_then(|packet| self.note_faults(file, &data, packet, size)) {
            Ok(packet) => {
                self.begin_packet(file, packet);
                if usage == PacketUse::After {
                    // What follows is later still; only what was lost until here matters.
                    self.place = None;
                    self.packets = 0..0;
                }
            }
            Err(damage) => {
                self.state.clock = clock;
                let end = offset.saturating_add(size).min(data.source.len());
                let start = offset;
                self.give_up(file, Damage { start, end: end.max(start), ..damage });
            }
        }
    }

    /// Gives what is wrong in a packet header; refuses the packet when it is not the one that
    /// was listed there.
    fn note_faults(
        &mut self,
        file: usize,
        data: &DataFile,
        packet: Packet,
        size: u64,
    ) -> Result<Packet, Damage> {
        let properties = &packet.properties;
        let Some(faults) = &properties.faults else { return Ok(packet) };
        if properties.total_bits / 8 != size {
            return Err(faults.refusal(properties.offset, data.source.len()));
        }
        let same = faults.uuid.filter(|uuid| Some(uuid.found) == data.other_uuid);
        for damage in faults.damage(properties.offset) {
            let damage = match same.filter(|_| damage.kind == DamageKind::OtherUuid) {
                None => damage,
                Some(_) if self.other_uuid.replace(file) == Some(file) => continue,
                Some(uuid) => damage_of_stream(properties.offset, uuid),
            };
            let damage = Damage { after: self.last, before: properties.beginning, ..damage };
            self.pending.push_back(Item::Damage(file, damage));
        }
        Ok(packet)
    }

    /// Reads the header of the packet that was skipped last: its counters tell what was lost
    /// until the next one.
    fn read_skipped(&mut self) {
        let Some((file, packet)) = self.skipped.take() else { return };
        let Some(data) = self.stream.files.get(file).cloned() else { return };
        let Some(entry) = data.packets.get(packet) else { return };
        let read = self.read_head(file, entry.offset);
        self.previous = read.ok().map(|packet| packet.properties);
    }

    /// Reads the header and the context of the packet at an offset of a file.
    fn read_head(&mut self, file: usize, offset: u64) -> Result<Packet, Damage> {
        self.look_at(file);
        let Some(data) = self.stream.files.get(file) else { return Err(no_file(offset)) };
        let (source, trace) = (data.source.as_ref(), self.stream.trace.as_ref());
        let trace = (trace, Some(self.stream.class));
        read_packet(&mut self.window, source, offset, trace, &mut self.state)
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

    fn begin_packet(&mut self, file: usize, mut packet: Packet) {
        let Some(data) = self.stream.files.get(file).cloned() else { return };
        let properties = &mut packet.properties;
        let size = data.sizes.get(&properties.offset).copied();
        if let Some(size) = size {
            let there = size.saturating_mul(8);
            properties.available_bits = properties.available_bits.min(there);
        }
        if properties.available_bits < properties.events_at {
            let message = "packet cut: another one begins in its header";
            let end = properties.offset + size.unwrap_or(0);
            let damage = Damage::new(DamageKind::PacketCut, properties.offset, end, message);
            return self.give_up(file, damage);
        }
        let beginning = data.trust.beginning_of(properties);
        if let (Some(beginning), Some(last)) = (beginning, self.last) {
            if beginning < last {
                let message = format!(
                    "packet that begins at clock value {beginning}, before the {last} of the \
                     last event record"
                );
                let end = (properties.offset + properties.total_bits / 8).min(data.source.len());
                let kind = DamageKind::TimeGoesBack;
                let damage = Damage::new(kind, properties.offset, end, message);
                return self.give_up(file, damage);
            }
        }
        let end = data.trust.end_of(properties);
        let limit = end.or_else(|| self.beginning_of(self.packets.start)).unwrap_or(u64::MAX);
        // A wrong time of one record must not hide the packets behind it: without a beginning
        // to compare with, a packet starts anew.
        let floor = beginning.unwrap_or(0);
        let found = losses(self.previous.as_ref(), properties);
        let gap = std::mem::take(&mut self.gap);
        let counted = found.into_iter().filter(|lost| !(gap && lost.kind == LostKind::Packets));
        let counted = counted.filter_map(|lost| self.selection.part_of(&self.stream, lost));
        self.pending.extend(counted.map(Item::Lost));
        self.previous = Some(properties.clone());
        let position = properties.events_at;
        let packet = Arc::new(packet);
        self.place = Some(Place { packet, file, position, limit, floor, held: None });
    }

    /// The beginning of the packet at an index, when it can be believed.
    fn beginning_of(&self, index: usize) -> Option<u64> {
        let (file, packet) = self.stream.packets.get(index)?;
        let file = self.stream.files.get(file)?;
        file.packets.beginning(packet).filter(|_| file.trust.beginning)
    }

    /// Reads a window at `place` and gives its records, or what is wrong there.
    fn read_window(&mut self, mut place: Place) {
        let properties = &place.packet.properties;
        if place.position >= properties.available_bits {
            return self.end_packet(place);
        }
        let boundary = u64::from(MAX_ALIGNMENT) / 8;
        let base = place.position / 8 / boundary * boundary;
        let left = properties.available_bits.div_ceil(8) - base;
        let mut size = (place.position / 8 - base + WINDOW).min(left);
        let Buffers { mut data, mut records } = self.stream.pool.take();
        let clock = self.state.clock;
        loop {
            self.passed = self.passed.saturating_add(size);
            data = match self.read_bytes(&place, base, size, data) {
                Ok(data) => data,
                Err(damage) => {
                    self.release(place.held.take());
                    return self.give_up(place.file, damage);
                }
            };
            records.clear();
            self.state.clock = clock;
            let selection = Arc::clone(&self.selection);
            let scan = self.scan(&place, base, &data, records, &selection);
            let whole = size == left;
            match (&scan.end, scan.progress, whole) {
                (ScanEnd::Partial, false, false) if size < MAX_RECORD => {
                    size = size.saturating_mul(4).min(left).min(MAX_RECORD);
                    records = scan.records;
                }
                _ => return self.finish(place, Read { base, data, clock, whole }, scan),
            }
        }
    }

    fn read_bytes(
        &mut self,
        place: &Place,
        base: u64,
        size: u64,
        mut buffer: Vec<u8>,
    ) -> Result<Vec<u8>, Damage> {
        let PacketProperties { offset, total_bits, .. } = place.packet.properties;
        self.look_at(place.file);
        let Some(file) = self.stream.files.get(place.file) else { return Err(no_file(offset)) };
        let source = file.source.as_ref();
        if total_bits / 8 > SMALL_PACKET {
            return read_exactly(source, offset + base, size as usize, buffer);
        }
        buffer.clear();
        buffer.extend_from_slice(self.window.bytes(source, offset + base, size as usize)?);
        Ok(buffer)
    }

    fn scan(
        &mut self,
        place: &Place,
        base: u64,
        data: &[u8],
        records: Vec<Record>,
        selection: &Selection,
    ) -> Scan {
        let start = place.position - base * 8;
        let content = place.packet.properties.available_bits - base * 8;
        let end = content.min(data.len() as u64 * 8);
        let floor = place.floor;
        let stream = Arc::clone(&self.stream);
        let Some(class) = stream.trace.stream_classes.get(stream.class) else {
            let (progress, position) = (true, end);
            return Scan { records, position, last: floor, progress, end: ScanEnd::Done };
        };
        let window = Window { packet: Some(&place.packet), data, start, end, floor };
        scan((&stream, class), &window, records, &mut self.state, selection)
    }

    /// Gives the records of a window, and notes where to go on.
    fn finish(&mut self, mut place: Place, read: Read, mut scan: Scan) {
        if scan.last > place.limit {
            scan = self.cut_at_limit(&place, &read, scan);
        }
        let failure = self.failure(&place, &read, &scan);
        if let Some(damage) = failure {
            return self.fail(place, read, scan, damage);
        }
        if self.selection.is_everything() {
            self.seen.0 += scan.records.len() as u64;
            self.seen.1 += read.base * 8 + scan.position - place.position;
        }
        let at_end = matches!(scan.end, ScanEnd::Partial) && read.whole;
        let floor = std::mem::replace(&mut place.floor, scan.last);
        place.position = read.base * 8 + scan.position;
        self.last = Some(scan.last);
        self.release(place.held.take());
        let end = scan.position;
        if let Some(batch) = self.batch(&place, read, scan.records) {
            let short = self.trust(&place).is_some_and(|trust| trust.time_bits < u64::BITS);
            if short && place.position < place.packet.properties.available_bits {
                place.held = Some(Held { batch, floor, end });
            } else {
                self.give(batch);
            }
        }
        if at_end {
            self.end_packet(place);
        } else {
            self.place = Some(place);
        }
    }

    fn trust(&self, place: &Place) -> Option<super::evidence_strength::EvidenceStrength> {
        self.stream.files.get(place.file).map(|file| file.trust)
    }

    fn release(&mut self, held: Option<Held>) {
        if let Some(held) = held {
            self.give(held.batch);
        }
    }

    /// Gives out records that are right; what lies between a few of them stays here.
    fn give(&mut self, batch: Batch) {
        let batch = batch.thinned().unwrap_or(batch);
        self.pending.push_back(Item::Batch(batch));
    }

    fn batch(&mut self, place: &Place, read: Read, records: Vec<Record>) -> Option<Batch> {
        let Read { base, data, .. } = read;
        if records.is_empty() {
            self.stream.pool.give(Buffers { data, records });
            return None;
        }
        let stream = Arc::clone(&self.stream);
        let selection = Arc::clone(&self.selection);
        let packet = Arc::clone(&place.packet);
        let buffers = Buffers { data, records };
        Some(Batch::of_window(stream, selection, (packet, base), place.file, buffers))
    }

    /// Whether a packet ends before its content: then a part of a record at its end is no
    /// wonder.
    fn is_cut(&self, place: &Place) -> bool {
        let properties = &place.packet.properties;
        let sized = self.trust(place).is_some_and(|trust| trust.sized);
        !sized || properties.available_bits < properties.content_bits
    }

    /// Whether a packet is cut by the end of its file and by nothing else.
    fn is_cut_by_file(&self, place: &Place) -> bool {
        let files = &self.stream.files;
        let offset = place.packet.properties.offset;
        let size = files.get(place.file).and_then(|file| file.sizes.get(&offset));
        self.is_cut(place) && size.is_none()
    }

    /// Whether bytes of a packet are missing somewhere before its end.
    fn is_spliced(&self, place: &Place) -> bool {
        let file = self.stream.files.get(place.file);
        let offset = place.packet.properties.offset;
        let size = file.and_then(|file| file.sizes.get(&offset).copied());
        size.is_some_and(|size| size < place.packet.properties.content_bits.div_ceil(8))
    }

    /// What is wrong at the end of a scan, if anything.
    fn failure(&self, place: &Place, read: &Read, scan: &Scan) -> Option<Damage> {
        let properties = &place.packet.properties;
        let start = properties.offset + read.base;
        let end = properties.offset + properties.available_bits.div_ceil(8);
        let position = read.base * 8 + scan.position;
        let at_end = position >= properties.available_bits;
        match &scan.end {
            ScanEnd::Partial if read.whole && self.is_spliced(place) => self.cut(place, position),
            ScanEnd::Done if at_end && self.is_spliced(place) => self.cut(place, position),
            ScanEnd::Failed { start: at, kind, message } => {
                Some(Damage::new(*kind, start + at / 8, end, message.clone()))
            }
            ScanEnd::Partial if read.whole && self.is_cut_by_file(place) => None,
            ScanEnd::Partial if read.whole || !scan.progress => {
                let start = start + scan.position / 8;
                Some(partial(properties, start, end))
            }
            _ => None,
        }
    }

    /// Ends a packet in which nothing was wrong but, perhaps, its size.
    fn end_packet(&mut self, mut place: Place) {
        self.release(place.held.take());
        let file = self.stream.files.get(place.file);
        if let Some(damage) = self.cut(&place, place.position) {
            if !file.is_some_and(|file| file.is_being_written(&damage)) {
                self.push_damage(&place, damage);
            }
        }
    }

    /// What is missing of a packet behind a bit offset, if anything.
    fn cut(&self, place: &Place, position: u64) -> Option<Damage> {
        let file = self.stream.files.get(place.file)?;
        let properties = &place.packet.properties;
        let corrected = file.sizes.get(&properties.offset).copied();
        let rest = file.source.len() - properties.offset;
        let there = corrected.unwrap_or(rest);
        let is_cut = properties.total_bits / 8 > there;
        let is_partial = position < properties.available_bits;
        if !is_cut && !is_partial {
            return None;
        }
        let content = properties.content_bits.div_ceil(8);
        let size = properties.total_bits / 8;
        let message = match (corrected, content > there) {
            _ if !is_cut => "data stream cut: its last event record is not complete".to_owned(),
            (Some(_), _) => {
                format!("packet cut: it has {size} bytes, the next one begins after {there}")
            }
            (None, true) => format!(
                "packet cut: its content has {content} bytes, the file holds {there} of them"
            ),
            (None, false) => {
                format!("packet cut: it has {size} bytes, the file holds {there} of them")
            }
        };
        let start = properties.offset + position.div_ceil(8);
        let end = (properties.offset + there).max(start);
        let missing = properties.content_bits.saturating_sub(position);
        let records = if missing == 0 { Some(0) } else { estimate(self.seen, missing) };
        Some(Damage { records, ..Damage::new(DamageKind::PacketCut, start, end, message) })
    }

    fn push_damage(&mut self, place: &Place, damage: Damage) {
        let before = Some(place.limit).filter(|&limit| limit != u64::MAX);
        let damage = Damage { after: self.last, before, ..damage };
        self.pending.push_back(Item::Damage(place.file, damage));
    }

    /// Cuts a scan at the first record that lies after the end of the packet.
    fn cut_at_limit(&mut self, place: &Place, read: &Read, scan: Scan) -> Scan {
        let all = self.all_records(place, read, scan.position);
        let count = all.partition_point(|record| record.cycles <= place.limit);
        let Some(first) = all.get(count).copied() else { return scan };
        let last = all.get(..count).and_then(<[Record]>::last);
        let last = last.map_or(place.floor, |record| record.cycles);
        let mut records = scan.records;
        records.retain(|record| record.start < first.start);
        let position = u64::from(first.start);
        let message = format!(
            "event record at clock value {}, after the end of its packet at {}",
            first.cycles, place.limit
        );
        let end = ScanEnd::Failed { start: position, kind: DamageKind::TimePastPacket, message };
        Scan { records, position, last, progress: count > 0, end }
    }

    /// All records of a window up to a bit offset, wanted or not.
    fn all_records(&mut self, place: &Place, read: &Read, until: u64) -> Vec<Record> {
        let clock = std::mem::replace(&mut self.state.clock, read.clock);
        let everything = Selection { check: self.selection.check, ..Selection::default() };
        let mut all = Vec::new();
        let mut at = Place { packet: Arc::clone(&place.packet), held: None, ..*place };
        loop {
            let scan = self.scan(&at, read.base, &read.data, Vec::new(), &everything);
            all.extend(scan.records.into_iter().filter(|record| u64::from(record.start) < until));
            at.position = read.base * 8 + scan.position;
            at.floor = scan.last;
            if scan.end != ScanEnd::Done || !scan.progress || scan.position >= until {
                break;
            }
        }
        self.state.clock = clock;
        all
    }

    /// Ends a packet at a record that makes no sense, and leaves out those before it that
    /// may begin at wrong places already.
    fn fail(&mut self, mut place: Place, read: Read, scan: Scan, damage: Damage) {
        let all = self.all_records(&place, &read, scan.position);
        let stream = Arc::clone(&self.stream);
        let mut held = place.held.take();
        let mut left_out = all.len() as u64;
        let mut records = scan.records;
        let mut start = damage.start;
        let mut last = None;
        if let Some(trust) = self.trust(&place) {
            let mut doubt = RecordEvidence::new(&stream, trust, &place.packet.slots);
            let is_spliced = self.is_spliced(&place);
            let certain = doubt.certain(&read.data, &all, place.floor, scan.position);
            let certain = certain.min(doubt.timed(&read.data, &all, place.floor, is_spliced));
            let base = place.packet.properties.offset + read.base;
            if let Some(first) = all.get(certain) {
                records.retain(|record| record.start < first.start);
                start = base + u64::from(first.start) / 8;
            }
            left_out -= certain as u64;
            last = certain.checked_sub(1).and_then(|index| all.get(index));
            let last = last.map_or(place.floor, |record| record.cycles);
            self.last = Some(self.last.map_or(last, |before| before.max(last)));
            if certain == 0 && !doubt.is_settled() {
                held = held.and_then(|held| {
                    let (held, dropped, first) = doubt_held(&mut doubt, held);
                    left_out += dropped;
                    start = first.unwrap_or(start);
                    held
                });
            }
        }
        self.state.clock = last.map_or(self.state.clock, |record| record.cycles);
        self.release(held);
        if let Some(batch) = self.batch(&place, read, records) {
            self.give(batch);
        }
        let mut message = damage.message;
        if left_out > 0 {
            let records = if left_out == 1 { "record" } else { "records" };
            message = format!(
                "{message} (at byte {}); left out with it: {left_out} {records} in front of it \
                 that may be misread too",
                damage.start
            );
        }
        let bits = (damage.end.saturating_sub(start)) * 8;
        let records = match damage.records {
            Some(missing) => Some(missing.saturating_add(left_out)),
            None => estimate(self.seen, bits).or((left_out > 0).then_some(left_out)),
        };
        self.push_damage(&place, Damage { start, message, records, ..damage });
    }
}

/// Leaves out the records of a held window that are in doubt: what remains, how many are
/// left out, and the byte offset of the first of these.
fn doubt_held(doubt: &mut RecordEvidence<'_>, held: Held) -> (Option<Held>, u64, Option<u64>) {
    let Held { mut batch, floor, end } = held;
    let certain = doubt.certain(&batch.data, &batch.records, floor, end);
    let first = batch.records.get(certain).map(|record| batch.file_offset(record));
    let dropped = (batch.records.len() - certain) as u64;
    batch.truncate(certain);
    let batch = (certain > 0).then_some(Held { batch, floor, end });
    (batch, dropped, first)
}

/// Whether a packet without records has been replaced since the file was opened: a tracer
/// writes where it stood.
fn was_replaced(listed: &PacketList, index: usize, read: &Result<Packet, Damage>) -> bool {
    let Some(content) = listed.content_without_records(index) else { return false };
    match read {
        Ok(packet) => packet.properties.content_bits != content,
        Err(damage) => damage.kind == DamageKind::ReadFailed,
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

fn partial(properties: &PacketProperties, start: u64, end: u64) -> Damage {
    let message = format!(
        "event record runs past the end of its packet's content, {} bits from byte {}",
        properties.available_bits.min(properties.content_bits),
        properties.offset
    );
    Damage::new(DamageKind::RecordPastContent, start, end, message)
}
