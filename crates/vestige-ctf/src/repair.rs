//! Writing what is left of a damaged data stream as valid CTF.
//!
//! Intact packets are copied byte for byte; where only a mark in its header is wrong, that is
//! written anew. A damaged packet is cut behind its last good
//! record: its header and context are copied, and the fields in it that tell its sizes and
//! its end are written anew. What cannot be kept is left out.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use crate::bits::{write_unsigned, BitReader};
use crate::model::{FieldClass, IntegerClass, Role};
use crate::record::{skip, DecodeError, State};
use crate::source::ReadAt;
use crate::stream::{
    Batch, Damage, DataFile, DataStream, Item, Packet, Part, Record, Selection, StreamReader, MAGIC,
};

/// Bytes that are copied at once.
const WINDOW: u64 = 1024 * 1024;
/// Packets are padded to whole words, as most tracers do.
const PACKET_ALIGNMENT: u64 = 64;

/// What is kept of one packet.
struct Kept {
    packet: Arc<Packet>,
    /// Bits of it behind which nothing is kept.
    end: u64,
    /// Clock value of the last record.
    last: u64,
    records: u64,
}

/// What is to be written of a data stream.
pub struct Repair {
    stream: Arc<DataStream>,
    /// By file and offset.
    kept: BTreeMap<(usize, u64), Kept>,
    damage: Vec<(usize, Damage)>,
    reader: StreamReader,
}

/// How much was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// Packets copied as they were.
    pub intact: u64,
    /// Packets copied with a header put right.
    pub mended: u64,
    /// Packets cut behind their last good record.
    pub cut: u64,
    /// Packets left out.
    pub dropped: u64,
    /// Records in the packets that were cut.
    pub records: u64,
    /// Bytes written.
    pub bytes: u64,
}

impl Repair {
    /// A repair of a data stream, which has to be read first.
    #[must_use]
    pub fn new(stream: Arc<DataStream>) -> Self {
        let everything = Selection { check: true, ..Selection::default() };
        let reader = StreamReader::new(Arc::clone(&stream), everything);
        Self { stream, kept: BTreeMap::new(), damage: Vec::new(), reader }
    }

    /// Reads on; returns how many bytes of the data stream that was, `None` at its end.
    pub fn read(&mut self) -> Option<u64> {
        match self.reader.next_item()? {
            Item::Batch(batch) => {
                self.note(&batch);
                Some(batch.data.len() as u64)
            }
            Item::Damage(file, damage) => {
                self.damage.push((file, damage));
                Some(0)
            }
            Item::Lost(_) | Item::Boundary(_) | Item::Nothing => Some(0),
        }
    }

    fn note(&mut self, batch: &Batch) {
        let mut start = 0;
        for (index, part) in (0..).zip(batch.parts()) {
            let end = batch.end_of_part(index);
            self.note_part(batch, part, batch.records.get(start..end).unwrap_or_default());
            start = end;
        }
    }

    fn note_part(&mut self, batch: &Batch, part: &Part, records: &[Record]) {
        let Some(last) = records.last() else { return };
        let mut state = part.state();
        let mut reader = batch.body_reader(last, &mut state);
        for scope in batch.body_scopes(last).into_iter().flatten() {
            if skip(scope, &mut reader, &mut state).is_err() {
                return;
            }
        }
        let end = part.bit_in_packet(reader.position());
        let packet = &part.packet;
        let key = (batch.file, packet.properties.offset);
        let kept = self.kept.entry(key).or_insert_with(|| Kept {
            packet: Arc::clone(packet),
            end,
            last: 0,
            records: 0,
        });
        kept.end = end;
        kept.last = last.cycles;
        kept.records += records.len() as u64;
    }

