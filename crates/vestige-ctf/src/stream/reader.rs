//! Reading a data stream packet by packet, window by window.

use std::collections::VecDeque;
use std::sync::Arc;

use super::batch::Batch;
use super::data_stream::DataStream;
use super::lost::{losses, Lost};
use super::packet::{read_exactly, read_packet, Packet, PacketProperties, SharedPacket};
use super::pool::Buffers;
use super::record_place::Record;
use super::scan::{scan, Scan, ScanEnd, Window};
use super::selection::Selection;
use super::MAX_ALIGNMENT;
use crate::error::{CtfError, Result};
use crate::record::State;

/// Bytes of a packet that are read at once.
const WINDOW: u64 = 256 * 1024;
/// Largest event record: bit offsets inside a window are 32 bits wide.
const MAX_RECORD: u64 = 256 * 1024 * 1024;

/// What a data stream yields.
pub enum Item {
    /// Event records.
    Batch(Batch),
    /// A loss that the tracer counted.
    Lost(Lost),
}

/// Where the reader is in a packet.
struct Place {
    packet: SharedPacket,
    file: usize,
    /// Bit offset of the next record, from the start of the packet.
    position: u64,
}

/// Reads the items of a data stream in order.
pub struct StreamReader {
    stream: Arc<DataStream>,
    selection: Arc<Selection>,
    state: State,
    next_packet: usize,
    place: Option<Place>,
    previous: Option<PacketProperties>,
    pending: VecDeque<Item>,
    problems: VecDeque<(usize, CtfError)>,
    failed: bool,
}

impl StreamReader {
    /// A reader at the beginning of a data stream.
    #[must_use]
    pub fn new(stream: Arc<DataStream>, selection: Selection) -> Self {
        let problems = stream.files.iter().enumerate();
        let problems = problems
            .filter_map(|(index, file)| file.problem.clone().map(|problem| (index, problem)))
            .collect();
        Self {
            state: State::new(stream.trace.slot_count),
            stream,
            selection: Arc::new(selection),
            next_packet: 0,
            place: None,
            previous: None,
            pending: VecDeque::new(),
            problems,
            failed: false,
        }
    }

    /// The next item, or `None` at the end of the data stream. After an error, which comes
    /// with the index of its file, the data stream has ended.
    ///
    /// # Errors
    ///
    /// Damage, after everything that stands before it was yielded.
    pub fn next_item(&mut self) -> std::result::Result<Option<Item>, (usize, CtfError)> {
        loop {
            if self.failed {
                return Ok(None);
            }
            if let Some(item) = self.pending.pop_front() {
                return Ok(Some(item));
            }
            if let Some(place) = self.place.take() {
                let file = place.file;
                match self.read_window(place) {
                    Ok(Some(batch)) => return Ok(Some(Item::Batch(batch))),
                    Ok(None) => continue,
                    Err(error) => return Err(self.fail(file, error)),
                }
            }
            match self.stream.packets.get(self.next_packet).copied() {
                Some(at) => self.enter_packet(at)?,
                None => match self.problems.pop_front() {
                    Some((file, problem)) => return Err(self.fail(file, problem)),
                    None => return Ok(None),
                },
            }
        }
    }

    fn fail(&mut self, file: usize, error: CtfError) -> (usize, CtfError) {
        self.failed = true;
        (file, error)
    }

    fn enter_packet(
        &mut self,
        (file, packet): (usize, usize),
    ) -> std::result::Result<(), (usize, CtfError)> {
        self.next_packet += 1;
        let Some(data) = self.stream.files.get(file).cloned() else { return Ok(()) };
        let Some(entry) = data.packets.get(packet) else { return Ok(()) };
        if !self.selection.accepts_packet(&self.stream, entry) {
            self.previous = None;
            return Ok(());
        }
        let packet =
            read_packet(data.source.as_ref(), entry.offset, &self.stream.trace, &mut self.state)
                .map_err(|error| self.fail(file, error))?;
        let properties = &packet.properties;
        let found = losses(self.previous.as_ref(), properties);
        self.pending.extend(found.into_iter().map(Item::Lost));
        self.previous = Some(properties.clone());
        let position = properties.events_at;
        self.place = Some(Place { packet: Arc::new(packet), file, position });
        Ok(())
    }