    /// Writes what is left of a file; `progress` is told how many bytes were written.
    ///
    /// # Errors
    ///
    /// When the file cannot be read any more or `output` cannot be written.
    pub fn write(
        &self,
        file: usize,
        output: &mut dyn Write,
        progress: &mut dyn FnMut(u64),
    ) -> io::Result<Written> {
        let mut written = Written::default();
        let Some(data) = self.stream.files.get(file) else { return Ok(written) };
        for entry in data.packets.iter() {
            let present = data.present(&entry);
            let end = entry.offset + present;
            let touches = |damage: &Damage| {
                damage.start == entry.offset || damage.start < end && damage.end > entry.offset
            };
            let kept = self.kept.get(&(file, entry.offset));
            let faults = kept.and_then(|kept| kept.packet.properties.faults.as_deref());
            let is_fault = |damage: &Damage| {
                let mut wrong = faults.into_iter().flat_map(|faults| faults.damage(entry.offset));
                wrong.any(|fault| (fault.start, fault.end) == (damage.start, damage.end))
            };
            let mut mine = self.damage.iter().filter(|(at, _)| *at == file);
            let is_damaged = present < entry.size
                || mine.any(|(_, damage)| touches(damage) && !is_fault(damage));
            let before = written.bytes;
            if let (Some(kept), Some(_), false) = (kept, faults, is_damaged) {
                let head = self.mended_head(kept);
                output.write_all(&head)?;
                let rest = entry.offset + head.len() as u64;
                copy(data.source.as_ref(), rest, end, output)?;
                written.mended += 1;
                written.bytes += end - entry.offset;
            } else if !is_damaged {
                copy(data.source.as_ref(), entry.offset, end, output)?;
                written.intact += 1;
                written.bytes += end - entry.offset;
            } else if let Some(bytes) = self.cut(file, data, entry.offset)? {
                output.write_all(&bytes.head)?;
                copy(data.source.as_ref(), bytes.copied.0, bytes.copied.1, output)?;
                output.write_all(&bytes.tail)?;
                written.cut += 1;
                written.records += bytes.records;
                written.bytes += bytes.total;
            } else {
                written.dropped += 1;
            }
            progress(written.bytes - before);
        }
        Ok(written)
    }

    /// Header and context of a packet, with the marks that it must have.
    fn mended_head(&self, kept: &Kept) -> Vec<u8> {
        let mut head = kept.packet.head.clone();
        let fields = Fields::of(self.stream.as_ref(), &kept.packet);
        fields.patch(&mut head, Role::Magic, MAGIC);
        let class = self.stream.trace.stream_classes.get(self.stream.class);
        fields.patch(&mut head, Role::StreamClassId, class.map_or(0, |class| class.id));
        let faults = kept.packet.properties.faults.as_deref();
        let at = faults.and_then(|faults| faults.uuid).map(|uuid| uuid.at as usize);
        if let (Some(at), Some(uuid)) = (at, self.stream.trace.uuid) {
            if let Some(place) = head.get_mut(at..at + uuid.len()) {
                place.copy_from_slice(&uuid);
            }
        }
        head
    }

    /// A packet cut behind its last good record, or `None` when none can be kept.
    fn cut(&self, file: usize, data: &DataFile, offset: u64) -> io::Result<Option<CutPacket>> {
        let Some(kept) = self.kept.get(&(file, offset)) else { return Ok(None) };
        let properties = &kept.packet.properties;
        let fields = Fields::of(self.stream.as_ref(), &kept.packet);
        let (mut end, mut is_whole) = (kept.end, true);
        let total = match (fields.find(Role::PacketSize), fields.find(Role::ContentSize)) {
            (None, None) => end.next_multiple_of(8),
            (Some(_), Some(_)) => end.next_multiple_of(PACKET_ALIGNMENT),
            _ => {
                // The content is all of the packet: it has to end with a byte.
                is_whole = end % 8 == 0;
                end
            }
        };
        if !is_whole || fields.is_variable {
            return Ok(None);
        }
        let mut head = self.mended_head(kept);
        fields.patch(&mut head, Role::PacketSize, total);
        fields.patch(&mut head, Role::ContentSize, end);
        if properties.end.is_some() {
            fields.patch(&mut head, Role::PacketEnd, kept.last);
        }
        // The last byte may hold bits of what is left out.
        let head_bytes = head.len() as u64;
        let whole = (end / 8).max(head_bytes);
        let mut tail = Vec::new();
        if end > whole * 8 {
            let mut last = [0];
            data.source.read_at(offset + whole, &mut last)?;
            tail.extend(last);
        }
        end = whole * 8 + tail.len() as u64 * 8;
        let missing = total.saturating_sub(end) / 8;
        tail.resize(tail.len() + missing as usize, 0);
        Ok(Some(CutPacket {
            head,
            copied: (offset + head_bytes, offset + whole),
            total: whole + tail.len() as u64,
            tail,
            records: kept.records,
        }))
    }
}