    /// Reads a window at `place` and the records in it; `None` when it has no wanted one.
    fn read_window(&mut self, place: Place) -> Result<Option<Batch>> {
        let properties = &place.packet.properties;
        if place.position >= properties.available_bits {
            return check_cut(properties).map(|()| None);
        }
        let boundary = u64::from(MAX_ALIGNMENT) / 8;
        let base = place.position / 8 / boundary * boundary;
        let left = properties.available_bits.div_ceil(8) - base;
        let mut size = (place.position / 8 - base + WINDOW).min(left);
        let Buffers { mut data, mut records } = self.stream.pool.take();
        loop {
            data = self.read_bytes(&place, base, size, data)?;
            records.clear();
            let scan = self.scan(&place, base, &data, records);
            let whole = size == left;
            match (&scan.end, scan.progress, whole) {
                (ScanEnd::Partial, false, false) if size < MAX_RECORD => {
                    size = size.saturating_mul(4).min(left).min(MAX_RECORD);
                    records = scan.records;
                }
                _ => return Ok(self.finish(place, base, data, scan, whole)),
            }
        }
    }

    fn read_bytes(&self, place: &Place, base: u64, size: u64, buffer: Vec<u8>) -> Result<Vec<u8>> {
        let offset = place.packet.properties.offset + base;
        match self.stream.files.get(place.file) {
            Some(file) => read_exactly(file.source.as_ref(), offset, size as usize, buffer),
            None => Ok(Vec::new()),
        }
    }

    fn scan(&mut self, place: &Place, base: u64, data: &[u8], records: Vec<Record>) -> Scan {
        let start = place.position - base * 8;
        let content = place.packet.properties.available_bits - base * 8;
        let end = content.min(data.len() as u64 * 8);
        let stream = Arc::clone(&self.stream);
        let Some(class) = stream.trace.stream_classes.get(stream.class) else {
            return Scan { records, position: end, progress: true, end: ScanEnd::Done };
        };
        let window = Window { data, start, end };
        scan(&stream, class, &window, records, &mut self.state, &self.selection)
    }

    /// Notes where to go on and hands out what was found. An error waits in `problems`, so
    /// that the records before it come first.
    fn finish(
        &mut self,
        place: Place,
        base: u64,
        data: Vec<u8>,
        scan: Scan,
        whole: bool,
    ) -> Option<Batch> {
        let position = base * 8 + scan.position;
        let at = place.packet.properties.offset + position / 8;
        let error = match scan.end {
            ScanEnd::Failed { start, message } => {
                let at = place.packet.properties.offset + base + start / 8;
                Some(CtfError::record(at, message))
            }
            ScanEnd::Partial if whole || !scan.progress => Some(partial(&place.packet, at)),
            _ => None,
        };
        let Place { packet, file, .. } = place;
        match error {
            Some(error) => {
                self.next_packet = usize::MAX;
                self.problems.push_front((file, error));
            }
            None => self.place = Some(Place { packet: Arc::clone(&packet), file, position }),
        }
        if scan.records.is_empty() {
            self.stream.pool.give(Buffers { data, records: scan.records });
            return None;
        }
        let stream = Arc::clone(&self.stream);
        let selection = Arc::clone(&self.selection);
        Some(Batch { stream, packet, file, base, data, records: scan.records, selection })
    }
}

fn check_cut(packet: &PacketProperties) -> Result<()> {
    if packet.available_bits < packet.content_bits {
        return Err(cut(packet));
    }
    Ok(())
}

fn cut(packet: &PacketProperties) -> CtfError {
    let message = format!(
        "packet cut: its content has {} bytes, the file holds {} of them",
        packet.content_bits.div_ceil(8),
        packet.available_bits / 8
    );
    CtfError::packet(packet.offset, message)
}

fn partial(packet: &Packet, at: u64) -> CtfError {
    let properties = &packet.properties;
    if properties.available_bits < properties.content_bits {
        return cut(properties);
    }
    let message = format!(
        "event record runs past the end of its packet's content, {} bits from byte {}",
        properties.content_bits, properties.offset
    );
    CtfError::record(at, message)
}