/// The pieces of a packet that is cut.
struct CutPacket {
    head: Vec<u8>,
    /// The bytes of the file that follow.
    copied: (u64, u64),
    tail: Vec<u8>,
    total: u64,
    records: u64,
}

/// Where the integers with a role stand in the header and context of a packet.
struct Fields {
    found: Vec<(Role, u64, IntegerClass)>,
    /// Whether one of them has no size of its own, so that it cannot be written anew.
    is_variable: bool,
}

impl Fields {
    fn of(stream: &DataStream, packet: &Packet) -> Self {
        let mut fields = Self { found: Vec::new(), is_variable: false };
        let trace = &stream.trace;
        let mut state = State::new(trace.slot_count);
        let bits = packet.head.len() as u64 * 8;
        let mut reader = BitReader::new(&packet.head, 0, bits);
        let class = trace.stream_classes.get(packet.properties.stream_class);
        let context = class.and_then(|class| class.packet_context.as_ref());
        for scope in [trace.packet_header.as_ref(), context].into_iter().flatten() {
            fields.walk(scope, &mut reader, &mut state);
        }
        fields.is_variable = packet.properties.total_bits != 0
            && [Role::PacketSize, Role::ContentSize, Role::PacketEnd]
                .into_iter()
                .any(|role| state.role(role).is_some() && fields.find(role).is_none());
        fields
    }

    fn walk(&mut self, scope: &FieldClass, reader: &mut BitReader<'_>, state: &mut State) {
        if reader.align(scope.alignment()).is_err() {
            return;
        }
        for member in scope.members() {
            if let Some(integer) = member.class.as_integer() {
                let aligned = reader.align(integer.alignment).is_ok();
                if let (Some(role), true) = (integer.role, aligned) {
                    self.found.push((role, reader.position(), integer.clone()));
                }
            }
            match skip(&member.class, reader, state) {
                // A UUID that is wrong has been stepped over.
                Ok(()) | Err(DecodeError::OtherMetadata) => {}
                Err(_) => return,
            }
        }
    }

    fn find(&self, role: Role) -> Option<&(Role, u64, IntegerClass)> {
        self.found.iter().find(|(found, ..)| *found == role)
    }

    fn patch(&self, head: &mut [u8], role: Role, value: u64) {
        if let Some((_, position, class)) = self.find(role) {
            write_unsigned(head, *position, class.size, class.order, value);
        }
    }
}

fn copy(source: &dyn ReadAt, start: u64, end: u64, output: &mut dyn Write) -> io::Result<()> {
    let mut at = start;
    let mut buffer = vec![0; WINDOW.min(end.saturating_sub(start)) as usize];
    while at < end {
        let size = buffer.len().min((end - at) as usize);
        let Some(window) = buffer.get_mut(..size) else { break };
        let read = source.read_at(at, window)?;
        let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file shrank"));
        };
        output.write_all(bytes)?;
        at += read as u64;
    }
    Ok(())
}
